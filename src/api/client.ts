import { ConnectorError, Refusal } from '../errors.ts'
import type { Mask } from '../mask.ts'
import type { ServiceClock } from './clock.ts'
import type { Limiter } from './limiter.ts'
import { resolveLink } from './links.ts'
import { refusalOf } from './refusal.ts'
import {
  backoffMs,
  isPassing,
  LONGEST_WAIT_MS,
  PATIENCE,
  type Patience,
  retryAfterMs,
  SLOWEST_BODY_MS,
  sleep,
  tooLongToWait,
  tooSlow,
} from './retry.ts'
import type { Service } from './service.ts'
import { createTokens, type Token, type Tokens } from './token.ts'
import type { Call, Reply, Transport } from './transport.ts'

/** Bodies up to this size arrive whole, so that a connection that breaks costs no duplicate. */
const WHOLE_BYTES = 4 * 1024 * 1024
const MAX_REDIRECTS = 3

/** A page's body: complete when it is small, in parts as they arrive when it is large. */
export type Body = { readonly whole: readonly Buffer[] } | { readonly parts: AsyncIterable<Buffer> }

/** What the requests of a process added up to. */
export interface Traffic {
  requests: number
  retries: number
  /** Answers 429, and 503 with a Retry-After. */
  refusals: number
  bytes: number
}

/** The service as the sync sees it: links in, bodies out. */
export interface Client {
  /**
   * Follows a link of the service or one of ours. Repeats what may pass; throws a Refusal for a
   * status that does not, a ConnectorError otherwise.
   */
  get(link: string, onRateLimited?: RateLimited): Promise<Body>
  /** Throws a ConnectorError for a link that `get` would never follow. */
  accept(link: string): void
  /**
   * Asks for a link and throws its body away: whether it may be read at all. Throws a config error
   * when what answers is not the API, such as a sign-in page.
   */
  probe(link: string): Promise<void>
  token(): Promise<Token>
  /** Whoever asks again for what arrived damaged counts it among the retries. */
  readonly traffic: Traffic
}

/** Told when the service asks to wait, with the time at which it may be asked again. */
export type RateLimited = (until: Date) => void

export interface ClientSettings {
  readonly service: Service
  readonly clientId: string
  readonly clientSecret: string
  /** See `TokenSettings.collections`. */
  readonly collections: readonly string[] | undefined
  readonly transport: Transport
  readonly limiter: Limiter
  readonly clock: ServiceClock
  readonly mask: Mask
  readonly signal: AbortSignal
  readonly patience?: Patience
  readonly random?: () => number
}

