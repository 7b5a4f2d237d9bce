import { ConnectorError } from '../ground/errors.ts'
import type { RecordBatch } from '../records/record-batch.ts'

/** A date as YYYY-MM-DD, in UTC; dates can be compared as strings. */
export type Day = string

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

/** The second date if both are dates and it is the earlier one; otherwise the first. */
export function earlier(a: Day | null, b: Day | null): Day | null {
  return isLater(a, b) ? b : a
}

/** Later than every day. */
const NO_DAY = 'none'

/**
 * The date by which the service filters a record: of a time, its first ten characters. Later than every day if the
 * record has none, or a text that is none: nobody knows that it is before the first day.
 */
export function dayIn(batch: RecordBatch, index: number, field: 'date' | 'from'): string {
  const text = batch.dateText(index) ?? parsedDay(batch.received(index), field)
  return FORM.test(text) ? text : NO_DAY
}

function parsedDay({ buffer, byteOffset, length }: Uint8Array, field: string): string {
  const text = Buffer.from(buffer, byteOffset, length).toString('utf8')
  return String((JSON.parse(text) as Record<string, unknown>)[field]).slice(0, 10)
}

/**
 * The earliest date on which a delta may start now: 1 January of the previous year. It is the date in the easternmost
 * time zone, where it is latest, because the documentation does not say which zone the service uses.
 */
export function earliestDeltaStart(now: Date): Day {
  const furthestEast = new Date(now.getTime() + 14 * 3_600_000)
  return `${furthestEast.getUTCFullYear() - 1}-01-01`
}

/** The first day of a delta that starts now and covers everything from `start` on, as far as the service allows. */
export function deltaWindow(start: Day | null, now: Date): Day | null {
  const earliest = earliestDeltaStart(now)
  return start !== null && start < earliest ? earliest : start
}

/** Splits a range of dates into windows of at most `length` days, including both ends, oldest first. */
export function windows(from: Day, until: Day, length: number): { from: Day; until: Day }[] {
  const slices: { from: Day; until: Day }[] = []
  for (let at = from; at <= until; at = addDays(at, length)) {
    const end = addDays(at, length - 1)
    slices.push({ from: at, until: end < until ? end : until })
  }
  return slices
}

/**
 * Throws a config error for a start date after the day before yesterday. A delta has to start on a date that is in
 * the past in the service's time zone, which may be half a day away. `now` is the service's time.
 */
export function refuseLateStart(start: Day | undefined, now: Date): void {
  const latest = addDays(dayOf(now), -2)
  if (start === undefined || start <= latest) return
  throw new ConnectorError(
    'config',
    'start-date-too-late',
    `The configuration is not valid. start_date must be the day before yesterday, ${latest}, or earlier; it is ${start}.`,
  )
}
