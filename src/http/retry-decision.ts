import type { FailureType } from '../protocol/errors.ts'
import { type Failures, isRetryable, type RetryPolicy, waitMs } from './retry-policy.ts'
import type { Method } from './transport.ts'

/** An answer with another status than 200. */
export interface Answer {
  readonly status: number
  readonly location?: string
  readonly retryAfterMs?: number
}

/** What came of an attempt that could not be used. */
export type Result =
  | Answer
  /** There was no answer, or its body broke; `isUnsent` when the service has not seen the request. */
  | { readonly failure: FailureType; readonly isUnsent?: boolean }

/** What happened to the request before. */
export interface Situation {
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

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_REDIRECTS = 3

/** Those that keep the method; after the others a browser would send a GET. */
const REDIRECTS_OF_WRITES: ReadonlySet<number> = new Set([307, 308])

/**
 * Decides what happens after an attempt whose answer cannot be used. GET, PUT and DELETE may be done
 * twice; a POST, other than that for a token, is repeated only where the service has not done it.
 */
export function decide(result: Result, situation: Situation, retryPolicy: RetryPolicy): Step {
  const { failures, redirects, renewals, token, method } = situation
  const mayBeDoneTwice = method !== 'POST' || token === 'none'
  if ('failure' in result) {
    const isRepeatable = result.failure === 'transient' && (mayBeDoneTwice || result.isUnsent)
    const ms = isRepeatable ? waitMs(failures, retryPolicy) : undefined
    return ms === undefined ? { do: 'fail' } : { do: 'wait', ms }
  }
  const { status, location, retryAfterMs } = result
  // The request for a token carries the secret, which goes nowhere else.
  if (token !== 'none') {
    const redirecting = method === 'GET' ? REDIRECTS : REDIRECTS_OF_WRITES
    const isRedirect = redirecting.has(status) && location !== undefined
    if (isRedirect && redirects < MAX_REDIRECTS) return { do: 'redirect', location }
    if (status === 401 && renewals === 0) return { do: 'renew' }
    if ((status === 401 || status === 403) && token === 'narrow' && renewals < 2)
      return { do: 'unscoped' }
  }
  if (!isRetryable(status)) return { do: 'fail' }
  if (!mayBeDoneTwice && !isRateLimit(result)) return { do: 'fail' }
  const ms = waitMs(failures, retryPolicy, retryAfterMs)
  if (ms !== undefined) return { do: 'wait', ms }
  const isTooLong = retryPolicy.forMs > 0 && retryAfterMs !== undefined
  return isTooLong && retryAfterMs > retryPolicy.forMs
    ? { do: 'fail', tooLongMs: retryAfterMs }
    : { do: 'fail' }
}

/** Whether the service asks for fewer requests, of all streams. */
export function isRateLimit(result: Result): result is Answer {
  if ('failure' in result) return false
  return result.status === 429 || (result.status === 503 && result.retryAfterMs !== undefined)
}
