import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { Day } from './days.ts'
import { type Key, keyAt } from './id-set.ts'

/** What the delta told last of a row. */
export interface LatestChange {
  /** Null for a row that is gone; empty where records have none. */
  readonly version: string | null
  /** The day of a row that lives; null where records have none. */
  readonly day: Day | null
}

/** Of rows that live those with the highest versions are kept, and of those that are gone the last ones. */
const MOST = 8

/**
 * The latest changes that a delta has told of. A list that lacks the last of them is older than what the warehouse holds,
 * however old it is.
 */
export interface LatestChanges {
  /**
   * Takes note of a batch of the answer to a delta link, in which one record of each row counts. `dayOf` answers the day
   * of a living record; it is asked for a few records only.
   */
  note(batch: RecordBatch, dayOf: (index: number) => Day | null): void
  forget(): void
  /** Those that are known now. */
  all(): ReadonlyMap<Key, LatestChange>
  /** As JSON text; null where there is none. */
  encode(): string | null
}

/** Those of a text that `encode` answered, or none. */
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
    encode() {
      if (changes.size === 0) return null
      const latest = [...latestOf(changes)]
      return JSON.stringify(latest.map(([key, { version, day }]) => [key, version, day]))
    },
  }
}

/** The changes of such a text; undefined if it is none. */
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
  /** By falling version. */
  const living: { readonly index: number; readonly version: string }[] = []
  // Versions mostly rise, so from the end on a few comparisons decide.
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
