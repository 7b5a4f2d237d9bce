import { setTimeout } from 'node:timers/promises'

/** What waits know of time, in milliseconds of a monotonic clock. */
export interface Time {
  now(): number
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Calls `tick` whenever so much time has passed, until the returned function is called. */
  every(ms: number, tick: () => void): () => void
}

export const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep,
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref()
    return () => clearInterval(timer)
  },
}

/** Sleeps, and rejects with the signal's reason as soon as it is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