export function createClient(settings: ClientSettings): Client {
  const { service, transport, limiter, clock, mask, signal } = settings
  const { patience = PATIENCE, random = Math.random } = settings
  const traffic: Traffic = { requests: 0, retries: 0, refusals: 0, bytes: 0 }
  const tokens: Tokens = createTokens({ ...settings, post })
  return {
    traffic,
    token: () => tokens.get(),
    get: (link, onRateLimited) => authorised(link, readBody, onRateLimited),
    accept: (link) => void resolveLink(link, service),
    probe: (link) => authorised(link, expectJson),
  }

  /** One GET with a token: a refused token is renewed once, then widened once (design D7). */
  async function authorised<T>(
    link: string,
    use: (reply: Reply) => Promise<T>,
    onRateLimited?: RateLimited,
  ): Promise<T> {
    const url = resolveLink(link, service)
    let token = await tokens.get()
    let isRepeat = false
    for (let renewals = 0; ; renewals++) {
      try {
        return await patiently((attempt) => follow(url, token, use, attempt), onRateLimited)
      } catch (error) {
        const status = error instanceof Refusal ? error.status : undefined
        if (error instanceof Refusal) isRepeat = error.isRepeat ||= isRepeat
        const mayRenew = status === 401 && renewals === 0
        const mayWiden = (status === 401 || status === 403) && token.isNarrow && renewals < 2
        if (!mayRenew && !mayWiden) throw error
        token = await tokens.renew(token, !mayRenew)
      }
    }
  }

  async function follow<T>(
    url: string,
    token: Token,
    use: (reply: Reply) => Promise<T>,
    send: Send,
  ): Promise<T> {
    let target = url
    for (let redirects = 0; ; redirects++) {
      const reply = await send({
        url: target,
        method: 'GET',
        headers: {
          authorization: `Bearer ${token.value}`,
          'user-agent': service.userAgent,
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
        },
        signal,
      })
      if (reply.status === 200) return use(reply)
      const location = reply.header('location')
      const isRedirect = [301, 302, 303, 307, 308].includes(reply.status) && location !== undefined
      if (!isRedirect || redirects === MAX_REDIRECTS) throw await refusalOf(url, reply, mask)
      reply.discard()
      target = resolveLink(location, service)
    }
  }

  async function post(url: string, form: string): Promise<string> {
    return patiently(async (send) => {
      const reply = await send({
        url,
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'user-agent': service.userAgent,
          accept: 'application/json',
        },
        body: form,
        signal,
      })
      if (reply.status !== 200) throw await refusalOf(url, reply, mask)
      clock.set(reply.header('date'))
      const body = await readBody(reply)
      if ('whole' in body) return Buffer.concat(body.whole).toString('utf8')
      reply.discard()
      throw new ConnectorError('system', 'The answer of the token endpoint is too large to be one.')
    })
  }

  /** Repeats an exchange while its failure may pass, waiting as the service or the backoff says. */
  async function patiently<T>(
    exchange: (send: Send) => Promise<T>,
    onRateLimited?: RateLimited,
  ): Promise<T> {
    let isRepeat = false
    for (let attempt = 0; ; attempt++) {
      let asked: number | undefined
      let heldMs: number | undefined
      try {
        return await exchange(async (call) => {
          const admission = await limiter.admit(signal)
          traffic.requests++
          const reply = await transport.send(call)
          asked = isPassing(reply.status)
            ? retryAfterMs(reply.header('retry-after'), clock.now())
            : undefined
          if (reply.status === 429 || (reply.status === 503 && asked !== undefined)) {
            traffic.refusals++
            heldMs = asked || backoffMs(attempt, patience, random)
            if (heldMs <= LONGEST_WAIT_MS) limiter.refused(admission, heldMs)
          } else limiter.accepted()
          return reply
        })
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof Refusal) error.isRepeat = isRepeat
        isRepeat ||= mayHaveArrived(error)
        if (!mayPass(error) || attempt + 1 >= patience.attempts) throw error
        if (asked !== undefined && asked > LONGEST_WAIT_MS) throw tooLongToWait(asked)
        traffic.retries++
        // A wait of 0 seconds, or until a time that has passed, says no more than to come again.
        if (heldMs === undefined) await sleep(asked || backoffMs(attempt, patience, random), signal)
        else onRateLimited?.(new Date(clock.now().getTime() + heldMs))
      }
    }
  }

  /** Reads a body whole, or the first part of a large one with the rest to come. */
  async function readBody(reply: Reply): Promise<Body> {
    const parts: Buffer[] = []
    let size = 0
    const until = performance.now() + (patience.bodyMs ?? SLOWEST_BODY_MS)
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
async function expectJson(reply: Reply): Promise<void> {
  for await (const part of reply.body) {
    const [first] = part
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, '')
      .trimStart()
    if (first === '{' || first === '[') return
    if (first !== undefined) break
  }
  throw new ConnectorError(
    'config',
    'What answers at the address of the tenant is not the API: its answer is not JSON. Check the tenant, the environment and its addresses.',
  )
}

type Send = (call: Call) => Promise<Reply>

/** Whether the service may have answered and only the answer was lost, here or at a gateway. */
function mayHaveArrived(error: unknown): boolean {
  return !(error instanceof Refusal) || error.status === 502 || error.status === 504
}

function mayPass(error: unknown): boolean {
  if (error instanceof Refusal) return isPassing(error.status)
  return error instanceof ConnectorError && error.failure === 'transient'
}
