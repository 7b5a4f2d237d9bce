import type { Stream } from '../streams/collection.ts'
import { keyOf } from '../streams/streams.ts'
import { createIntegerSum, createTextSum, keyText } from './checksums.ts'
import type { Key } from './id-set.ts'

/** A row of the stream `inventory`; schemas/inventory.json says what its fields mean. */
export interface InventoryRow {
  readonly stream: string
  readonly part: string
  readonly level: 'keys'
  readonly records: number | null
  readonly keys: string | null
  readonly versions: null
  readonly content: null
  readonly columns: null
  readonly from: null
  readonly until: null
  readonly asOf: string
  readonly isComplete: boolean
}

/** The keys of what lives: see `LiveKeys`. */
interface CountedKeys {
  readonly isTracked: boolean
  readonly isBackfillInDoubt: boolean
  living(): Iterable<Key>
}

/** What the warehouse must hold of one stream, noted while it is read. */
export interface StreamAccount {
  /** The reading begins. */
  begun(reading: { readonly mode: string; readonly isContinued: boolean }): void
  /** Notes what lives once the deletes of the reading are written, which come next. */
  note(keys: CountedKeys): void
  /** The stream has been read, or has failed, at this time. */
  ended(at: Date, hasFailed: boolean): void
  readonly rows: readonly InventoryRow[]
}

const NOTHING = { records: null, keys: null, isComplete: false } as const

/** An account of a stream of which nothing has been noted. */
export function createStreamAccount(stream: Stream): StreamAccount {
  const isInteger = hasIntegerKey(stream)
  const rows: InventoryRow[] = []
  let noted: Pick<InventoryRow, 'records' | 'keys' | 'isComplete'> = NOTHING
  let isResumed = false
  return {
    begun({ mode, isContinued }) {
      // Which of its rows the service marked as deleted a full refresh that goes on does not know.
      isResumed = mode === 'full_refresh' && isContinued
    },
    note(keys) {
      noted = keys.isTracked && !isResumed ? counted(keys) : NOTHING
    },
    ended(at, hasFailed) {
      rows.push({
        stream: stream.stream,
        part: 'all',
        level: 'keys',
        ...(hasFailed ? NOTHING : noted),
        versions: null,
        content: null,
        columns: null,
        from: null,
        until: null,
        asOf: at.toISOString(),
      })
    },
    rows,
  }

  function counted(keys: CountedKeys): typeof noted {
    const sum = isInteger ? createIntegerSum() : createTextSum()
    let records = 0
    for (const key of keys.living()) {
      if (isInteger && typeof key === 'string') return NOTHING
      sum.add(isInteger ? key : keyText(key))
      records++
    }
    return { records, keys: sum.text, isComplete: !keys.isBackfillInDoubt }
  }
}

function hasIntegerKey(stream: Stream): boolean {
  return keyOf(stream).length === 1 && stream.nested !== 'activity_structures'
}
