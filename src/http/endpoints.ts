/** The addresses of a tenant's service. */
export interface Endpoints {
  /** `https://host`, the only origin that gets the access token. */
  readonly origin: string
  /** The path under which a proxy serves the API on this host; usually empty. */
  readonly mount: string
  /** `/connector/<api>/api/v1`. */
  readonly prefix: string
  readonly tokenUrl: string
  readonly apiName: string
  /** `source-protime/<version> (<company>)`, by which the vendor recognizes integrations. */
  readonly userAgent: string
}

/** The settings from which the addresses are derived. */
export interface EndpointSettings {
  readonly baseUrl: string
  readonly authUrl: string
  readonly apiName: string
  readonly company: string | undefined
  readonly version: string
}

/** Derives the endpoints of a tenant from its settings. */
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

/** The parameters of a list, or of the first request of a delta. */
export interface Query {
  /** The path below the API prefix, for example `/people`. */
  readonly path: string
  /** Conditions that are joined with `and`: see `dateRange`. */
  readonly filter?: readonly string[]
  /** Pairs of a collection and the name of a reference. */
  readonly references?: readonly (readonly [collection: string, name: string])[]
  /** True starts a delta. */
  readonly delta?: boolean
}

/** The filter for a range of dates (YYYY-MM-DD), both inclusive; without `until` the range has no end. */
export function dateRange(from: string, until?: string): readonly string[] {
  return [`date ge '${from}'`, ...(until === undefined ? [] : [`date le '${until}'`])]
}

/** The link that begins a list or a delta, in the same form as the service's own links. */
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

/** The parameter that requests external references: pairs of a collection and a name. */
export function referencesParameter(
  references: readonly (readonly [collection: string, name: string])[],
): string {
  const pairs = references.map(([collection, name]) => `(${collection},${encode(name)})`)
  return `externalReferences=${pairs.join('')}`
}

/**
 * Encodes the segments of a path so that decoding once restores them. Segments of dots only are encoded, too, because
 * a URL parser would resolve them.
 */
export function pathOf(segments: readonly string[]): string {
  return segments
    .map(
      (segment) =>
        `/${/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%2E') : encode(segment)}`,
    )
    .join('')
}

/** The full URL of a resource, from the unencoded segments of its path. */
export function resourceUrl(
  segments: readonly string[],
  { origin, mount, prefix }: Endpoints,
): string {
  return `${origin}${mount}${prefix}${pathOf(segments)}`
}

/** Percent-encodes a text; lone surrogates become the replacement character. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
}
