/** Where a tenant's service is and what its parts are called. */
export interface Endpoints {
  /** `https://host`, where the bearer token may go and nowhere else. */
  readonly origin: string
  /** Path of the host below which a proxy serves the API; usually empty. */
  readonly mount: string
  /** `/connector/<api>/api/v1`. */
  readonly prefix: string
  readonly tokenUrl: string
  readonly apiName: string
  /** `source-protime/<version> (<company>)`; the vendor tells integrations apart by it. */
  readonly userAgent: string
}

/** What the service's addresses follow from. */
export interface EndpointSettings {
  readonly baseUrl: string
  readonly authUrl: string
  readonly apiName: string
  readonly company: string | undefined
  readonly version: string
}

/** The endpoints of a tenant. */
export function createEndpoints(settings: EndpointSettings): Endpoints {
  const { origin, pathname } = new URL(settings.baseUrl)
  const company = settings.company?.replace(/[^\x20-\x7e]|[()]/g, '').trim()
  return {
    origin,
    mount: pathname.replace(/\/+$/, ''),
    prefix: `/connector/${settings.apiName}/api/v1`,
    tokenUrl: `${settings.authUrl}/connect/token`,
    apiName: settings.apiName,
    userAgent: `source-protime/${settings.version}${company ? ` (${company})` : ''}`,
  }
}

/** The full name of a scope such as `people.read`. */
export function scopeName({ apiName }: Endpoints, scope: string): string {
  return `connector-${apiName}-${scope}`
}

/** What a list, or the start of a delta, asks for. */
export interface Query {
  /** Path below the API prefix, such as `/people`. */
  readonly path: string
  /** Conditions that all hold, see `dateRange`. */
  readonly filter?: readonly string[]
  /** Pairs of collection and reference name. */
  readonly references?: readonly (readonly [collection: string, name: string])[]
  /** True starts a delta. */
  readonly delta?: boolean
}

/** The filter of a range of days (YYYY-MM-DD), both inclusive; without `until` it has no end. */
export function dateRange(from: string, until?: string): readonly string[] {
  return [`date ge '${from}'`, ...(until === undefined ? [] : [`date le '${until}'`])]
}

/** The link that begins a list or a delta, in the form in which the service sends its own. */
export function requestUrl(
  { path, filter, references, delta }: Query,
  { prefix }: Endpoints,
): string {
  const parameters: string[] = []
  if (filter !== undefined && filter.length > 0) {
    parameters.push(`filter=${encode(filter.join(' and '))}`)
  }
  if (references !== undefined && references.length > 0) {
    parameters.push(referencesParameter(references))
  }
  if (delta) parameters.push('delta')
  return `${prefix}${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
}

/** The parameter that names external references: pairs of collection and name. */
export function referencesParameter(
  references: readonly (readonly [collection: string, name: string])[],
): string {
  const pairs = references.map(([collection, name]) => `(${collection},${encode(name)})`)
  return `externalReferences=${pairs.join('')}`
}

/**
 * Segments of a path as text that is decoded once to what they were. Those of dots alone are encoded
 * too, because a parser of URLs would resolve them.
 */
export function pathOf(segments: readonly string[]): string {
  return segments
    .map(
      (segment) =>
        `/${/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%2E') : encode(segment)}`,
    )
    .join('')
}

/** The whole address of a resource, named by the segments of its path as text. */
export function resourceUrl(
  segments: readonly string[],
  { origin, mount, prefix }: Endpoints,
): string {
  return `${origin}${mount}${prefix}${pathOf(segments)}`
}

/** Half a character becomes the character that stands for none. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
}
