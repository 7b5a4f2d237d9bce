import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue } from '../../src/streams/streams.ts'
import { keyOf } from '../testing/warehouse.ts'
import {
  awaitsAudit,
  type Comparison,
  isCompared,
  truthOf,
  warehouseDifferences,
} from './comparison.ts'
import type { Event, Fault, Sync } from './history.ts'

type Row = Readonly<Record<string, unknown>>

/** What holds of each sync, by how service and warehouses were before it. */
export interface SyncRule {
  /** What is wrong in streams that the sync says it has completed, in words, after these events. */
  faults(completed: readonly string[], events: readonly Event[]): string[]
  /** Streams that fail because of lists alone, which are extra work where a delta tells everything. */
  refusals(
    selected: readonly string[],
    completed: readonly string[],
    events: readonly Event[],
  ): string[]
}

interface Before {
  /** Rows that both warehouses held in the version of the service. */
  readonly held: ReadonlyMap<string, Row>
  readonly listedAt: string | null | undefined
  /** Whether a listing of the history was under way: it ends with rows of then. */
  readonly isListing: boolean
  /** Whether a full refresh has begun: it ends with rows of all its attempts, each sent once. */
  readonly isRefreshing: boolean
  /** Whether a delta has told everything so far that the stream has. */
  readonly isFollowed: boolean
}

/** Answers to a list or delta by which the connector may believe that it is not offered. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 404, 405, 409])
/** Refusals of a list that a delta does without. */
const REFUSED_LISTS: ReadonlySet<unknown> = new Set([400, 403, 404, 405, 409, 414, 500])
/** Answers that look right and are not: what they lack is known later. */
const WRONG: ReadonlySet<unknown> = new Set(['short', 'empty', 'stale'])

/** Whether one of these is an answer that looks right and is not. */
export function hasWrongList(faults: readonly Fault[]): boolean {
  return faults.some(({ kind }) => WRONG.has(kind))
}

/**
 * A completed stream that nobody touched meanwhile equals the service, unless a part of it was
 * refused; and whatever nobody touched and the warehouse had is still there. `wasWrong` when an earlier
 * sync had a wrong list, of which a refresh that goes on may have the rows.
 */
