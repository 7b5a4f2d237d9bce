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

/** The service's time: ours may be wrong, and what a link's age means is the service's. */
export interface ServerClock {
  now(): Date
  /** Sets the time from a `Date` header; a missing, unreadable or impossible one changes nothing. */
  set(header: string | undefined): void
}

/** A device that has lost its time says 1970; beyond 9999 a day has no ten characters. */
const EARLIEST = Date.UTC(2000)
const LATEST = Date.UTC(2200)

/** Starts with the local time and is carried on by `monotonic`, in milliseconds. */
export function createServerClock(
  start: Date = new Date(),
  monotonic: () => number = () => performance.now(),
): ServerClock {
  let offset = start.getTime() - monotonic()
  return {
    now: () => new Date(offset + monotonic()),
    set(header) {
      const time = header === undefined ? undefined : httpDateMs(header)
      if (time !== undefined && time > EARLIEST && time < LATEST) offset = time - monotonic()
    },
  }
}

/**
 * The time of an HTTP date in milliseconds; undefined for any other text. Date.parse alone takes
 * far too much for a date, such as `-5` or `soon 5`.
 */
export function httpDateMs(text: string): number | undefined {
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}
