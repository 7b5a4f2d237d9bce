import { ConnectorError, type FailureType } from '../ground/errors.ts'
import { httpDateMs, type Time } from './clock.ts'
import { statusIs } from './status.ts'
import type { Method } from './transport.ts'

/** For how long, and with which waits, a request that fails is tried again; times in milliseconds. */
export interface RetryPolicy {
  /** A request is tried again until so long after it failed first; 0: never. */
  readonly forMs: number
  /** Upper bound of the first wait; it doubles with each attempt, up to `capMs`. */
  readonly baseMs: number
  readonly capMs: number
  /** Waits before a request that met a conflict (409) is sent again; then it is an error. */
  readonly conflictMs: readonly number[]
  /** How long a body may take for its first 4 MiB, or for its next record; 5 minutes if left out. */
  readonly bodyMs?: number
  /** The time that the waits take; the real one if left out. */
  readonly time?: Time
  /** A number from 0 up to 1, for the jitter; Math.random if left out. */
  readonly random?: () => number
}

/** The failures of a request so far. */
export interface Failures {
  /** How many there were before this one. */
  readonly before: number
  /** How long ago the first one was, in milliseconds. */
  readonly sinceMs: number
}

/** Counts the failures of one request. */
export interface FailureCount {
  now(): Failures
  add(): void
  forget(): void
}

export function createFailureCount(time: Time): FailureCount {
  let before = 0
  let firstAt: number | undefined
  return {
    now: () => ({ before, sinceMs: firstAt === undefined ? 0 : time.now() - firstAt }),
    add() {
      before++
      firstAt ??= time.now()
    },
    forget() {
      before = 0
      firstAt = undefined
    },
  }
}

/** The retry policy of `retry_minutes`; a command that must answer soon gives its own bound, `mostMs`. */
export function retryPolicyOf(
  retryMinutes: number,
  mostMs = Number.POSITIVE_INFINITY,
): RetryPolicy {
  return {
    forMs: Math.min(retryMinutes * 60_000, mostMs),
    baseMs: 500,
    capMs: 60_000,
    conflictMs: retryMinutes > 0 ? [1000, 2000, 4000] : [],
  }
}

/** Somebody waits for a check: its requests are not tried again for longer, in milliseconds. */
export const CHECK_RETRY_MS = 3000

/**
 * The wait before the next attempt, in milliseconds; undefined when there is to be none. The last
 * attempt is made when the time is over: a backoff that is longer is cut, a Retry-After is not.
 */
export function waitMs(
  failures: Failures,
  retryPolicy: RetryPolicy,
  askedMs?: number,
): number | undefined {
  const left = retryPolicy.forMs - failures.sinceMs
  if (left <= 0) return undefined
  // A wait of 0 seconds, or until a time that has passed, says no more than to come again.
  if (askedMs) return askedMs <= left ? askedMs : undefined
  return Math.min(left, backoffMs(failures.before, retryPolicy))
}

/** Full jitter: any time up to the doubled bound, so that clients do not return in step. */
function backoffMs(before: number, { baseMs, capMs, random = Math.random }: RetryPolicy): number {
  return random() * Math.min(capMs, baseMs * 2 ** before)
}

/** The wait a Retry-After header asks for in milliseconds, given in seconds or as a date. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const time = httpDateMs(text)
  return time === undefined ? undefined : Math.max(0, time - now.getTime())
}

/** The failure of a Retry-After that asks for more time than there is. */
export function tooLongToWait(retryAfterMs: number): ConnectorError {
  const minutes = Math.ceil(retryAfterMs / 60_000)
  return new ConnectorError(
    'transient',
    'asked-to-wait',
    `The service asks to wait ${minutes === 1 ? '1 minute' : `${minutes} minutes`}, which is longer than the connector retries a request (retry_minutes, or a few seconds in a check). Nothing is lost; try again after that time.`,
    { retryAfterMs },
  )
}

