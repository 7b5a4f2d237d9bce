import { setMaxListeners } from 'node:events'
import { ConnectorError } from '../ground/errors.ts'
import { exactTextOfBody, textOfBody } from '../ground/json.ts'
import type { Mask } from '../ground/mask.ts'
import type { ServerClock } from './clock.ts'
import type { Endpoints } from './endpoints.ts'
import { resolveLink } from './endpoints.ts'
import { createExchanges, type Exchange, type ExchangeCounts, type RetryCause } from './exchange.ts'
import { HttpError } from './http-error.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { type RetryPolicy, SLOWEST_BODY_MS, tooSlow } from './retry.ts'
import { isSuccess } from './status.ts'
import { createTokens, type Token, type TokenRequest } from './token.ts'
import type { Method, Reply, Transport } from './transport.ts'

/**
 * Bodies up to this size are received completely before they are read, so that a broken connection causes no
 * duplicates.
 */
const WHOLE_BYTES = 4 * 1024 * 1024

/** The limit for answers that are read as a whole: no page of references or webhooks is that large. */
const MOST_TEXT_BYTES = 64 * 1024 * 1024

/** The body of a page: complete if it is small, or a stream of parts if it is large. */
export type Body = { readonly whole: readonly Buffer[] } | { readonly parts: AsyncIterable<Buffer> }

/** Totals of the requests of a process. */
export interface Traffic extends ExchangeCounts {
  bytes: number
}

/** See `Exchange`. */
export interface GetOptions
  extends Pick<Exchange<unknown>, 'signal' | 'isRepeat' | 'onSend' | 'onRetry' | 'onLost'> {
  /** See `LinkContext`. */
  readonly of?: string
}

/** A request for a resource. Its URL is sent unchanged. */
export interface ServiceRequest
  extends Pick<Exchange<unknown>, 'url' | 'redactedValues' | 'onUncertain' | 'signal'> {
  readonly method: Method
  /** Replaces the URL in logs and messages. */
  readonly loggedUrl: string
  /** Sent as JSON. */
  readonly body?: object | undefined
  readonly ifMatch?: string | undefined
}

/** An answer with a status from 200 to 299. */
export interface ServiceAnswer {
  readonly status: number
  header(name: string): string | undefined
  readonly text: string
}

/** Sends authorised requests to the service: links in, bodies out. */
export interface Client {
  /**
   * Requests a link, of the service or created by the connector. Repeats the request if that may help; throws a
   * HttpError for a status that stays, otherwise a ConnectorError.
   */
  get(link: string, options?: GetOptions): Promise<Body>
  /**
   * Throws a ConnectorError if a link leads outside of the API, or outside of the collection of `of`, a link that the
   * connector created.
   */
  assertFollowable(link: string, of: string): void
  /**
   * Requests a link, and discards its body after the first bytes. Returns false if they are not JSON: then something
   * other than the API answers, such as a sign-in page. Throws as `get` does.
   */
  probe(link: string): Promise<boolean>
  /** Sends one request, with a body if one is given, and reads the whole answer. Throws as `get` does. */
  send(request: ServiceRequest): Promise<ServiceAnswer>
  token(): Promise<Token>
  /** Callers that repeat a request because the answer was damaged count it as a retry. */
  readonly traffic: Traffic
  /** Why a request is waiting at the moment, for any stream or for a token; undefined after a success. */
  readonly retryCause: RetryCause | undefined
}

/** What a client of the service needs. */
export interface ClientSettings {
  readonly endpoints: Endpoints
  readonly clientId: string
  readonly clientSecret: string
  /** See `TokenSettings.scopes`. */
  readonly scopes: readonly string[] | undefined
  readonly transport: Transport
  readonly limiter: RateLimiter
  readonly clock: ServerClock
  readonly mask: Mask
  /** Whether messages leave out the service's texts: see `ErrorTextOptions`. */
  readonly hidesWords?: boolean
  readonly signal: AbortSignal
  readonly retryPolicy: RetryPolicy
  /** Called each time that a request for a resource or a token has to wait. */
  readonly onRetry?: (retryCause: RetryCause) => void
}

