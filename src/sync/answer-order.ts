import { DELETE, type RecordBatch, SKIP } from '../records/record-batch.ts'
import { type Key, keyAt } from './id-set.ts'

/**
 * Decides which record of a row counts where an answer of the service has several. What is written last
 * counts for every destination, but an answer does not promise the order of its records.
 */
export interface AnswerOrder {
  /**
   * Sets the op of every record to SKIP that another one of the answer supersedes: of two upserts the one
   * with the lower version; whatever stands before a Delete; and a Delete that an upsert follows. What has
   * no version counts by its place.
   */
  settle(batch: RecordBatch): void
}

/** The versions of so many rows are remembered: an answer with more changed rows is in its own order. */
const MOST_ROWS = 100_000

/**
 * For answers of which each batch stands for itself: those of lists and of a delta's first phase, which have a row
 * again only when it has changed meanwhile.
 */
export const BATCH_ORDER: AnswerOrder = {
  settle(batch) {
    if (hasRepeats(batch)) settle(batch, new Map())
  },
}

/** For the answer to a delta link, which may tell of each change of a row, over several pages. */
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

/** `versions` has the highest one of each row that was met, since its last Delete. */
function settle(batch: RecordBatch, versions: Map<Key, string>): void {
  const { count, ops } = batch
  /** Which record of the batch counts, of each row so far. */
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

/** Whether a batch may have a row twice. Rising keys are the common case and the fast one. */
function hasRepeats({ count, keys }: RecordBatch): boolean {
  if (isRising(keys, count)) return false
  return !isRising(keys.slice().sort(), count)
}

/** NaN, which stands for a key that is no integer, is not above anything. */
function isRising(keys: Float64Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (!((keys[i] as number) > (keys[i - 1] ?? -1))) return false
  return true
}
