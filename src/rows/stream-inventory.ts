import type { DayRange } from '../ground/days.ts'
import type { Stream } from '../streams/collections.ts'
import { columnsName, createKeySum, hasIntegerKey } from './checksums.ts'
import type { Key } from './id-set.ts'
import type { ListedParts, PartSums } from './listed-parts.ts'

/** A row of the stream `inventory`; schemas/inventory.json describes its fields. */
interface InventoryRow {
  readonly stream: string
  readonly part: string
  readonly level: 'keys' | 'rows'
  readonly records: number | null
  readonly keys: string | null
  readonly versions: string | null
  readonly content: string | null
  readonly columns: string | null
  readonly from: string | null
  readonly until: string | null
  readonly asOf: string
  readonly isComplete: boolean
}

/** The keys of the living rows: see `LiveKeys`. */
interface CountedKeys {
  readonly isTracked: boolean
  living(): Iterable<Uint32Array | readonly Key[]>
  has(key: Key): boolean
}

/** What was noted about a stream's rows. */
interface Noted {
  readonly records: number | null
  readonly keys: string | null
  readonly isComplete: boolean
  readonly range: DayRange | null
  readonly parts: readonly PartSums[]
}

const NOTHING: Noted = { records: null, keys: null, isComplete: false, range: null, parts: [] }

/** The sums of the rows that the warehouse must have of one stream, computed while it is read. */
export type StreamInventory = ReturnType<typeof createStreamInventory>

/** Creates the inventory of a stream, without rows. */
export function createStreamInventory(stream: Stream) {
  const rows: InventoryRow[] = []
  let noted = NOTHING
  let isResumed = false
  return {
    /** The read of the stream begins. */
    begun({ mode, isContinued }: { readonly mode: string; readonly isContinued: boolean }) {
      // A full refresh that continues does not know which of its earlier rows the service marked as deleted.
      isResumed = mode === 'full_refresh' && isContinued
    },
    /** Notes the rows that exist after the deletions of the read, and the sums of the listed rows, if there are any. */
    note(keys: CountedKeys, summed: ListedParts) {
      noted = keys.isTracked && !isResumed ? counted(keys, summed) : NOTHING
    },
    /** The stream has been read, or has failed, at this time. */
    ended(at: Date, hasFailed: boolean) {
      const { records, keys, isComplete, range, parts } = hasFailed ? NOTHING : noted
      const all = {
        stream: stream.stream,
        part: 'all',
        level: 'keys',
        ...{ records, keys, versions: null, content: null, columns: null },
        ...{ from: null, until: null, asOf: at.toISOString(), isComplete },
      } as const
      const { from = null, until = null } = range ?? {}
      const columns = parts.length === 0 ? null : columnsName(stream)
      const summed = parts.map(
        (part) => ({ ...all, level: 'rows', ...part, columns, from, until }) as const,
      )
      rows.push(...(summed.some(({ part }) => part === 'all') ? [] : [all]), ...summed)
    },
    rows,
  }

  function counted(keys: CountedKeys, summed: ListedParts): Noted {
    const sum = createKeySum(stream)
    let records = 0
    for (const some of keys.living()) {
      const isInteger = some instanceof Uint32Array || some.every((key) => typeof key === 'number')
      if (!isInteger && hasIntegerKey(stream)) return NOTHING
      sum.add(some)
      records += some.length
    }
    const living = { records, keys: sum.text, isComplete: true }
    const { count, parts } = summed.isOn ? summed.sums() : { count: -1, parts: [] }
    // For a stream without dates, a list must have had all rows. Other streams are listed only for some days.
    const isWhole = stream.dateField !== undefined || count === records
    return { ...living, range: summed.range, parts: isWhole ? parts : [] }
  }
}
