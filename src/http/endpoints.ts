import { ConnectorError } from '../ground/errors.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'

/** The addresses of a tenant's service. Its links are below them. */
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

/** What a check says of a server that responds with something other than JSON. */
export function notTheApi({ origin, mount }: Endpoints): IdentifiedMessage {
  return warningOf(
    'check-failed',
    `The server at ${origin}${mount} is not the API: its responses are not JSON. Check the tenant, the environment and its addresses.`,
  )
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

/** The parameters of the service's links whose values are secret or opaque. */
export const LINK_TOKENS = ['deltaToken', 'continuationToken'] as const

/** The longest URL that the service accepts; it rejects longer ones with 414. */
export const MAX_URL_LENGTH = 4096

/** Matches a path and a query that a URL parser would not change: no dots in the path, nothing to encode. */
const PLAIN = /^[\w/-]+(?:\?[\w.~!$&()*+,;=:@/?%-]+)?$/

/** Characters that must be encoded in a path or a query; the service's links contain spaces and quotes. */
const ILLEGAL = /[\s"#'<>\\^`{|}]|[^\x20-\x7e]/gu

/** How a link is resolved. */
export interface LinkContext {
  /** The URL that a redirect is relative to. Links in bodies are relative to the origin. */
  readonly from?: string | undefined
  /** A link that the connector created: the resolved link must stay in its collection. */
  readonly of?: string | undefined
}

/**
 * Resolves a link, of the service or created by the connector, to an absolute URL.
 *
 * Accepts relative and absolute links. Characters that are illegal in a URL are encoded; nothing else is changed,
 * because tokens in links are opaque. Throws if a link leaves the tenant's origin or the API prefix, because the
 * access token must not be sent elsewhere, or if it leaves its collection, because other records would get the schema
 * and the rules of this one.
 */
export function resolveLink(
  link: string,
  endpoints: Endpoints,
  { from = endpoints.origin, of }: LinkContext = {},
): string {
  const resolved = plainLink(link, endpoints) ?? parsedLink(link, endpoints, from)
  if (of !== undefined) assertSameCollection(resolved, resolveLink(of, endpoints), endpoints)
  return resolved
}

/** Pages of a list keep its path; its changes may have `delta` before or after it. */
function assertSameCollection(link: string, of: string, endpoints: Endpoints): void {
  if (withoutQuery(link) === withoutQuery(of)) return
  const own = collectionPath(of, endpoints)
  const path = collectionPath(link, endpoints)
  if (path === own || path === `delta/${own}` || path === `${own}/delta`) return
  throw new ConnectorError(
    'system',
    'link-not-followed',
    `The service sent a link that leads from ${own} to another collection; it is not followed, because its records would be taken for those of ${own}. Tell the operator of the service.`,
  )
}

/** The path below the API, for example `people`, without escapes and in lower case. */
function collectionPath(resolved: string, { origin, mount, prefix }: Endpoints): string {
  const path = withoutQuery(resolved).slice(origin.length + mount.length + prefix.length + 1)
  return unescaped(path).toLowerCase().replace(/\/$/, '')
}

/** Resolves a simple link without a URL parser, which would cost more than the rest of a request. */
function plainLink(link: string, { origin, mount, prefix }: Endpoints): string | undefined {
  const path = link.startsWith(origin) ? link.slice(origin.length) : link
  const isMounted = isBelow(path, mount + prefix)
  if (!PLAIN.test(path) || !(isMounted || isBelow(path, prefix))) return undefined
  const resolved = origin + (isMounted ? path : mount + path)
  return resolved.length > MAX_URL_LENGTH ? undefined : resolved
}

function parsedLink(link: string, endpoints: Endpoints, from: string): string {
  if (/\p{Surrogate}/u.test(link)) throw refused('is not an address')
  const encoded = link.trim().replace(ILLEGAL, encodeURIComponent).replaceAll("'", '%27')
  if (!URL.canParse(encoded, from)) throw refused('is not an address')
  const url = new URL(encoded, from)
  if (url.origin !== endpoints.origin || url.username !== '' || url.password !== '') {
    throw refused('leads to another host')
  }
  const { prefix, mount } = endpoints
  const path = url.pathname
  const mounted = isBelow(path, mount + prefix)
    ? path
    : isBelow(path, prefix)
      ? mount + path
      : undefined
  if (mounted === undefined || hasHiddenStep(path))
    throw refused(`leaves the API, whose path is ${mount}${prefix} by environment.api_name`)
  const resolved = endpoints.origin + mounted + url.search
  if (resolved.length > MAX_URL_LENGTH) {
    throw new ConnectorError(
      'config',
      'request-too-long',
      `A request would have ${resolved.length} characters, and the service accepts at most ${MAX_URL_LENGTH}: request fewer external references.`,
    )
  }
  return resolved
}

/** A URL without its query, which contains tokens, so that it can be logged. */
export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

/**
 * Whether a path has dot segments after decoding, as often as proxies may decode it later, and without the parameters
 * of its segments. Encoded slashes are allowed, because they stay below the prefix and the name of a reference may
 * contain them.
 */
function hasHiddenStep(path: string): boolean {
  // No character needs these bytes, but some servers decode them to a dot.
  if (/%(?:c[01]|u[0-9a-f]{4})/i.test(path)) return true
  let decoded = path
  for (let before = ''; before !== decoded; ) {
    before = decoded
    decoded = unescaped(decoded)
  }
  return decoded.split(/[/\\]/).some((segment) => /^\.{1,2}(?:;|$)/.test(segment))
}

/** Decodes escaped ASCII characters once. */
function unescaped(text: string): string {
  return text.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent)
}

function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(`${prefix}/`)
}

function refused(reason: string): ConnectorError {
  return new ConnectorError(
    'system',
    'link-not-followed',
    `The service sent a link that ${reason}; it is not followed, because the access token must not go there. Tell the operator of the service.`,
  )
}

/**
 * Creates a function that finds out whether a chain of links has a cycle, by Brent's algorithm: it keeps two links,
 * however long the chain is, and finds a cycle after a few rounds.
 */
export function createCircleCheck(first: string): (next: string) => boolean {
  let latest = first
  let held = first
  let steps = 0
  let power = 1
  return (next) => {
    // A link to its own page is found at once.
    if (next === held || next === latest) return true
    latest = next
    if (++steps === power) {
      held = next
      power *= 2
      steps = 0
    }
    return false
  }
}
