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
