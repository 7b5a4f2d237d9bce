import type { Day } from '../ground/days.ts'
import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { type Key, keyAt } from './id-set.ts'

/** The last change of a row that the delta has reported. */
interface LatestChange {
  /** Null for a deleted row; empty if records have no version. */
  readonly version: string | null
  /** The date of a row that exists; null if records have no date. */
  readonly day: Day | null
}

/**
 * The latest changes that a delta has reported. A list that lacks the latest one of them is older than the rows in
 * the warehouse.
 */
export type LatestChanges = ReadonlyMap<Key, LatestChange>

/** Keeps the living rows with the highest versions, and the rows that were deleted last: this many of each. */
const MOST = 8

/**
 * The changes after a batch of the answer to a delta link, in which each row has one record that counts. `dayOf` returns
 * the date of a living record; it is called for a few records only.
 */
export function latestChanges(
  before: LatestChanges,
  batch: RecordBatch,
  dayOf: (index: number) => Day | null,
): LatestChanges {
  const others = new Map(before)
  // Both begin with the last one; the living ones with the highest version.
  const living: [Key, LatestChange & { readonly version: string }][] = []
  const gone: [Key, LatestChange][] = []
  // Versions usually increase, so starting at the end takes only few comparisons.
  for (let i = batch.count - 1; i >= 0; i--) {
    if (batch.ops[i] === SKIP) continue
    const key = keyAt(batch, i)
    others.delete(key)
    note(key, batch.ops[i] === UPSERT ? (batch.versionText(i) ?? '') : null, () => dayOf(i))
  }
  for (const [key, { version, day }] of [...others].reverse()) note(key, version, () => day)
  return new Map([...gone, ...living].reverse())

  function note(key: Key, version: string | null, day: () => Day | null): void {
    if (version === null) {
      if (gone.length < MOST) gone.push([key, { version, day: null }])
      return
    }
    const before = living.findIndex(([, other]) => other.version < version)
    const place = before < 0 ? living.length : before
    if (place === MOST) return
    living.splice(place, 0, [key, { version, day: day() }])
    living.length = Math.min(living.length, MOST)
  }
}

/** How a state stores the changes. */
export const LATEST_CHANGES = {
  toJson: (changes: LatestChanges) =>
    changes.size === 0 ? null : [...changes].map(([key, { version, day }]) => [key, version, day]),
  /** Returns undefined, or throws, if they are damaged. */
  parse(json: unknown): LatestChanges | undefined {
    const entries = json as [Key, string | null, Day | null][]
    const isText = (value: unknown) => value === null || typeof value === 'string'
    const isChange = ([key, version, day]: (typeof entries)[number]) =>
      (typeof key === 'string' || typeof key === 'number') && isText(version) && isText(day)
    if (!entries.every(isChange)) return undefined
    return new Map(entries.map(([key, version, day]) => [key, { version, day }]))
  },
}
