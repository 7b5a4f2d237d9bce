import { addDays, type Day, type DayRange, isWhole } from '../ground/days.ts'
import type { LatestChanges } from '../rows/latest-changes.ts'
import type { ListedParts } from '../rows/listed-parts.ts'
import type { LiveKeys } from '../rows/live-keys.ts'

/** A list that was read between two reads of the changes, and what is known by the second one. */
export interface ListAndChanges {
  /** The days of the list; null for a stream without days. */
  readonly range: DayRange | null
  /** The first day of the delta's window; null for a stream without days. */
  readonly window: Day | null
  readonly keys: Pick<LiveKeys, 'isTracked' | 'has'>
  readonly parts: Pick<ListedParts, 'listed' | 'highestListed'>
}

/**
 * The number of changes that were known before the list and are still valid, but are missing in it: then the list is older
 * than what the delta has reported.
 */
export function countLacking(
  expected: LatestChanges,
  { range, window, keys, parts }: ListAndChanges,
): number {
  const from = window ?? ''
  return [...expected].filter(([key, { version, day }]) => {
    const isGone = version === null
    // The changes after the list have reported something else.
    if (keys.isTracked && keys.has(key) === isGone) return false
    const listed = parts.listed(key)
    // A row that the delta reports as deleted may only have moved before its window.
    if (isGone) return listed !== undefined && isWhole(listed.part, from)
    if (listed !== undefined) return listed.version < version
    // Before the window, no delta reports that a row is gone.
    const isListedDay =
      range === null || (day !== null && day >= from && day >= range.from && day <= range.until)
    // A list that contains a later change is not old: the row was deleted without a report.
    return isListedDay && parts.highestListed <= version
  }).length
}

/**
 * The days of some months, so that months one after another are one range; days that the first list did not have are left
 * out later. The whole range if a part is not a month.
 */
export function daysOf(parts: ReadonlySet<string>, range: DayRange): DayRange[] {
  const months = [...parts].sort()
  if (!months.every((part) => /^\d{4}-\d\d$/.test(part))) return [range]
  const days: DayRange[] = []
  for (const month of months) {
    const from = `${month}-01`
    const next = `${addDays(from, 31).slice(0, 7)}-01`
    const last = days.at(-1)
    const isNext = last !== undefined && addDays(last.until, 1) === from
    if (isNext) days.pop()
    days.push({ from: isNext ? last.from : from, until: addDays(next, -1) })
  }
  return days
}
