/** A date as YYYY-MM-DD, in UTC; dates can be compared as strings. */
export type Day = string

/**
 * The limit of all times, in seconds since 1970 (the year 2106): of the service's clock, of the times in a state, and of
 * generations, which are such seconds in 32 bits without a sign.
 */
export const LATEST_SECONDS = 2 ** 32

const FORM = /^\d{4}-\d{2}-\d{2}$/

/** Whether a text is a day that exists. */
export function isDay(text: string): boolean {
  const time = FORM.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && dayOf(new Date(time)) === text
}

export function dayOf(time: Date): Day {
  return time.toISOString().slice(0, 10)
}

export function addDays(day: Day, days: number): Day {
  return dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000))
}

/** Whether both are dates and `a` is later than `b`. */
export function isLater(a: Day | null, b: Day | null): boolean {
  return a !== null && b !== null && a > b
}

/** Whether no day of a part, a month such as `2026-09`, is before this day. */
export function isWhole(part: string, from: Day): boolean {
  const month = from.slice(0, 7)
  return part > month || (part === month && from.endsWith('-01'))
}

/** Whether a time is at least so many days ago. One that lies more than a day ahead counts as well: it is of another clock. */
export function isLongAgo(time: Date, days: number, now: Date): boolean {
  const age = (now.getTime() - time.getTime()) / 86_400_000
  return age >= days || age < -1
}

/** Days from the first to the last, both included. */
export interface DayRange {
  readonly from: Day
  readonly until: Day
}

/** The second date if both are dates and it is the earlier one; otherwise the first. */
export function earlier(a: Day | null, b: Day | null): Day | null {
  return isLater(a, b) ? b : a
}

/** The later one of two dates; the other one if one of them is null. */
export function later<T extends Day | null>(a: Day | null, b: T): Day | T {
  return a === null || isLater(b, a) ? b : a
}

/** Splits a range of dates into windows of at most `length` days, including both ends, oldest first. */
export function windows({ from, until }: DayRange, length: number): DayRange[] {
  const slices: DayRange[] = []
  for (let at = from; at <= until; at = addDays(at, length)) {
    const end = addDays(at, length - 1)
    slices.push({ from: at, until: end < until ? end : until })
  }
  return slices
}
