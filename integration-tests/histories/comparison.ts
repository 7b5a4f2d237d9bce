import { offers } from '../../emulator/collections/collections.ts'
import type { Emulator } from '../../emulator/emulator.ts'
import type { ReferencePair } from '../../emulator/references/references.ts'
import type { ObjectRules } from '../../src/records/record-batch.ts'
import { rewriteRecord } from '../../src/records/record-rules.ts'
import { referencedCollections, type Stream } from '../../src/streams/collections.ts'
import { earliestDeltaStart } from '../../src/sync/delta-window.ts'
import { differences, keyOf, type Warehouse } from '../testing/warehouse.ts'
import type { Platform } from './warehouses.ts'

type Row = Readonly<Record<string, unknown>>

export interface Comparison {
  readonly emulator: Emulator
  readonly platform: Pick<Platform, 'warehouses' | 'stateOf' | 'modeOf' | 'isUnknown'>
  readonly streams: readonly Stream[]
  /** References that are requested with the records. */
  readonly requested?: readonly ReferencePair[]
  /** References that the records carry; undefined when they changed on their own. */
  readonly references: readonly ReferencePair[] | undefined
  /** What becomes of the personal data of a stream on the way to the warehouse. */
  readonly rulesOf: RulesOf
  /** False while the history may be older than its last listing. */
  readonly isHistoryFresh: boolean
  /** A full refresh may have looked no further ahead than this day. */
  readonly lastDay: string
  /** The columns of a stream where not all of them are selected. */
  readonly columns: ReadonlyMap<string, readonly string[]>
  /** The levels of the structure whose definitions are read. */
  readonly levels: readonly number[]
  /** The collections of which something is known to lists only. */
  readonly silent: ReadonlySet<string>
  /** The collections whose content was ever restored; none if left out. */
  readonly restored?: ReadonlySet<string>
}

/** Whether only an audit tells of all that has happened to the stream. */
export function awaitsAudit(
  { stream, collection, replication }: Stream,
  { silent, platform }: Pick<Comparison, 'silent' | 'platform'>,
): boolean {
  const isFollowed = replication === 'delta' && platform.modeOf(stream) === 'incremental'
  return isFollowed && silent.has(collection)
}

/** Where the two warehouses differ from the service, in words. */
export function warehouseDifferences(comparison: Comparison): string[] {
  const { platform, streams } = comparison
  return streams.flatMap((stream) => {
    const service = truthOf(stream, comparison)
    return platform.warehouses.flatMap((warehouse, i) =>
      compare(stream, warehouse, service, comparison).map(
        (text) => `${['highest cursor', 'last write'][i]}: ${text}`,
      ),
    )
  })
}

function compare(
  stream: Stream,
  warehouse: Warehouse,
  service: readonly Row[],
  comparison: Comparison,
): string[] {
  const { platform, references } = comparison
  const state = platform.stateOf(stream.stream)
  const rows = warehouse.rows(stream.stream)
  const truth = new Map(service.map((row) => [keyOf(row), row]))
  for (const key of [...truth.keys(), ...rows.keys()]) {
    const [known, held] = [truth.get(key), rows.get(key)]
    const isOut = [known, held].some((row) => row && !isCompared(row, stream, comparison))
    const isExcused =
      (known === undefined && held !== undefined && isUnknown(key, held)) ||
      (known !== undefined && held === undefined && mayBeHidden(known, stream, comparison))
    if (isOut || isExcused || isFromLater(key)) {
      truth.delete(key)
      rows.delete(key)
    }
  }
  const plain =
    references === undefined ? (row: Row) => withoutReferences(row) as Row : (row: Row) => row
  const held = new Map([...rows].map(([key, row]) => [key, plain(chosen(stream, row, comparison))]))
  return differences(stream.stream, held, [...truth.values()].map(plain))

  /** A full refresh has no state, so after the service's clock was set back its records do not count against such a row. */
  function isFromLater(key: string): boolean {
    const now = comparison.emulator.now().getTime() * 1000
    return (
      platform.modeOf(stream.stream) === 'full_refresh' &&
      warehouse.ignores(stream.stream, key, now)
    )
  }

  function isUnknown(key: string, held: Row): boolean {
    if (isBeyondReading(stream, comparison) || state?.tracked === false) return true
    const isHistory = isBefore(held, state?.window ?? null)
    // A link that is requested again may be silent about a row that came and went since.
    const { netDelta } = comparison.emulator.options
    // Of a row that was loaded after the platform's state, and is not in a content that was restored, nothing tells.
    const isLost = comparison.restored?.has(stream.collection) === true
    return platform.isUnknown(stream.stream, key, isHistory || netDelta || isLost)
  }
}

/** Whether what vanished cannot be told from what is older than the window, because that has no list. */
export function isBeyondReading({ stream, dateField }: Stream, comparison: Comparison): boolean {
  const state = comparison.platform.stateOf(stream)
  return (
    !hasList(comparison) && dateField !== undefined && (state?.start ?? '') < (state?.window ?? '')
  )
}

