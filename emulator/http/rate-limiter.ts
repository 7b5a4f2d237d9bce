import type { ResolvedOptions } from '../options.ts'
import type { ServiceResponse } from './http-types.ts'
import { errorBody } from './service-error.ts'

/** The 429 for a request that comes too early, otherwise undefined. */
export type RateLimiter = () => ServiceResponse | undefined

/** A token bucket in real time; each request follows the options of its moment. */
export function createRateLimiter(options: ResolvedOptions): RateLimiter {
  let level: number | undefined
  let last = performance.now()
  return () => {
    const limit = options.rateLimit
    if (!limit) return undefined
    const now = performance.now()
    level = Math.min(
      limit.bucket,
      (level ?? limit.bucket) + ((now - last) / 1000) * limit.perSecond,
    )
    last = now
    if (level >= 1) {
      level -= 1
      return undefined
    }
    const seconds = Math.max(1, Math.ceil((1 - level) / limit.perSecond))
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      ...(limit.retryAfter !== false && { 'retry-after': String(seconds) }),
    }
    return { status: 429, headers, body: errorBody(429, 'Too many requests') }
  }
}
