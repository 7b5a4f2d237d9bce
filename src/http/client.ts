import { ConnectorError } from '../protocol/errors.ts'
import type { Mask } from '../protocol/mask.ts'
import type { Endpoints } from './endpoints.ts'
import { createExchanges, type Exchange, type ExchangeCounts, type Trouble } from './exchange.ts'
import { resolveLink } from './links.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { type RetryPolicy, SLOWEST_BODY_MS, tooSlow } from './retry-policy.ts'
import type { ServerClock } from './server-clock.ts'
import { createTokens, type Token } from './token.ts'
import type { Reply, Transport } from './transport.ts'

/** Bodies up to this size arrive whole, so that a connection that breaks costs no duplicate. */
const WHOLE_BYTES = 4 * 1024 * 1024

/** A page's body: complete when it is small, in parts as they arrive when it is large. */
export type Body = { readonly whole: readonly Buffer[] } | { readonly parts: AsyncIterable<Buffer> }

/** What the requests of a process added up to. */
export interface Traffic extends ExchangeCounts {
  bytes: number
}

/** See Exchange. */
export type GetOptions = Pick<Exchange<unknown>, 'signal' | 'isRepeat' | 'onTrouble'>

/** The service as the sync sees it: links in, bodies out. */
export interface Client {
  /**
   * Follows a link of the service or one of ours. Repeats what may pass; throws a HttpError for a
   * status that does not, a ConnectorError otherwise.
   */
  get(link: string, options?: GetOptions): Promise<Body>
  /** Throws a ConnectorError for a link that `get` would never follow. */
  assertFollowable(link: string): void
  /**
   * Asks for a link and lets go of its body after the first bytes. False when they are not JSON: what
   * answers is not the API, such as a sign-in page. Throws as `get` does.
   */
  probe(link: string): Promise<boolean>
  token(): Promise<Token>
  /** Whoever asks again for what arrived damaged counts it among the retries. */
  readonly traffic: Traffic
  /** Why some request waits, of whatever stream or for a token; undefined after a success. */
  readonly trouble: Trouble | undefined
}

export interface ClientSettings {
  readonly endpoints: Endpoints
  readonly clientId: string
  readonly clientSecret: string
  /** See `TokenSettings.collections`. */
  readonly collections: readonly string[] | undefined
  readonly transport: Transport
  readonly limiter: RateLimiter
  readonly clock: ServerClock
  readonly mask: Mask
  readonly signal: AbortSignal
  readonly retryPolicy: RetryPolicy
}

export function createClient(settings: ClientSettings): Client {
  const { endpoints, clock, retryPolicy } = settings
  const traffic: Traffic = { requests: 0, retries: 0, refusals: 0, bytes: 0 }
  const exchanges = createExchanges({ ...settings, counts: traffic })
  const tokens = createTokens({ ...settings, post })
  return {
    traffic,
    get trouble() {
      return exchanges.trouble
    },
    token: () => tokens.get(),
    get: (link, options) => get(link, readBody, options),
    assertFollowable: (link) => void resolveLink(link, endpoints),
    probe: (link) => get(link, beginsJson),
  }

  async function get<T>(link: string, use: Exchange<T>['use'], options?: GetOptions): Promise<T> {
    const headers = {
      'user-agent': endpoints.userAgent,
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
    }
    const url = resolveLink(link, endpoints)
    return exchanges.exchange({ url, call: { method: 'GET', headers }, tokens, use, ...options })
  }

  function post(url: string, form: string): Promise<string> {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': endpoints.userAgent,
      accept: 'application/json',
    }
    return exchanges.exchange({
      url,
      call: { method: 'POST', headers, body: form },
      use: readToken,
    })
  }

  async function readToken(reply: Reply): Promise<string> {
    clock.set(reply.header('date'))
    const body = await readBody(reply)
    if ('whole' in body) return Buffer.concat(body.whole).toString('utf8')
    reply.discard()
    throw new ConnectorError('system', 'The answer of the token endpoint is too large to be one.')
  }

  /** Reads a body whole, or the first part of a large one with the rest to come. */
  async function readBody(reply: Reply): Promise<Body> {
    const parts: Buffer[] = []
    let size = 0
    const until = performance.now() + (retryPolicy.bodyMs ?? SLOWEST_BODY_MS)
    const iterator = reply.body[Symbol.asyncIterator]()
    while (size <= WHOLE_BYTES) {
      const { done, value } = await iterator.next()
      if (done) return { whole: parts }
      parts.push(value)
      size += value.length
      traffic.bytes += value.length
      if (performance.now() > until) {
        reply.discard()
        throw tooSlow()
      }
    }
    return { parts: rest(parts, iterator, reply) }
  }

  async function* rest(parts: Buffer[], iterator: AsyncIterator<Buffer>, reply: Reply) {
    try {
      yield* parts.splice(0)
      for (;;) {
        const { done, value } = await iterator.next()
        if (done) return
        traffic.bytes += value.length
        yield value
      }
    } finally {
      reply.discard()
    }
  }
}

/** Looks at the first character that is not a space, and lets go of the rest. */
async function beginsJson(reply: Reply): Promise<boolean> {
  for await (const part of reply.body) {
    const [first] = part
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, '')
      .trimStart()
    if (first !== undefined) return first === '{' || first === '['
  }
  return false
}
