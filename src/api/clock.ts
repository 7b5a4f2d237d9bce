import { httpDateMs } from './http-date.ts'

/** The service's time (design D18): ours may be wrong, and what a link's age means is the service's. */
export interface ServiceClock {
  now(): Date
  /** Sets the time from a `Date` header; a missing or unreadable one changes nothing. */
  set(header: string | undefined): void
}

/** Starts with the local time and is carried on by `monotonic`, in milliseconds. */
export function createServiceClock(
  start: Date = new Date(),
  monotonic: () => number = () => performance.now(),
): ServiceClock {
  let offset = start.getTime() - monotonic()
  return {
    now: () => new Date(offset + monotonic()),
    set(header) {
      const time = header === undefined ? undefined : httpDateMs(header)
      if (time !== undefined) offset = time - monotonic()
    },
  }
}
