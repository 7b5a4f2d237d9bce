import { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import { REAL_TIME, type ServerClock } from './clock.ts'
import type { Endpoints } from './endpoints.ts'
import { resolveLink } from './endpoints.ts'
import { HttpError, toHttpError } from './http-error.ts'
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

/** Why a request is waiting: what failed, and until when the service asked to wait. */
export interface RetryCause {
  readonly reason: string
  readonly until?: Date
}

/** A request that is repeated until its answer can be used. */
export interface Exchange<T> {
  readonly url: string
  readonly call: Pick<Call, 'method' | 'headers' | 'body' | 'loggedUrl'>
  /** Reads the body of an answer with an accepted status. */
  readonly readBody: (reply: Reply) => Promise<T>
  /** The accepted statuses; by default only 200. */
  readonly okStatus?: (status: number) => boolean
  /** Values that the answer may contain but messages must not: see `toHttpError`. */
  readonly redactedValues?: readonly string[]
  /** See `ErrorTextOptions`; in addition to the settings. */
  readonly hidesWords?: boolean
  /** Aborts only this request; by default the signal of the settings. */
  readonly signal?: AbortSignal
  /** Whether the URL was requested before and the answer did not arrive completely. */
  readonly isRepeat?: boolean
  /** Called each time that the request is sent. */
  readonly onSend?: () => void
  /** Called each time that the request has to wait. */
  readonly onRetry?: (retryCause: RetryCause) => void
  /** Called each time that the service may have carried out the request without confirming it. */
  readonly onUncertain?: () => void
  /** Called each time that the service may have answered, and the answer was lost, before the request is repeated. */
  readonly onLost?: () => void
}

/** The state of one exchange across its attempts. */
interface Attempts {
  readonly failures: FailureCount
  /** The target of a redirect. */
  url: string | undefined
  redirects: number
  renewals: number
  isRepeat: boolean
}

/** The token for the next attempt. */
type NextToken = 'same token' | 'new token' | 'unscoped token'

/** The result of an attempt: what was read, or the token for the next attempt. */
type Attempted<T> = { readonly used: T } | { readonly next: NextToken }

/** An attempt without a usable answer. */
interface FailedAttempt {
  readonly given: Exchange<unknown>
  readonly attempts: Attempts
  readonly token: Token | undefined
  readonly admission: Permit
}

/** Totals of the exchanges of a process. */
export interface ExchangeCounts {
  requests: number
  retries: number
  /** Answers with the status 429, or 503 with a Retry-After. */
  throttled: number
  /** The total time from each request to the headers of its answer, or to its failure. */
  responseMs: number
}

/** What exchanges need. */
export interface ExchangeSettings {
  readonly endpoints: Endpoints
  readonly transport: Transport
  readonly limiter: RateLimiter
  readonly clock: ServerClock
  readonly mask: Mask
  /** See `ErrorTextOptions`. */
  readonly hidesWords?: boolean
  readonly signal: AbortSignal
  readonly retryPolicy: RetryPolicy
  readonly counts: ExchangeCounts
}

/** Sends requests with everything that belongs to them: redirects, repetitions and the rate limit. */
export interface Exchanges {
  /**
   * Sends a request without a token, follows its redirects, and repeats it as `decide` says. Throws a HttpError for a
   * status that stays, a ConnectorError for other failures.
   */
  exchange<T>(exchange: Exchange<T>): Promise<T>
  /** Creates the state that all attempts of one exchange share. */
  begin(exchange: Exchange<unknown>): Attempts
  /**
   * Makes one attempt with a token. If it fails, the wait before the next attempt has passed when this resolves.
   * Throws as `exchange` does.
   */
  attempt<T>(exchange: Exchange<T>, attempts: Attempts, token?: Token): Promise<Attempted<T>>
  /** Why some request is waiting; undefined after a success. */
  readonly retryCause: RetryCause | undefined
}

type Failed = { readonly reply: Reply } | { readonly error: ConnectorError }

/** Creates exchanges that share a rate limiter and the clock of the service. */
export function createExchanges(settings: ExchangeSettings): Exchanges {
  const { endpoints, transport, limiter, clock, retryPolicy, counts } = settings
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
    const { call, signal = settings.signal } = given
    const { url = given.url } = attempts
    const admission = await limiter.acquire(signal)
    counts.requests++
    given.onSend?.()
    const outcome = await send(createCall(call, url, signal, token), given)
    if ('used' in outcome) {
      retryCause = undefined
      return outcome
    }
    return { next: await prepareNext(outcome, { given, attempts, token, admission }) }
  }

  /**
   * Decides what follows a failed attempt. Prepares the next one and returns the token that it needs, or throws the
   * error if there is none.
   */
  async function prepareNext(outcome: Failed, failed: FailedAttempt): Promise<NextToken> {
    const { given, attempts, admission } = failed
    const { signal = settings.signal } = given
    const result = resultOf(outcome, clock.now())
    const isHeld = isRateLimit(result)
    if (!isHeld && 'reply' in outcome) limiter.onSuccess()
    if (isUncertain(outcome, given.call)) given.onUncertain?.()
    const step = decide(result, historyOf(failed), retryPolicy)
    if (step.do === 'redirect' && 'reply' in outcome) {
      outcome.reply.discard()
      follow(step.location, failed)
      return 'same token'
    }
    if (isHeld) hold(admission, step.do === 'wait' ? step.ms : (result.retryAfterMs ?? 0))
    const error = await errorOf(outcome, given, attempts.isRepeat, settings)
    signal.throwIfAborted()
    if (step.do === 'fail')
      throw step.tooLongMs === undefined ? error : tooLongToWait(step.tooLongMs)
    beginAgain(failed, error)
    if (step.do === 'wait') {
      attempts.failures.add()
      await wait(step.ms, isHeld, error, given)
      return 'same token'
    }
    attempts.failures.forget()
    attempts.renewals++
    return step.do === 'unscoped' ? 'unscoped token' : 'new token'
  }

  /** Lets the next attempt request the target of a redirect. */
  function follow(location: string, { given, attempts }: FailedAttempt): void {
    const { url = given.url } = attempts
    attempts.url = resolveLink(location, endpoints, { from: url, of: given.url })
    attempts.redirects++
  }

  /** Waits before the next attempt. After a rate limit, it waits in the limiter together with the other requests. */
  async function wait(
    ms: number,
    isHeld: boolean,
    error: ConnectorError,
    { onRetry, signal = settings.signal }: Exchange<unknown>,
  ): Promise<void> {
    counts.retries++
    retryCause = { reason: error.message, ...(isHeld && { until: after(ms) }) }
    onRetry?.(retryCause)
    if (!isHeld) await time.sleep(ms, signal)
  }

  /** Sends one request, and reads the answer if its status is accepted. */
  async function send<T>(
    call: Call,
    { readBody, okStatus = isOk }: Exchange<T>,
  ): Promise<{ readonly used: T } | Failed> {
    try {
      const sentAt = time.now()
      const reply = await transport.send(call).finally(() => {
        counts.responseMs += time.now() - sentAt
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

  /** Pauses all requests, but not for longer than one request may wait. */
  function hold(admission: Permit, ms: number): void {
    counts.throttled++
    if (ms <= Math.max(retryPolicy.forMs, retryPolicy.capMs)) limiter.onThrottled(admission, ms)
  }

  function after(ms: number): Date {
    return new Date(clock.now().getTime() + ms)
  }
}

/** What the decision about the next attempt depends on. */
function resultOf(outcome: Failed, now: Date): AttemptResult {
  if ('error' in outcome) {
    const { error } = outcome
    return { failure: error.failure, isUnsent: error instanceof NotConnected }
  }
  const { status, header } = outcome.reply
  const location = header('location')
  const retryAfter = statusIs(status, 'retryable')
    ? retryAfterMs(header('retry-after'), now)
    : undefined
  return {
    status,
    ...(location !== undefined && { location }),
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  }
}

/** The error of a failed attempt, if it is the last one. */
async function errorOf<T>(
  outcome: Failed,
  { url, call, redactedValues, hidesWords = false }: Exchange<T>,
  isRepeat: boolean,
  { mask, hidesWords: hidesAll, clock }: ExchangeSettings,
): Promise<ConnectorError> {
  if ('error' in outcome) return outcome.error
  return toHttpError(url, outcome.reply, mask, {
    isRepeat,
    loggedUrl: call.loggedUrl,
    redactedValues,
    hidesWords: hidesWords || hidesAll,
    retryAfterMs: retryAfterMs(outcome.reply.header('retry-after'), clock.now()),
  })
}

/** A literal, because V8 adds members to a copy of an object one by one, and slowly. */
function createCall(
  { method, loggedUrl, headers, body }: Exchange<unknown>['call'],
  url: string,
  signal: AbortSignal,
  token: Token | undefined,
): Call {
  const authorised =
    token === undefined ? headers : { ...headers, authorization: `Bearer ${token.value}` }
  return { url, loggedUrl, method, headers: authorised, body, signal }
}

/** Lets the next attempt request the first URL again. */
function beginAgain({ given, attempts }: FailedAttempt, error: ConnectorError): void {
  if (mayHaveArrived(error)) {
    attempts.isRepeat = true
    given.onLost?.()
  }
  attempts.url = undefined
  attempts.redirects = 0
}

function historyOf({ given, attempts, token }: FailedAttempt): AttemptHistory {
  const { failures, redirects, renewals } = attempts
  const { method } = given.call
  return { failures: failures.now(), redirects, renewals, token: kindOf(token), method }
}

function kindOf(token: Token | undefined): AttemptHistory['token'] {
  if (token === undefined) return 'none'
  return token.isNarrow ? 'narrow' : 'wide'
}

function isOk(status: number): boolean {
  return status === 200
}

/** Whether the service may have carried out the request although it did not confirm it. */
function isUncertain(outcome: Failed, { method }: Pick<Call, 'method'>): boolean {
  if ('error' in outcome) return outcome.error.failure !== 'config' && mayHaveArrived(outcome.error)
  const { status } = outcome.reply
  return method === 'POST' ? !statusIs(status, 'nothing done') : statusIs(status, 'uncertain')
}

/** Whether the service may have answered, and the answer was lost here or at a gateway. */
function mayHaveArrived(error: ConnectorError): boolean {
  if (error instanceof HttpError) return error.is('gateway')
  return !(error instanceof NotConnected)
}
