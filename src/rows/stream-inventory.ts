import type { Day, DayRange } from '../ground/days.ts'
import type { Stream } from '../streams/collections.ts'
import { columnsName, createKeySum, hasIntegerKey } from './checksums.ts'
import type { ListedParts, PartSums } from './listed-parts.ts'
import type { LiveKeys } from './live-keys.ts'

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

/** What was noted about a stream's rows. */
interface Noted {
  readonly records: number
  readonly keys: string
  readonly range: DayRange | null
  readonly parts: readonly PartSums[]
}

/** A stream's state while it is read. */
interface BegunRead {
  readonly mode: string
  readonly isContinued: boolean
  /** The first day of the warehouse; null without days. It may move until the read ends. */
  readonly start: Day | null
}

/** The sums of the rows that the warehouse must have of one stream, computed while it is read. */
export type StreamInventory = ReturnType<typeof createStreamInventory>

/** Creates the inventory of a stream, without rows. */
export function createStreamInventory(stream: Stream) {
  const rows: InventoryRow[] = []
  let noted: Noted | undefined
  let isResumed = false
  let read: BegunRead | undefined
  return {
    /** The read of the stream begins. */
    begun(state: BegunRead) {
      // A full refresh that continues does not know which of its earlier rows the service marked as deleted.
      isResumed = state.mode === 'full_refresh' && state.isContinued
      read = state
    },
    /** Notes the rows that exist after the deletions of the read, and the sums of the listed rows, if there are any. */
    note(keys: LiveKeys, summed: ListedParts) {
      noted = keys.isTracked && !isResumed ? counted(keys, summed) : undefined
    },
    /** The stream has been read, or has failed, at this time. */
    ended(at: Date, hasFailed: boolean) {
      const known = hasFailed ? undefined : noted
      const { records = null, keys = null, range, parts = [] } = known ?? {}
      const all = {
        stream: stream.stream,
        part: 'all',
        level: 'keys',
        ...{ records, keys, versions: null, content: null, columns: null },
        ...{ from: read?.start ?? null, until: null, asOf: at.toISOString() },
        isComplete: known !== undefined,
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

  function counted(keys: LiveKeys, summed: ListedParts): Noted | undefined {
    const sum = createKeySum(stream)
    let records = 0
    for (const some of keys.living()) {
      const isInteger = some instanceof Uint32Array || some.every((key) => typeof key === 'number')
      if (!isInteger && hasIntegerKey(stream)) return undefined
      sum.add(some)
      records += some.length
    }
    const parts = summed.sums()
    const listed = parts.reduce((sum, part) => sum + part.records, 0)
    // For a stream without dates, a list must have had all rows. Other streams are listed only for some days.
    const isWhole = stream.dateField !== undefined || listed === records
    return { records, keys: sum.text, range: summed.range, parts: isWhole ? parts : [] }
  }
}