/** The rows of the service as the warehouse is to hold them, without those that the service has reported to have left. */
export function truthOf(stream: Stream, comparison: Comparison): Row[] {
  return rowsOf(stream, comparison).flatMap((row) => {
    if (isBeforeStart(row, stream, comparison) && !leavesSilently(comparison)) return []
    const rules = comparison.rulesOf(stream, row)
    if (rules === 'drop') return []
    const treated =
      rules === undefined
        ? row
        : (JSON.parse(rewriteRecord(Buffer.from(JSON.stringify(row)), rules)) as Row)
    return [chosen(stream, treated, comparison)]
  })
}

/** What the selected columns have of a row; what was deselected may be there from before. */
function chosen({ stream, key = ['id'] }: Stream, row: Row, { columns }: Comparison): Row {
  const names = columns.get(stream)
  if (names === undefined) return row
  const always = [...key, 'changeVersion']
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => names.includes(name) || always.includes(name)),
  )
}

/** What becomes of a row; `drop` leaves it out. */
export type RulesOf = (stream: Stream, row: Row) => ObjectRules | 'drop' | undefined

function rowsOf(
  { collection, nested, references: offered }: Stream,
  comparison: Comparison,
): Row[] {
  const { emulator, references = [] } = comparison
  if (nested === 'referenced_collections') {
    return referencedCollections.flatMap((name) =>
      emulator.references(name).map((reference) => ({
        collection: name,
        name: reference.referenceName,
        value: reference.externalReference,
        internalReference: reference.internalReference,
      })),
    )
  }
  const rows = emulator.all(
    collection,
    references.filter((pair) => offered?.includes(pair.collection)),
  )
  return nested === 'activity_structures'
    ? rows.filter(({ level }) => comparison.levels.includes(level as number))
    : rows
}

/**
 * Rows before the start date are nobody's promise, rows of the history only after its listing, and
 * a full refresh ends some days ahead.
 */
export function isCompared(row: Row, stream: Stream, comparison: Comparison): boolean {
  const { platform, emulator, lastDay, isHistoryFresh } = comparison
  const state = platform.stateOf(stream.stream)
  if (!stream.dateField || state === undefined) return true
  if (isBeforeStart(row, stream, comparison)) return false
  if (platform.modeOf(stream.stream) === 'full_refresh') {
    const isReached = hasList(comparison) || !isBefore(row, earliestDeltaStart(emulator.now()))
    return isReached && !isAfter(row, lastDay)
  }
  // No audit lists any further.
  if (awaitsAudit(stream, comparison) && isAfter(row, lastDay)) return false
  // Without a delta, which the service may have refused, rows are only read as far as lists reach.
  const isListed = state.phase === 'list' || state.phase === 'complete'
  if (isListed && isAfter(row, state.listed_until ?? lastDay)) return false
  return (isHistoryFresh && hasList(comparison)) || !isBefore(row, state.window)
}

/** Whether the row is on a day that the stream does not include. */
export function isBeforeStart(row: Row, stream: Stream, { platform }: Comparison): boolean {
  return isBefore(row, platform.stateOf(stream.stream)?.start ?? null)
}

/**
 * Whether a delta does not report a row that leaves its days. If the row has moved before the start date, no list has
 * it either, and only an audit finds that.
 */
export function leavesSilently({ emulator }: Pick<Comparison, 'emulator'>): boolean {
  const { leavingRow, deltaFilterBound } = emulator.options
  return leavingRow === 'nothing' && deltaFilterBound
}

/**
 * Where a continuation token is a number of records, a row that leaves while the first phase of a delta is read hides
 * another one. A list finds that, but not on a day that no list has, and some collections have no list at all.
 */
function mayBeHidden(
  row: Row,
  { collection, replication, dateField }: Stream,
  comparison: Comparison,
): boolean {
  const { emulator, lastDay } = comparison
  const { paging, dialect } = emulator.options
  if (paging !== 'offset' || replication !== 'delta') return false
  if (!offers(dialect, 'list', collection)) return true
  return dateField !== undefined && isAfter(row, lastDay)
}

/** The specification documents no list of any dated collection. */
function hasList({ emulator }: Comparison): boolean {
  return emulator.options.dialect === 'documentation'
}

function isBefore(row: Row, day: string | null): boolean {
  const date = dayOf(row)
  return day !== null && date !== undefined && date < day
}

function isAfter(row: Row, day: string): boolean {
  const date = dayOf(row)
  return date !== undefined && date > day
}

function dayOf(row: Row): string | undefined {
  const date = row['date'] ?? row['from']
  return typeof date === 'string' ? date.slice(0, 10) : undefined
}

function withoutReferences(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutReferences)
  const members = Object.entries(value).filter(([name]) => name !== 'externalReferences')
  return Object.fromEntries(members.map(([name, inner]) => [name, withoutReferences(inner)]))
}