export function createSyncRule(
  comparison: Comparison,
  { faults: disturbances, killAfter }: Sync,
  wasWrong: boolean,
): SyncRule {
  const { platform, streams } = comparison
  const isOffset = comparison.emulator.options.paging === 'offset'
  const isRefused = disturbances.some(({ kind }) => REFUSALS.has(kind))
  const isWrong = hasWrongList(disturbances)
  const isStale = disturbances.some(({ kind }) => kind === 'stale')
  const before = new Map<string, Before>(
    streams.map((stream) => [
      stream.stream,
      {
        held: right(stream, truthOf(stream, comparison)),
        listedAt: platform.stateOf(stream.stream)?.backfilled_at,
        isListing: platform.stateOf(stream.stream)?.phase === 'backfill',
        isRefreshing: isRefreshing(stream.stream, platform),
        isFollowed: isFollowed(stream.stream, platform),
      },
    ]),
  )
  return {
    faults: (completed, events) =>
      streams
        .filter(({ stream }) => completed.includes(stream))
        .flatMap((stream) => faultsOf(stream, isTouched(stream, events))),
    refusals,
  }

  function refusals(
    selected: readonly string[],
    completed: readonly string[],
    events: readonly Event[],
  ): string[] {
    const isOfLists = disturbances.every(
      ({ kind, path }) => REFUSED_LISTS.has(kind) && path === 'whole-list',
    )
    const isCalm = killAfter === 0 && events.every((event) => event.do === 'change')
    const { usedDeltaLink, secondStart } = comparison.emulator.options
    const mayConflict = usedDeltaLink === 'conflict' || secondStart === 'conflict'
    if (disturbances.length === 0 || !isOfLists || !isCalm || mayConflict) return []
    return selected
      .filter((stream) => before.get(stream)?.isFollowed && !completed.includes(stream))
      .map((stream) => `${stream} fails without its lists, though its delta works`)
  }

  function faultsOf(stream: Stream, isTouched: boolean): string[] {
    const { held, listedAt, isListing, isRefreshing } = before.get(stream.stream) as Before
    // A reference has no version by which one that went and came again could be told.
    if (stream.versioned === false && isTouched) return []
    // A full refresh knows nothing of the references that it was refused, and says so by a WARN.
    const isReferences = stream.nested === 'referenced_collections'
    const isFull = platform.modeOf(stream.stream) === 'full_refresh'
    if (isReferences && isRefused && isFull) return []
    // Nor of the rows that a list did not show it: there is nothing to compare it with.
    if (isFull && (isWrong || (isRefreshing && wasWrong))) return []
    if (isFull && isOffset && (isTouched || isRefreshing)) return []
    // Rows that leave during a list and the second look at it may hide another one twice.
    const isAsked = ({ collection }: { readonly collection: string }) =>
      collection === stream.collection
    const lacksSingles = stream.single === false || comparison.requested?.some(isAsked)
    if (isTouched && isOffset && lacksSingles) return []
    const isUnsure = isTouched || isRefused || isWrong || isRefreshing
    if (isUnsure || awaitsAudit(stream, comparison)) return lost(stream, held)
    const historyAt = platform.stateOf(stream.stream)?.backfilled_at ?? null
    const isHistoryFresh = !isListing && historyAt !== null && historyAt !== listedAt
    return [
      ...lost(stream, held),
      ...warehouseDifferences({ ...comparison, streams: [stream], isHistoryFresh }).map(
        (text) => `after a complete sync, ${text}`,
      ),
    ]
  }

  function isTouched(stream: Stream, events: readonly Event[]): boolean {
    const isReferences = stream.nested === 'referenced_collections'
    return events.some(
      (event) =>
        (event.do === 'change' && streams[event.change.stream % streams.length] === stream) ||
        (event.do === 'reference' && isReferences),
    )
  }

  /** Rows that the warehouses had as they are, and have no more. */
  function lost(stream: Stream, held: ReadonlyMap<string, Row>): string[] {
    const service = truthOf(stream, comparison)
    const now = isStale ? present(stream) : right(stream, service)
    const living = new Map(service.map((row) => [keyOf(row), row]))
    return [...held]
      .filter(([key, row]) => {
        const alive = living.get(key)
        return alive && isSame(alive, row) && !now.has(key)
      })
      .filter(([, row]) => isCompared(row, stream, { ...comparison, isHistoryFresh: true }))
      .filter(([key, row]) => !(mayBeOlder(row, stream) && present(stream).has(key)))
      .filter(([, row]) => !isWrong || canBeLookedFor(row, stream, comparison))
      .map(([key]) => `${stream.stream} ${key} lives, was in the warehouse, and is not there now`)
  }

  /**
   * A delta that has every change reports a row as it was when it left the window. A sync that died may have asked for
   * the row later.
   */
  function mayBeOlder(row: Row, stream: Stream): boolean {
    const { deltaLog } = comparison.emulator.options
    return deltaLog && !isCompared(row, stream, { ...comparison, isHistoryFresh: false })
  }

  /** The rows that both warehouses hold, in any version. */
  function present({ stream }: Stream): Map<string, Row> {
    const [first, ...others] = platform.warehouses.map((warehouse) => warehouse.rows(stream))
    return new Map([...(first ?? [])].filter(([key]) => others.every((rows) => rows.has(key))))
  }

  /** The rows that both warehouses hold in the version of the service. */
  function right({ stream }: Stream, service: readonly Row[]): Map<string, Row> {
    const tables = platform.warehouses.map((warehouse) => warehouse.rows(stream))
    return new Map(
      service
        .map((row) => [keyOf(row), row] as const)
        .filter(([key, row]) => tables.every((rows) => isSame(row, rows.get(key)))),
    )
  }
}

/** A row that a first phase left out can be asked for by itself, or is on a day that lists look ahead to. */
export function canBeLookedFor(
  row: Row,
  { single, dateField }: Stream,
  { lastDay }: Pick<Comparison, 'lastDay'>,
): boolean {
  return single !== false || dateField === undefined || String(row[dateField]) <= lastDay
}

/** Whether rows may be on days that no list has, and cannot be asked for by themselves. */
export function mayLieBeyond(name: string): boolean {
  const { dateField, single } = catalogue.get(name) as Stream
  return dateField !== undefined && single === false
}

/** A new job begins without a state. */
function isRefreshing(stream: string, { modeOf, stateOf }: Comparison['platform']): boolean {
  return modeOf(stream) === 'full_refresh' && stateOf(stream)?.mode === 'full_refresh'
}

/** Whether the days before the window, if there are any, are no reason for a list. */
function isFollowed(stream: string, { modeOf, stateOf }: Comparison['platform']): boolean {
  const { phase, link = null, start = null, window = null } = stateOf(stream) ?? {}
  const hasDaysBefore = start !== null && window !== null && start < window
  return modeOf(stream) === 'incremental' && phase === 'changes' && link !== null && !hasDaysBefore
}

function isSame(row: Row, other: Row | undefined): boolean {
  return other !== undefined && other['changeVersion'] === row['changeVersion']
}
