import type { Day } from '../ground/days.ts'
import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { type Key, keyAt } from './id-set.ts'

/** The last change of a row that the delta has reported. */
export interface LatestChange {
  /** Null for a deleted row; empty if records have no version. */
  readonly version: string | null
  /** The date of a row that exists; null if records have no date. */
  readonly day: Day | null
}

/** Keeps the living rows with the highest versions, and the rows that were deleted last: this many of each. */
const MOST = 8

/**
 * The latest changes that a delta has reported. A list that lacks the latest one of them is older than the rows in
 * the warehouse.
 */
export interface LatestChanges {
  /**
   * Notes a batch of the answer to a delta link, in which each row has one record that counts. `dayOf` returns the
   * date of a living record; it is called for a few records only.
   */
  note(batch: RecordBatch, dayOf: (index: number) => Day | null): void
  forget(): void
  /** The current changes. */
  all(): ReadonlyMap<Key, LatestChange>
  /** The changes as JSON text; null if there are none. */
  encode(): string | null
}

/** Restores the changes from the result of `encode`; null means none. */
export function createLatestChanges(stored: string | null): LatestChanges {
  let changes = new Map(stored === null ? [] : readLatestChanges(stored))
  return {
    note(batch, dayOf) {
      const noted = worthNoting(batch)
      for (let i = 0; i < batch.count; i++) {
        if (batch.ops[i] !== SKIP) changes.delete(keyAt(batch, i))
      }
      for (const i of noted) {
        const isGone = batch.ops[i] !== UPSERT
        const version = isGone ? null : versionAt(batch, i)
        changes.set(keyAt(batch, i), { version, day: isGone ? null : dayOf(i) })
      }
      if (changes.size > 2 * MOST) changes = latestOf(changes)
    },
    forget() {
      changes = new Map()
    },
    all: () => new Map(changes),
    encode: () => writeLatestChanges([...latestOf(changes)]),
  }
}

/** Changes as JSON text; null if there are none. */
export function writeLatestChanges(
  changes: readonly (readonly [Key, LatestChange])[],
): string | null {
  if (changes.length === 0) return null
  return JSON.stringify(changes.map(([key, { version, day }]) => [key, version, day]))
}

/** Parses the result of `encode`; undefined if it is not valid. */
export function readLatestChanges(text: string): [Key, LatestChange][] | undefined {
  const isText = (value: unknown) => value === null || typeof value === 'string'
  try {
    const entries: unknown = JSON.parse(text)
    if (!Array.isArray(entries)) return undefined
    return entries.map((entry: unknown): [Key, LatestChange] => {
      const [key, version, day] = entry as [Key, string | null, Day | null]
      if (typeof key !== 'string' && typeof key !== 'number') throw new TypeError('no key')
      if (!isText(version) || !isText(day)) throw new TypeError('no change')
      return [key, { version, day }]
    })
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

function latestOf(changes: ReadonlyMap<Key, LatestChange>): Map<Key, LatestChange> {
  const entries = [...changes]
  const living = entries.filter(([, { version }]) => version !== null)
  const gone = entries.filter(([, { version }]) => version === null)
  const highest = living.sort(([, a], [, b]) => compareVersions(a, b)).slice(-MOST)
  return new Map([...highest, ...gone.slice(-MOST)])
}

function compareVersions({ version: a }: LatestChange, { version: b }: LatestChange): number {
  if (a === b || a === null || b === null) return 0
  return a < b ? -1 : 1
}
