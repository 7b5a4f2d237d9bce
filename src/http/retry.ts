import { ConnectorError, type FailureType } from '../ground/errors.ts'
import { httpDateMs, type Time } from './clock.ts'
import { statusIs } from './status.ts'
import type { Method } from './transport.ts'

/** How long a failed request is repeated, and after which waits; times in milliseconds. */
export interface RetryPolicy {
  /** How long after its first failure a request is repeated; 0 means never. */
  readonly forMs: number
  /** The upper limit of the first wait; it doubles with each attempt, up to `capMs`. */
  readonly baseMs: number
  readonly capMs: number
  /** The waits before a request is repeated after a conflict (409); after the last one, it is an error. */
  readonly conflictMs: readonly number[]
  /** How long the first 4 MiB of a body, or its next record, may take; 5 minutes by default. */
  readonly bodyMs?: number
  /** The clock for the waits; the real one by default. */
  readonly time?: Time
  /** Returns a number from 0 up to 1, for the jitter; Math.random by default. */
  readonly random?: () => number
}

/** The retry policy for the setting `retry_minutes`. A command that must answer soon sets a limit, `mostMs`. */
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

/** The limit for a check, in milliseconds, because somebody is waiting for it. */
export const CHECK_RETRY_MS = 3000

/** The default of `RetryPolicy.bodyMs`; for a small page that is 14 kB/s. */
export const SLOWEST_BODY_MS = 5 * 60_000

const MAX_REDIRECTS = 3

/** An answer with a status that is not accepted. */
export interface StatusAnswer {
  readonly status: number
  readonly location?: string
  readonly retryAfterMs?: number
}

/** The result of an attempt without a usable answer. */
export type AttemptResult =
  | StatusAnswer
  /** There was no answer, or its body broke. `isUnsent` means that the service has not received the request. */
  | { readonly failure: FailureType; readonly isUnsent?: boolean }

/** What has happened to the request so far. */
export interface AttemptHistory {
  readonly failures: Failures
  readonly redirects: number
  /** How often its token was renewed or widened. */
  readonly renewals: number
  /** `narrow` if another token may have more scopes; `none` for the request for a token itself. */
  readonly token: 'none' | 'narrow' | 'wide'
  readonly method: Method
}

/** What to do next with a request. */
export type Step =
  | { readonly do: 'redirect'; readonly location: string }
  | { readonly do: 'wait'; readonly ms: number }
  /** Repeat with a new token. */
  | { readonly do: 'renew' }
  /** Repeat with a token that was requested without scopes. */
  | { readonly do: 'unscoped' }
  /** `tooLongMs` is a Retry-After that is longer than requests are repeated. */
  | { readonly do: 'fail'; readonly tooLongMs?: number }

/**
 * Decides what happens after an attempt without a usable answer. GET, PUT and DELETE may be repeated. A POST other
 * than that for a token is repeated only if the service has not received it, did not accept its token (401), or asked
 * to send it later (429), and never to another address.
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
  if (statusIs(status, 'expired token') && token !== 'none' && renewals === 0)
    return { do: 'renew' }
  // The request for a token contains the client secret, so no redirect is followed.
  if (token !== 'none' && mayBeDoneTwice) {
    const isRedirect = statusIs(status, method === 'GET' ? 'redirect of GET' : 'redirect')
    if (isRedirect && location !== undefined && redirects < MAX_REDIRECTS)
      return { do: 'redirect', location }
    if (statusIs(status, 'permission') && token === 'narrow' && renewals < 2)
      return { do: 'unscoped' }
  }
  if (!statusIs(status, 'retryable')) return { do: 'fail' }
  // A 503 with a Retry-After does not say that nothing was done.
  if (!mayBeDoneTwice && !statusIs(status, 'rate limit')) return { do: 'fail' }
  const ms = waitMs(failures, retryPolicy, retryAfterMs)
  if (ms !== undefined) return { do: 'wait', ms }
  const isTooLong = retryPolicy.forMs > 0 && retryAfterMs !== undefined
  return isTooLong && retryAfterMs > retryPolicy.forMs
    ? { do: 'fail', tooLongMs: retryAfterMs }
    : { do: 'fail' }
}

/**
 * The wait before the next attempt, in milliseconds; undefined if there is none. The last attempt is made when the
 * time is over: a longer backoff is shortened, but a Retry-After is not.
 */
export function waitMs(
  failures: Failures,
  retryPolicy: RetryPolicy,
  askedMs?: number,
): number | undefined {
  const left = retryPolicy.forMs - failures.sinceMs
  if (left <= 0) return undefined
  // A wait of less than a second, or until a time in the past, is treated like no Retry-After: it would be a flood.
  if (askedMs !== undefined && askedMs >= 1000) return askedMs <= left ? askedMs : undefined
  return Math.min(left, backoffMs(failures.before, retryPolicy))
}

/** Full jitter: a random time up to the doubled limit, so that clients do not return at the same time. */
function backoffMs(before: number, { baseMs, capMs, random = Math.random }: RetryPolicy): number {
  return random() * Math.min(capMs, baseMs * 2 ** before)
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

/** The wait in milliseconds of a Retry-After header, which contains seconds or a date. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? ''
  // So many digits that they are infinite are as good as 30 years.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text), 1e9) * 1000
  const time = httpDateMs(text)
  return time === undefined ? undefined : Math.max(0, time - now.getTime())
}

/** The failures of a request so far. */
export interface Failures {
  /** The number of failures before this one. */
  readonly before: number
  /** The time since the first one, in milliseconds. */
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

/** The error for a Retry-After that is longer than requests are repeated. */
export function tooLongToWait(retryAfterMs: number): ConnectorError {
  const minutes = Math.ceil(retryAfterMs / 60_000)
  return new ConnectorError(
    'transient',
    'retry-after-too-long',
    `The service requires a wait of ${minutes === 1 ? '1 minute' : `${minutes} minutes`} (Retry-After), which is longer than retry_minutes allows, or a check, which waits for a few seconds only. Nothing is lost; try again after that time.`,
    { retryAfterMs },
  )
}

/** The error for a body that arrives too slowly, although no single byte is late. */
export function tooSlow(): ConnectorError {
  return new ConnectorError(
    'transient',
    'response-too-slow',
    'The service sends its response too slowly to complete it. The next sync continues here.',
  )
}
