import { notValid } from './config-faults.ts'

/** The first day that the service's dates and ours are sure to agree on. */
const EARLIEST = '1970-01-01'

/** The day of a point in time: other taps start at one, and Meltano makes one of `yesterday`. */
const POINT_IN_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?$/

/** The same without its time, if it has one; anything else as it is. */
export function withoutTime(text: string): string {
  return POINT_IN_TIME.exec(text)?.[1] ?? text
}

/** A text of the form YYYY-MM-DD; throws a config error unless it is a day that records can have. */
export function startDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text)
    throw notValid(`start_date is not a day of the calendar: ${text}.`)
  if (text < EARLIEST) throw notValid(`start_date must be ${EARLIEST} or later; it is ${text}.`)
  return text
}