/** The failure of a body that drips: each byte arrives in time, but never enough of them. */
export function tooSlow(): ConnectorError {
  return new ConnectorError(
    'transient',
    'answer-too-slow',
    'The service sends its answer too slowly to complete it. The next sync continues here.',
  )
}

/** See `RetryPolicy.bodyMs`: a small page at 14 kB/s. */
export const SLOWEST_BODY_MS = 5 * 60_000

/** An answer with another status than 200. */
export interface StatusAnswer {
  readonly status: number
  readonly location?: string
  readonly retryAfterMs?: number
}

/** What came of an attempt that could not be used. */
export type AttemptResult =
  | StatusAnswer
  /** There was no answer, or its body broke; `isUnsent` when the service has not seen the request. */
  | { readonly failure: FailureType; readonly isUnsent?: boolean }

/** What happened to the request before. */
export interface AttemptHistory {
  readonly failures: Failures
  readonly redirects: number
  /** How often its token was renewed or widened. */
  readonly renewals: number
  /** `narrow` when another token may cover more; `none` for the request for a token itself. */
  readonly token: 'none' | 'narrow' | 'wide'
  readonly method: Method
}

/** What happens next to a request. */
export type Step =
  | { readonly do: 'redirect'; readonly location: string }
  | { readonly do: 'wait'; readonly ms: number }
  /** With a new token. */
  | { readonly do: 'renew' }
  /** With a token that was asked for without scopes. */
  | { readonly do: 'unscoped' }
  /** `tooLongMs` is a Retry-After longer than requests are tried again for. */
  | { readonly do: 'fail'; readonly tooLongMs?: number }

const MAX_REDIRECTS = 3

/**
 * Decides what happens after an attempt whose answer cannot be used. GET, PUT and DELETE may be done
 * twice. A POST, other than that for a token, is sent again only where the service has not seen it, or has asked
 * to come later (429): not with another token, nor to another address.
 */
export function decide(
  result: AttemptResult,
  situation: AttemptHistory,
  retryPolicy: RetryPolicy,
): Step {
  const { failures, redirects, renewals, token, method } = situation
  const mayBeDoneTwice = method !== 'POST' || token === 'none'
  if ('failure' in result) {
    const isRepeatable = result.failure === 'transient' && (mayBeDoneTwice || result.isUnsent)
    const ms = isRepeatable ? waitMs(failures, retryPolicy) : undefined
    return ms === undefined ? { do: 'fail' } : { do: 'wait', ms }
  }
  const { status, location, retryAfterMs } = result
  // The request for a token carries the secret, which goes nowhere else.
  if (token !== 'none' && mayBeDoneTwice) {
    const isRedirect = statusIs(status, method === 'GET' ? 'redirect of GET' : 'redirect')
    if (isRedirect && location !== undefined && redirects < MAX_REDIRECTS)
      return { do: 'redirect', location }
    if (statusIs(status, 'expired token') && renewals === 0) return { do: 'renew' }
    if (statusIs(status, 'permission') && token === 'narrow' && renewals < 2)
      return { do: 'unscoped' }
  }
  if (!statusIs(status, 'retryable')) return { do: 'fail' }
  // A 503 with a Retry-After asks to come again, and does not say that nothing was done.
  if (!mayBeDoneTwice && !statusIs(status, 'rate limit')) return { do: 'fail' }
  const ms = waitMs(failures, retryPolicy, retryAfterMs)
  if (ms !== undefined) return { do: 'wait', ms }
  const isTooLong = retryPolicy.forMs > 0 && retryAfterMs !== undefined
  return isTooLong && retryAfterMs > retryPolicy.forMs
    ? { do: 'fail', tooLongMs: retryAfterMs }
    : { do: 'fail' }
}

/** Whether the service asks for fewer requests, of all streams. */
export function isRateLimit(result: AttemptResult): result is StatusAnswer {
  if ('failure' in result) return false
  const { status, retryAfterMs } = result
  return (
    statusIs(status, 'rate limit') ||
    (statusIs(status, 'rate limit with Retry-After') && retryAfterMs !== undefined)
  )
}
