/** A period of virtual time; the parts add up. */
export interface Span {
  readonly minutes?: number
  readonly hours?: number
  readonly days?: number
}

/**
 * The virtual clock of the service. It starts at a given time, runs like a real clock, and can be
 * moved ahead.
 */
export interface Clock {
  now(): Date
  /** The current date, `YYYY-MM-DD` in UTC. */
  today(): string
  advance(by: Span): void
  /** Moves the clock ahead to a time in milliseconds; a time in the past changes nothing. */
  moveTo(time: number): void
}

const minuteInMs = 60_000

/** Starts a clock at the ISO time `start`; throws a RangeError for any other text. */
export function createClock(start: string): Clock {
  const began = performance.now()
  let base = Date.parse(start)
  if (Number.isNaN(base))
    throw new RangeError(`"${start}" is no ISO time: use 2026-11-20T03:00:00Z`)
  const now = () => new Date(base + Math.floor(performance.now() - began))
  return {
    now,
    today: () => dateOf(now()),
    advance(by) {
      base += msOf(by)
    },
    moveTo(time) {
      base += Math.max(0, time - now().getTime())
    },
  }
}

/** The length of a period in milliseconds. */
export function msOf({ minutes = 0, hours = 0, days = 0 }: Span): number {
  return (minutes + hours * 60 + days * 1440) * minuteInMs
}

/** The UTC date of a moment as `YYYY-MM-DD`. */
export function dateOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

/** The date `days` after `date` (negative: before). */
export function addDays(date: string, days: number): string {
  return dateOf(new Date(Date.parse(date) + days * 1440 * minuteInMs))
}

/**
 * The days from `start` to `end`, both included: 1 for the same day, 0 or less when `end` is before
 * `start`.
 */
export function daysBetween(start: string, end: string): number {
  return Math.round((Date.parse(end) - Date.parse(start)) / (1440 * minuteInMs)) + 1
}

/** Whether the text is a date of the calendar in the form `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const moment = new Date(text)
  return !Number.isNaN(moment.getTime()) && dateOf(moment) === text
}
