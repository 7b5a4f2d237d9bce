import { setTimeout } from 'node:timers/promises'
import { LATEST_SECONDS } from '../ground/days.ts'

/** The clock and timers for waits, in milliseconds of a monotonic clock. */
export interface Time {
  now(): number
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Calls `tick` every `ms` milliseconds until the returned function is called. */
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

/** Sleeps; rejects with the signal's reason as soon as it is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/**
 * The time at the service. It is used because the local clock may be wrong, and links expire by the service's clock.
 */
export interface ServerClock {
  now(): Date
  /** The time of this machine. */
  here(): Date
  /** Sets the time from a `Date` header. A header that is missing, unreadable or out of range is ignored. */
  set(header: string | undefined): void
}

/** The accepted range: a device that has lost its time reports 1970. */
const EARLIEST = Date.UTC(2000)
const LATEST = LATEST_SECONDS * 1000

/** Creates a clock that starts with `start` and advances with `monotonic`, in milliseconds. */
export function createServerClock(
  start: Date = new Date(),
  monotonic: () => number = () => performance.now(),
): ServerClock {
  const local = start.getTime() - monotonic()
  let offset = local
  return {
    now: () => new Date(offset + monotonic()),
    here: () => new Date(local + monotonic()),
    set(header) {
      const time = header === undefined ? undefined : httpDateMs(header)
      if (time !== undefined && time > EARLIEST && time < LATEST) offset = time - monotonic()
    },
  }
}

/**
 * Parses an HTTP date into milliseconds; undefined for any other text. Date.parse alone accepts too much, such as
 * `-5` or `soon 5`.
 */
export function httpDateMs(text: string): number | undefined {
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
