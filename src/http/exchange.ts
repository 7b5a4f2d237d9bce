import { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import { REAL_TIME, type ServerClock } from './clock.ts'
import type { Endpoints } from './endpoints.ts'
import { HttpError, toHttpError } from './http-error.ts'
import { resolveLink } from './links.ts'
import { NotConnected } from './network-error.ts'
import type { Permit, RateLimiter } from './rate-limiter.ts'
import {
  type AttemptHistory,
  type AttemptResult,
  createFailureCount,
  decide,
  type FailureCount,
  isRateLimit,
  type RetryPolicy,
  retryAfterMs,
  tooLongToWait,
} from './retry.ts'
import { statusIs } from './status.ts'
import type { Token } from './token.ts'
import type { Call, Reply, Transport } from './transport.ts'

/** Why a request waits: what failed, and until when the service asks to be left alone. */
export interface RetryCause {
  readonly reason: string
  readonly until?: Date
}

/** A request that is sent until its answer can be used. */
export interface Exchange<T> {
  readonly url: string
  readonly call: Pick<Call, 'method' | 'headers' | 'body' | 'loggedUrl'>
  /** Reads the body of an answer whose status is OK. */
  readonly readBody: (reply: Reply) => Promise<T>
  /** Which statuses are OK; 200 alone if left out. */
  readonly okStatus?: (status: number) => boolean
  /** What the answer may say and messages must not; see `toHttpError`. */
  readonly redactedValues?: readonly string[]
  /** Ends this request alone; that of the settings if left out. */
  readonly signal?: AbortSignal
  /** True when the URL was asked for before, and the answer did not arrive whole. */
  readonly isRepeat?: boolean
  /** Told each time that the request has to wait. */
  readonly onRetry?: (retryCause: RetryCause) => void
  /** Told each time that the service may have done what was asked for without saying so. */
  readonly onUncertain?: () => void
}

/** What an exchange has been through; each has its own. */
interface Attempts {
  readonly failures: FailureCount
  /** Where a redirect has led to. */
  url: string | undefined
  redirects: number
  renewals: number
  isRepeat: boolean
}

/** What came of an attempt: what was read, or what the next one is to be made with. */
type Attempted<T> =
  | { readonly used: T }
  | { readonly next: 'same token' | 'new token' | 'unscoped token' }

/** What the exchanges of a process added up to. */
export interface ExchangeCounts {
  requests: number
  retries: number
  /** Answers 429, and 503 with a Retry-After. */
  refusals: number
  /** The time from each request to the head of its answer, or to its failure, summed up. */
  answerMs: number
}

/** What exchanges are made with. */
export interface ExchangeSettings {
  readonly endpoints: Endpoints
  readonly transport: Transport
  readonly limiter: RateLimiter
  readonly clock: ServerClock
  readonly mask: Mask
  /** See `Telling`. */
  readonly hidesWords?: boolean
  readonly signal: AbortSignal
  readonly retryPolicy: RetryPolicy
  readonly counts: ExchangeCounts
}

/** Requests with all that belongs to each: redirects, repetitions, the limit of the service. */
export interface Exchanges {
  /**
   * Sends a request without a token, follows its redirects and repeats it as `decide` says.
   * Throws a HttpError for a status that stays, a ConnectorError for other failures.
   */
  exchange<T>(exchange: Exchange<T>): Promise<T>
  /** What `attempt` is given for all attempts of one exchange. */
  begin(exchange: Exchange<unknown>): Attempts
  /** One attempt with a token; when it fails, the wait before the next one is over. Throws as `exchange` does. */
  attempt<T>(exchange: Exchange<T>, attempts: Attempts, token?: Token): Promise<Attempted<T>>
  /** Why some request waits, whichever it is; undefined after a success. */
  readonly retryCause: RetryCause | undefined
}

type Failed = { readonly reply: Reply } | { readonly error: ConnectorError }

/** Exchanges that share their limiter and what is known of the service. */
export function createExchanges(settings: ExchangeSettings): Exchanges {
  const { endpoints, transport, limiter, clock, mask, hidesWords, retryPolicy, counts } = settings
  const { time = REAL_TIME } = retryPolicy
  let retryCause: RetryCause | undefined
  return {
    exchange,
    begin,
    attempt,
    get retryCause() {
      return retryCause
    },
  }

  async function exchange<T>(given: Exchange<T>): Promise<T> {
    const attempts = begin(given)
    for (;;) {
      const attempted = await attempt(given, attempts)
      if ('used' in attempted) return attempted.used
    }
  }

  function begin({ isRepeat = false }: Exchange<unknown>): Attempts {
    const failures = createFailureCount(time)
    return { failures, url: undefined, redirects: 0, renewals: 0, isRepeat }
  }

  async function attempt<T>(
    given: Exchange<T>,
    attempts: Attempts,
    token?: Token,
  ): Promise<Attempted<T>> {
    const { call, signal = settings.signal, onRetry } = given
    const { url = given.url, redirects, renewals, failures } = attempts
    const admission = await limiter.acquire(signal)
    counts.requests++
    const outcome = await send(authorised({ ...call, url, signal }, token), given)
    if ('used' in outcome) {
      retryCause = undefined
      return outcome
    }
    const result = resultOf(outcome)
    const isHeld = isRateLimit(result)
    if (!isHeld && 'reply' in outcome) limiter.onSuccess()
    if (isUncertain(outcome, call)) given.onUncertain?.()
    const step = decide(
      result,
      { failures: failures.now(), redirects, renewals, token: kindOf(token), method: call.method },
      retryPolicy,
    )
    if (step.do === 'redirect' && 'reply' in outcome) {
      outcome.reply.discard()
      attempts.url = resolveLink(step.location, endpoints, { from: url, of: given.url })
      attempts.redirects++
      return { next: 'same token' }
    }
    if (isHeld) hold(admission, step.do === 'wait' ? step.ms : (result.retryAfterMs ?? 0))
    const error = await errorOf(outcome, given, attempts.isRepeat)
    signal.throwIfAborted()
    if (step.do === 'fail')
      throw step.tooLongMs === undefined ? error : tooLongToWait(step.tooLongMs)
    attempts.isRepeat ||= mayHaveArrived(error)
    attempts.url = undefined
    attempts.redirects = 0
    if (step.do !== 'wait') {
      failures.forget()
      attempts.renewals++
      return { next: step.do === 'unscoped' ? 'unscoped token' : 'new token' }
    }
    failures.add()
    counts.retries++
    retryCause = { reason: error.message, ...(isHeld && { until: after(step.ms) }) }
    onRetry?.(retryCause)
    // What is held waits for its turn with the others.
    if (!isHeld) await time.sleep(step.ms, signal)
    return { next: 'same token' }
  }

  /** One request, and what was read of its answer if that is OK. */
  async function send<T>(
    call: Call,
    { readBody, okStatus = isOk }: Exchange<T>,
  ): Promise<{ readonly used: T } | Failed> {
    try {
      const sentAt = time.now()
      const reply = await transport.send(call).finally(() => {
        counts.answerMs += time.now() - sentAt
      })
      if (!okStatus(reply.status)) return { reply }
      limiter.onSuccess()
      return { used: await readBody(reply) }
    } catch (error) {
      call.signal.throwIfAborted()
      if (error instanceof ConnectorError) return { error }
      throw error
    }
  }

  function resultOf(outcome: Failed): AttemptResult {
    if ('error' in outcome) {
      const { error } = outcome
      return { failure: error.failure, isUnsent: error instanceof NotConnected }
    }
    const { status, header } = outcome.reply
    const location = header('location')
    const retryAfter = statusIs(status, 'retryable')
      ? retryAfterMs(header('retry-after'), clock.now())
      : undefined
    return {
      status,
      ...(location !== undefined && { location }),
      ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
    }
  }

  async function errorOf<T>(
    outcome: Failed,
    { url, call, redactedValues }: Exchange<T>,
    isRepeat: boolean,
  ): Promise<ConnectorError> {
    if ('error' in outcome) return outcome.error
    return toHttpError(url, outcome.reply, mask, {
      isRepeat,
      loggedUrl: call.loggedUrl,
      redactedValues,
      hidesWords,
      retryAfterMs: retryAfterMs(outcome.reply.header('retry-after'), clock.now()),
    })
  }

  /** Holds every stream, but not for longer than any request would wait. */
  function hold(admission: Permit, ms: number): void {
    counts.refusals++
    if (ms <= Math.max(retryPolicy.forMs, retryPolicy.capMs)) limiter.onThrottled(admission, ms)
  }

  function after(ms: number): Date {
    return new Date(clock.now().getTime() + ms)
  }
}

function authorised(call: Call, token: Token | undefined): Call {
  if (token === undefined) return call
  return { ...call, headers: { ...call.headers, authorization: `Bearer ${token.value}` } }
}

function kindOf(token: Token | undefined): AttemptHistory['token'] {
  if (token === undefined) return 'none'
  return token.isNarrow ? 'narrow' : 'wide'
}

function isOk(status: number): boolean {
  return status === 200
}

/** Whether the service may have done what was asked for, although it did not say so. */
function isUncertain(outcome: Failed, { method }: Pick<Call, 'method'>): boolean {
  if ('error' in outcome) return outcome.error.failure !== 'config' && mayHaveArrived(outcome.error)
  const { status } = outcome.reply
  return method === 'POST' ? !statusIs(status, 'nothing done') : statusIs(status, 'uncertain')
}

/** Whether the service may have answered and only the answer was lost, here or at a gateway. */
function mayHaveArrived(error: ConnectorError): boolean {
  if (error instanceof HttpError) return error.is('gateway')
  return !(error instanceof NotConnected)
}
