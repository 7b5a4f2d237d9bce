import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { type Day, dayIn } from './days.ts'
import { isRising, type Key, keyAt } from './id-set.ts'
import type { Place, PlaceOf } from './live-keys.ts'

/** How the rows of an answer are judged before they are written. */
export interface RowTreatment {
  /** Where the rows are. */
  readonly place: Place | ((batch: RecordBatch) => Place | PlaceOf)
  /** Marks rows that no longer belong to the stream as deleted. */
  readonly mark: (batch: RecordBatch) => void
  /** Decides which record counts if a row has several. */
  readonly order: AnswerOrder
  /** False if a repeated page always has all of its rows again, as for a delta link. */
  readonly mayOmit: boolean
}

/** What is asked of, and told about, rows that the start of a delta would no longer return. */
export interface Leaving {
  /** Whether the row, which has changed, may have left the window for a while. */
  readonly mayReturn: (key: Key) => boolean
  /** A row has left, or may have left for a while. */
  readonly onLeft: () => void
}

/** How the answer to a delta link is written: its rows may have left the window or the stream. */
export function changedRows(
  field: 'date' | 'from' | undefined,
  start: Day | null,
  window: Day | null,
  { mayReturn, onLeft }: Leaving = { mayReturn: () => false, onLeft() {} },
): RowTreatment {
  const settings = { mayOmit: false, order: createChangeOrder() }
  if (field === undefined || start === null || window === null) {
    const mark = ({ ops, count }: RecordBatch) => {
      if (ops.subarray(0, count).includes(DELETE)) onLeft()
    }
    return { ...settings, place: 'window', mark }
  }
  const dayOf = (batch: RecordBatch, i: number) => dayIn(batch, i, field)
  const place: RowTreatment['place'] =
    start < window ? (batch) => (i) => (dayOf(batch, i) < window ? 'backfill' : 'window') : 'window'
  return {
    ...settings,
    place,
    mark(batch) {
      for (let i = 0; i < batch.count; i++) {
        const op = batch.ops[i]
        const day = op === UPSERT ? dayOf(batch, i) : undefined
        if (op === DELETE || (day !== undefined && day < window)) onLeft()
        else if (op === UPSERT && mayReturn(keyAt(batch, i))) onLeft()
        // A row that has moved before the start date is no longer part of the warehouse.
        if (day !== undefined && day < start) batch.ops[i] = SOFT_DELETE
      }
    },
  }
}

/**
 * Decides which record counts if an answer of the service has several records of a row. Destinations keep the
 * record that is written last, but an answer does not promise the order of its records.
 */
export interface AnswerOrder {
  /**
   * Sets the op of superseded records to SKIP: of two upserts the one with the lower version, everything
   * before a Delete, and a Delete that an upsert follows. Records without a version count by their place.
   */
  settle(batch: RecordBatch): void
}

/** The most rows whose versions are kept. An answer with more changed rows keeps its own order. */
const MOST_ROWS = 100_000

/**
 * For answers whose batches are independent: lists, and the first phase of a delta. They contain a row twice only if
 * it has changed during the read.
 */
export const BATCH_ORDER: AnswerOrder = {
  settle(batch) {
    if (hasRepeats(batch)) settle(batch, new Map())
  },
}

/** Creates the order for the answer to a delta link, which may report each change of a row, over several pages. */
export function createChangeOrder(mostRows = MOST_ROWS): AnswerOrder {
  let versions: Map<Key, string> | undefined = new Map()
  return {
    settle(batch) {
      if (versions === undefined) return BATCH_ORDER.settle(batch)
      settle(batch, versions)
      if (versions.size > mostRows) versions = undefined
    },
  }
}

/** `versions` has the highest version of each row since its last Delete. */
function settle(batch: RecordBatch, versions: Map<Key, string>): void {
  const { count, ops } = batch
  /** For each row, the record of the batch that counts so far. */
  const counting = new Map<Key, number>()
  for (let i = 0; i < count; i++) {
    const key = keyAt(batch, i)
    const version = ops[i] === DELETE ? undefined : batch.versionText(i)
    const highest = versions.get(key)
    if (version !== undefined && highest !== undefined && version < highest) {
      ops[i] = SKIP
      continue
    }
    const before = counting.get(key)
    if (before !== undefined) ops[before] = SKIP
    counting.set(key, i)
    if (version === undefined) versions.delete(key)
    else versions.set(key, version)
  }
}

/** Whether a batch may contain a row twice. Increasing keys are the common and fast case. */
function hasRepeats({ keys }: RecordBatch): boolean {
  return !isRising(keys) && !isRising(keys.slice().sort())
}
