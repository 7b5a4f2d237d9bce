import { sleep } from './retry.ts'

/** Admits requests; one for a tenant, shared by all streams and the token endpoint. */
export interface Limiter {
  /** Resolves when the next request may be sent. */
  admit(signal: AbortSignal): Promise<void>
  /** Nobody is admitted for that long: the service refused a request. */
  refused(waitMs: number): void
  /** The service answered a request. */
  accepted(): void
}

/** A limiter that spaces requests by `requestsPerMinute` and holds all of them while the service refuses. */
export function createLimiter(
  requestsPerMinute: number | undefined,
  now: () => number = () => performance.now(),
): Limiter {
  const spacing = requestsPerMinute === undefined ? 0 : 60_000 / requestsPerMinute
  let next = 0
  return {
    async admit(signal) {
      signal.throwIfAborted()
      for (let wait = next - now(); wait > 0; wait = next - now()) await sleep(wait, signal)
      next = Math.max(next, now()) + spacing
    },
    refused(waitMs) {
      next = Math.max(next, now() + waitMs)
    },
    accepted() {},
  }
}
