import { type Clock, daysBetween } from '../clock.ts'
import { collections } from '../collections/collections.ts'
import type { CollectionFacts } from '../collections/documented-collections.ts'
import { notValid } from '../http/messages.ts'
import type { Store, StoredRecord } from '../store/store.ts'
import type { Filter } from './check.ts'

// How a year is counted is not documented: the 366 days of a leap year, both ends included, are
// accepted.
const yearInDays = 366

/** What the rules of a list's dates depend on. */
export interface ListContext {
  readonly clock: Clock
  readonly store: Store
}

/**
 * Checks the dates of a list: `date` is required, and at most one year where the collection says so. How
 * the year of an open range is counted is not documented: it ends today, or starts at the first
 * record.
 */
export function checkListDates(
  { clock, store }: ListContext,
  collection: string,
  { start, end }: Filter,
): void {
  const facts = collections[collection]
  if (!facts?.dateField) return
  if (start === undefined && end === undefined) {
    if (facts.isDateOptional) return
    throw notValid('A filter on date is required')
  }
  checkOrder(start, end)
  if (!facts.yearOnly) return
  const last = end ?? clock.today()
  checkYear(start ?? firstDate(store.records(collection)) ?? last, last)
}

/**
 * Checks the dates of a delta: a past start, not before 1 January of last year; an end within one
 * year.
 */
export function checkDeltaDates(
  facts: CollectionFacts,
  { start, end }: Filter,
  today: string,
): void {
  if (!facts.dateField) return
  if (start === undefined) {
    if (facts.isDateOptional) return
    throw notValid('A start (date ge) is required')
  }
  const earliest = `${Number(today.slice(0, 4)) - 1}-01-01`
  if (start >= today) throw notValid('The start date must be a past date')
  if (start < earliest) throw notValid(`The start date must not be before ${earliest}`)
  checkOrder(start, end)
  if (end !== undefined) checkYear(start, end)
}

function firstDate(records: Iterable<StoredRecord>): string | undefined {
  let first: string | undefined
  for (const { date } of records) {
    if (date !== undefined && (first === undefined || date < first)) first = date
  }
  return first
}

function checkOrder(start: string | undefined, end: string | undefined): void {
  if (start !== undefined && end !== undefined && end < start) {
    throw notValid('End date before start date')
  }
}

function checkYear(start: string, end: string): void {
  if (daysBetween(start, end) > yearInDays) throw notValid('The range of date exceeds 1 year')
}
