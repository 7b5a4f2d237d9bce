import { ConnectorError } from '../ground/errors.ts'
import type { Endpoints } from './endpoints.ts'

/** The parameters of the service's links whose values give access or are opaque. */
export const LINK_TOKENS = ['deltaToken', 'continuationToken'] as const

/** Longest URL the service takes; above it answers 414. */
export const MAX_URL_LENGTH = 4096

/** A path and a query that a URL parser leaves as they are: no dots in the path, nothing to encode. */
const PLAIN = /^[\w/-]+(?:\?[\w.~!$&()*+,;=:@/?%-]+)?$/

/** Characters that no path or query may hold raw; the service's links hold spaces and quotes. */
const ILLEGAL = /[\s"#'<>\\^`{|}]|[^\x20-\x7e]/gu

/** How a link is read. */
export interface LinkContext {
  /** The URL that a redirect is relative to; the links in bodies are relative to the origin. */
  readonly from?: string | undefined
  /** A link of ours: its collection is the one that the link must stay in. */
  readonly of?: string | undefined
}

/**
 * A link of the service, or one of ours, as the absolute URL to request.
 *
 * Relative and absolute links are taken; characters that are illegal in a URL are encoded and
 * nothing else is touched, because a link's tokens are opaque. A link that leaves the tenant's
 * origin or the API prefix is refused: the bearer token goes nowhere else. So is one that leaves its
 * collection: other records would come under the rules of these.
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

/** Its pages keep the path of a list; the changes of it may have one that tells that they are. */
function assertSameCollection(link: string, of: string, endpoints: Endpoints): void {
  const own = collectionPath(of, endpoints)
  const path = collectionPath(link, endpoints)
  if (path === own || path === `delta/${own}` || path === `${own}/delta`) return
  throw new ConnectorError(
    'system',
    'link-not-followed',
    `The service sent a link that leads from ${own} to another collection; it is not followed, because its records would be taken for those of ${own}. Tell the operator of the service.`,
  )
}

/** The path below the API: `people`, however it is written. */
function collectionPath(resolved: string, { origin, mount, prefix }: Endpoints): string {
  const path = withoutQuery(resolved).slice(origin.length + mount.length + prefix.length + 1)
  return unescaped(path).toLowerCase().replace(/\/$/, '')
}

/** A link that needs no parser, which would cost more than all else that a page is asked for with. */
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
  if (mounted === undefined || hasHiddenStep(path)) throw refused('leaves the API')
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

/** The part of a URL that can be logged: without its query, which holds tokens. */
export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

/**
 * Whether a path has dot segments once it is decoded, as often as proxies may do it behind our check, and
 * without the parameters of its segments. Slashes alone stay below the prefix: the name of a reference may
 * hold them.
 */
function hasHiddenStep(path: string): boolean {
  // No character needs such bytes; servers that take them for a dot exist.
  if (/%(?:c[01]|u[0-9a-f]{4})/i.test(path)) return true
  let decoded = path
  for (let before = ''; before !== decoded; ) {
    before = decoded
    decoded = unescaped(decoded)
  }
  return decoded.split(/[/\\]/).some((segment) => /^\.{1,2}(?:;|$)/.test(segment))
}

/** The text with its escaped ASCII characters decoded once. */
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
 * Tells whether a chain of links goes round in a circle, by Brent's algorithm: it holds one link,
 * however long the chain is, and notices a circle after a few rounds.
 */
export function createCircleCheck(first: string): (next: string) => boolean {
  let latest = first
  let held = first
  let steps = 0
  let power = 1
  return (next) => {
    // A link to its own page is noticed at once.
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