/** Creates a client of the service. Nothing is sent before its methods are called. */
export function createClient(settings: ClientSettings): Client {
  const { endpoints, clock, retryPolicy, onRetry } = settings
  // Every active request listens to the signal. Many listeners are no leak, so Node need not warn.
  setMaxListeners(0, settings.signal)
  const told = onRetry === undefined ? {} : { onRetry }
  const traffic: Traffic = { requests: 0, retries: 0, throttled: 0, responseMs: 0, bytes: 0 }
  const exchanges = createExchanges({ ...settings, counts: traffic })
  const tokens = createTokens(settings, sendForToken)
  const headers = {
    'user-agent': endpoints.userAgent,
    accept: 'application/json',
    'accept-encoding': 'gzip, br',
  }
  return {
    traffic,
    get retryCause() {
      return exchanges.retryCause
    },
    token: () => tokens.get(),
    get: (link, options) => get(link, pageOf, options),
    assertFollowable: (link, of) => void resolveLink(link, endpoints, { of }),
    probe: (link) => get(link, (reply) => beginsJson(reply, latest())),
    send,
  }

  async function get<T>(
    link: string,
    readBody: Exchange<T>['readBody'],
    { of, ...options }: GetOptions = {},
  ): Promise<T> {
    const url = resolveLink(link, endpoints, { of })
    return authorised({ url, call: { method: 'GET', headers }, readBody, ...options })
  }

  /** Sends a request with a token. Whether the token is renewed and the request repeated is decided by `decide`. */
  async function authorised<T>(exchange: Exchange<T>): Promise<T> {
    const attempts = exchanges.begin(exchange)
    for (;;) {
      const token = await tokens.get()
      const attempted = await exchanges
        .attempt(exchange, attempts, token)
        .catch((error: unknown) => {
          // A POST is not repeated for more scopes, but the next request gets a token with them.
          if (exchange.call.method === 'POST' && isPermission(error)) tokens.widen(token)
          throw error
        })
      if ('used' in attempted) return attempted.used
      if (attempted.next !== 'same token')
        await tokens.renew(token, attempted.next === 'unscoped token')
    }
  }

  function send({ method, loggedUrl, body, ifMatch, ...request }: ServiceRequest) {
    const call = {
      method,
      loggedUrl,
      headers: {
        ...headers,
        // Answers to writes are too small to be worth compressing.
        ...(method !== 'GET' && { 'accept-encoding': 'identity' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const readBody = async (reply: Reply): Promise<ServiceAnswer> => {
      clock.set(reply.header('date'))
      return { status: reply.status, header: reply.header, text: await textOf(reply, loggedUrl) }
    }
    return authorised({ ...request, ...told, call, readBody, okStatus: isSuccess })
  }

  function sendForToken<T>({ url, headers, body }: TokenRequest, read: (body: string) => T) {
    const call = { method: 'POST', headers, body } as const
    const readBody = async (reply: Reply) => read(await tokenText(reply))
    // Its texts may repeat the secret in a form that no mask knows.
    return exchanges.exchange({ url, call, readBody, hidesWords: true, ...told })
  }

  async function tokenText(reply: Reply): Promise<string> {
    clock.set(reply.header('date'))
    const body = await pageOf(reply)
    if ('whole' in body) return textOfBody(body.whole)
    reply.discard()
    throw new ConnectorError(
      'system',
      'token-response-too-large',
      'The response of the token endpoint is too large. Check the authentication address.',
    )
  }

  async function textOf(reply: Reply, loggedUrl: string): Promise<string> {
    const body = await pageOf(reply)
    const parts: Buffer[] = []
    const until = latest()
    let size = 0
    for await (const part of 'whole' in body ? body.whole : body.parts) {
      size += part.length
      // Leaving the loop discards the rest of the body.
      if (size > MOST_TEXT_BYTES)
        throw new ConnectorError(
          'system',
          'response-too-large',
          'A response of the service is too large.',
        )
      if (performance.now() > until) throw tooSlow()
      parts.push(part)
    }
    try {
      return exactTextOfBody(parts)
    } catch (cause) {
      throw new ConnectorError(
        'system',
        'response-not-understood',
        `The service responded with something that is not UTF-8 text (${loggedUrl}). Tell the operator of the service.`,
        { cause },
      )
    }
  }

  /** Reads a whole body; of a large one, returns the first part and a stream of the rest. */
  async function pageOf(reply: Reply): Promise<Body> {
    const { parts, state } = await reply.collect(WHOLE_BYTES, latest())
    for (const part of parts) traffic.bytes += part.length
    if (state === 'whole') return { whole: parts }
    if (state === 'large') return { parts: rest(parts, reply) }
    reply.discard()
    throw tooSlow()
  }

  /** When the next part of a body that must be complete may come at the latest. */
  function latest(): number {
    return performance.now() + (retryPolicy.bodyMs ?? SLOWEST_BODY_MS)
  }

  async function* rest(parts: Buffer[], reply: Reply) {
    try {
      yield* parts.splice(0)
      for await (const part of reply.body) {
        traffic.bytes += part.length
        yield part
      }
    } finally {
      reply.discard()
    }
  }
}

function isPermission(error: unknown): boolean {
  return error instanceof HttpError && error.is('permission')
}

/** Whether the first character that is not a space begins JSON; discards the rest. */
async function beginsJson(reply: Reply, until: number): Promise<boolean> {
  for await (const part of reply.body) {
    if (performance.now() > until) throw tooSlow()
    const [first] = part
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, '')
      .trimStart()
    if (first !== undefined) return first === '{' || first === '['
  }
  return false
}
