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
  const changes = new Map(before)
  const noted = worthNoting(batch)
  for (let i = 0; i < batch.count; i++) if (batch.ops[i] !== SKIP) changes.delete(keyAt(batch, i))
  for (const i of noted) {
    const isGone = batch.ops[i] !== UPSERT
    const change = { version: isGone ? null : versionAt(batch, i), day: isGone ? null : dayOf(i) }
    changes.set(keyAt(batch, i), change)
  }
  const living = [...changes].flatMap(([key, { version, day }]) =>
    version === null ? [] : [[key, { version, day }] as const],
  )
  const gone = [...changes].filter(([, { version }]) => version === null)
  living.sort(([, { version: a }], [, { version: b }]) => Number(a > b) - Number(a < b))
  return new Map([...living.slice(-MOST), ...gone.slice(-MOST)])
}

/** The changes as JSON text; null if there are none. */
export function writeLatestChanges(changes: LatestChanges): string | null {
  if (changes.size === 0) return null
  return JSON.stringify([...changes].map(([key, { version, day }]) => [key, version, day]))
}

/** Parses the result of `writeLatestChanges`; undefined if it is not valid. */
export function readLatestChanges(stored: unknown): LatestChanges | undefined {
  const isText = (value: unknown) => value === null || typeof value === 'string'
  try {
    const entries = JSON.parse(String(stored)) as [Key, string | null, Day | null][]
    const isChange = ([key, version, day]: (typeof entries)[number]) =>
      (typeof key === 'string' || typeof key === 'number') && isText(version) && isText(day)
    if (!entries.every(isChange)) return undefined
    return new Map(entries.map(([key, version, day]) => [key, { version, day }]))
  } catch {
    return undefined
  }
}

/**
 * The records of a batch that may be among the latest changes: the living ones with the highest versions and the last
 * deletes, in the order of the batch.
 */
function worthNoting(batch: RecordBatch): number[] {
  const gone: number[] = []
  /** Sorted by version, the highest first. */
  const living: { readonly index: number; readonly version: string }[] = []
  // Versions usually increase, so starting at the end takes only few comparisons.
  for (let index = batch.count - 1; index >= 0; index--) {
    const op = batch.ops[index]
    if (op === SKIP) continue
    if (op !== UPSERT) {
      if (gone.length < MOST) gone.push(index)
      continue
    }
    const version = versionAt(batch, index)
    const lowest = living[MOST - 1]
    if (lowest !== undefined && version <= lowest.version) continue
    const place = living.findIndex((other) => other.version < version)
    living.splice(place < 0 ? living.length : place, 0, { index, version })
    living.length = Math.min(living.length, MOST)
  }
  return [...living.map(({ index }) => index), ...gone].sort((a, b) => a - b)
}

function versionAt(batch: RecordBatch, index: number): string {
  return batch.versionText(index) ?? ''
}
