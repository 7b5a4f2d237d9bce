import type { Day } from '../ground/days.ts'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { isRising, type Key, keyAt, keysOf } from './id-set.ts'
import type { PlaceOf } from './observed-batch.ts'

/** How the rows of an answer are judged before they are written. */
export interface RowTreatment {
  /** Where the rows are. */
  readonly place: PlaceOf
  /**
   * Marks rows as deleted whose day is no longer kept, and returns their indices. `contradicted` are the rows about which
   * the answer contradicts itself.
   */
  readonly mark: (batch: RecordBatch, contradicted: readonly Key[]) => readonly number[]
  /** Decides which record counts if a row has several. */
  readonly order: AnswerOrder
}

/** What is asked of, and told about, rows whose change may have moved other rows between the pages of a first phase. */
export interface Leaving {
  /** Whether the change of a row may have moved others: then the phase has met it. */
  readonly mayReturn: (key: Key) => boolean
  /** A row has left the pages, or has moved in them. */
  readonly onLeft: () => void
}

/** How the answer to a delta link is written: its rows may have left the window or the stream. */
export function changedRows(
  field: 'date' | 'from' | undefined,
  start: Day | null,
  window: Day | null,
  leaving?: Leaving,
): RowTreatment {
  const isDated = field !== undefined && start !== null
  const dayAt = (batch: RecordBatch, i: number) => (isDated ? dayIn(batch, i, field) : NO_DAY)
  const isBefore = (day: string, first: Day | null) => first !== null && day < first
  return {
    order: createChangeOrder(),
    place:
      isDated && window !== null && start < window
        ? (batch, i) => (isBefore(dayAt(batch, i), window) ? 'history' : 'window')
        : 'window',
    mark(batch, contradicted) {
      if (contradicted.length > 0) leaving?.onLeft()
      const left: number[] = []
      if (!isDated && leaving === undefined) return left
      for (let i = 0; i < batch.count; i++) {
        const op = batch.ops[i]
        const day = op === UPSERT || op === SOFT_DELETE ? dayAt(batch, i) : NO_DAY
        const hasLeft = op === DELETE || isBefore(day, window)
        if (hasLeft || (op !== SKIP && leaving?.mayReturn(keyAt(batch, i)))) leaving?.onLeft()
        if (isBefore(day, start)) {
          batch.ops[i] = SOFT_DELETE
          left.push(i)
        }
      }
      return left
    },
  }
}

/**
 * Decides which record counts if an answer of the service has several records of a row. Destinations keep the
 * record that is written last, but an answer does not promise the order of its records.
 */
export interface AnswerOrder {
  /**
   * Sets the op of superseded records to SKIP: of two upserts the one with the lower version; records without a version
   * count by their place. If an answer has an upsert and a Delete of a row, the Delete is superseded, and the row is
   * returned: the answer contradicts itself about it.
   */
  settle(batch: RecordBatch): readonly Key[]
  /** Whether the keys have increased so far: then no row can have moved from one page to another. */
  readonly isRising: boolean
}

/** The most rows whose versions are kept. An answer with more changed rows keeps its own order. */
const MOST_ROWS = 100_000

/** In place of a version: the row was deleted. */
const DELETED = Symbol('deleted')
/** What an answer has said of a row: its highest version, undefined if it has none. */
type Said = string | undefined | typeof DELETED

/**
 * Creates the order for a list or the first phase of a delta. Its batches are independent: they contain a row twice
 * only if it has changed during the read.
 */
export function createPageOrder(): AnswerOrder {
  let isStillRising = true
  let last = -1
  return {
    get isRising() {
      return isStillRising
    },
    settle(batch) {
      const { keys, count } = batch
      isStillRising &&= isRising(batch, last)
      last = keys[count - 1] ?? last
      return isStillRising || !hasRepeats(batch) ? [] : settle(batch, new Map())
    },
  }
}

/** Creates the order for the answer to a delta link, which may report each change of a row, over several pages. */
export function createChangeOrder(mostRows = MOST_ROWS): AnswerOrder {
  let said: Map<Key, Said> | undefined = new Map()
  /** The rows about which the answer has contradicted itself so far; a later record of one settles nothing. */
  const contradicted = new Set<Key>()
  return {
    isRising: false,
    settle(batch) {
      for (const key of settle(batch, said ?? new Map())) contradicted.add(key)
      if (said !== undefined && said.size > mostRows) said = undefined
      return contradicted.size === 0 ? [] : keysOf(batch).filter((key) => contradicted.has(key))
    },
  }
}

/** `said` has what earlier batches of the answer have said of each row. */
function settle(batch: RecordBatch, said: Map<Key, Said>): Key[] {
  const { count, ops } = batch
  /** For each row, the record of the batch that counts so far. */
  const counting = new Map<Key, number>()
  const contradicted: Key[] = []
  for (let i = 0; i < count; i++) {
    const key = keyAt(batch, i)
    const now: Said = ops[i] === DELETE ? DELETED : batch.versionText(i)
    const before = said.get(key)
    const isContradiction = said.has(key) && (now === DELETED) !== (before === DELETED)
    if (isContradiction) contradicted.push(key)
    const isOlder = typeof now === 'string' && typeof before === 'string' && now < before
    if (isOlder || (isContradiction && now === DELETED)) {
      ops[i] = SKIP
      continue
    }
    const superseded = counting.get(key)
    if (superseded !== undefined) ops[superseded] = SKIP
    counting.set(key, i)
    said.set(key, now)
  }
  return contradicted
}

/** Whether a batch may contain a row twice. Increasing keys are the common and fast case. */
function hasRepeats(batch: RecordBatch): boolean {
  return !isRising(batch) && !isRising({ keys: batch.keys.slice().sort() })
}

/** Later than every day. */
const NO_DAY = 'none'
const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * The date by which the service filters a record: of a time, its first ten characters. Later than every day if the
 * record has none, or a text that is none: nobody knows that it is before the first day.
 */
export function dayIn(batch: RecordBatch, index: number, field: 'date' | 'from'): string {
  const text = batch.dateText(index) ?? parsedDay(batch.received(index), field)
  return DAY.test(text) ? text : NO_DAY
}

function parsedDay({ buffer, byteOffset, length }: Uint8Array, field: string): string {
  const text = Buffer.from(buffer, byteOffset, length).toString('utf8')
  return String((JSON.parse(text) as Record<string, unknown>)[field]).slice(0, 10)
}
