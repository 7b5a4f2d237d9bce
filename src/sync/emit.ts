import type { Config } from '../config/config.ts'
import type { Day } from '../ground/days.ts'
import type { ServerClock } from '../http/clock.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { PageEnd } from '../page/page-scanner.ts'
import type { LinkKind } from '../pages/page-failures.ts'
import type { PageOrigin, Pages } from '../pages/pages.ts'
import type { Suppression } from '../pages/suppression.ts'
import type { KeyMembers, Log, StreamOutput } from '../protocol/connector.ts'
import { DELETE, type RecordBatch, SKIP } from '../records/record-batch.ts'
import { type Key, keyAt, keysOf } from '../rows/id-set.ts'
import { latestChanges } from '../rows/latest-changes.ts'
import type { ListedParts } from '../rows/listed-parts.ts'
import type { OtherRows } from '../rows/live-keys.ts'
import { createPageOrder, dayIn, type RowTreatment } from '../rows/row-treatment.ts'
import type { StreamInventory } from '../rows/stream-inventory.ts'
import type { Stream } from '../streams/collections.ts'
import { keyOf } from '../streams/streams.ts'
import type { ExpiredDeltas } from './notices.ts'
import type { StreamState } from './stream-state.ts'

/** The number of deletes that are written together. */
const CHUNK = 1000

/** What deletes are written with. */
type DeleteContext = Pick<StreamContext, 'state' | 'output'>

/** Deletes the rows that a complete read did not find, which completes the generation. */
export async function emitDeletes(context: DeleteContext): Promise<void> {
  const { state, output } = context
  const { keys, mode, generation } = state
  if (mode === 'incremental') {
    const gone = keys.gone()
    // The records before the deletes are only sent together with a STATE.
    if (gone.length > 0) await output.checkpoint()
    await deleteRows(gone, context)
    keys.commitDeletes()
  }
  if (!state.isSettled && state.replacesOlder)
    output.note({ type: 'generation complete', generation })
  state.settle()
}

/** Writes deletes of rows. */
export async function deleteRows(
  rows: readonly Key[],
  { state, output }: DeleteContext,
): Promise<void> {
  for (let from = 0; from < rows.length; from += CHUNK) {
    const some = rows.slice(from, from + CHUNK).map((key) => members(key, state.stream))
    await output.deletes(some, state.stamp())
  }
}

/** A key as the members of a JSON object: `"id":7`. The sets keep a key with several columns as a JSON array. */
function members(key: Key, stream: Stream): KeyMembers {
  const columns = keyOf(stream)
  if (columns.length === 1) return `${JSON.stringify(columns[0])}:${key}`
  const values: unknown[] = JSON.parse(String(key))
  return columns.map((name, i) => `${JSON.stringify(name)}:${JSON.stringify(values[i])}`).join(',')
}

/** What the records of an answer are for. */
type Purpose =
  /** They are the rows of the stream: a list, or the first phase of a delta. */
  | 'rows'
  /** They have changed: the answer to a delta link. */
  | 'changes'
  /** Those are written that a complete read has not found, or that were not confirmed. */
  | 'recheck'
  /** They are compared with what the warehouse has, and not written. */
  | 'comparison'
  /** They leave the warehouse because of their day: those are deleted that it has. */
  | 'departure'
  /** Those are written that differ from the warehouse, and are as the comparison has found them. */
  | 'repair'

/** How the records of pages are written: by default, their rows are in the window, and their order is batch by batch. */
export interface EmitSettings extends Partial<RowTreatment>, PageOrigin {
  readonly purpose: Purpose
  /** See `LiveKeys.skipFound`. */
  readonly others?: OtherRows
}

/** What the read of one stream works with. */
export interface StreamContext {
  readonly state: StreamState
  readonly pages: Pages
  readonly output: StreamOutput
  readonly clock: ServerClock
  /** What lists have shown of the stream in this sync. */
  readonly parts: ListedParts
  readonly suppression: Suppression
  readonly config: Config
  readonly endpoints: Endpoints
  /** The last day of lists; see `lastDayOf`. */
  readonly lastDay: Day
  readonly log: Log
  /** Shared by all streams of the sync. */
  readonly expiredDeltas: ExpiredDeltas
  /** Set if an inventory is written. */
  readonly inventory: StreamInventory | undefined
}

/**
 * Writes the records of the pages from `first` on, and yields the end of each page. Its last records are sent with
 * the next checkpoint or the next page.
 */
export async function* emit(
  first: string,
  kind: LinkKind,
  settings: EmitSettings,
  context: StreamContext,
): AsyncGenerator<PageEnd, void> {
  const { state, pages, output, parts, suppression } = context
  const { purpose, place = 'window', mark, order = createPageOrder() } = settings
  const isChange = purpose === 'changes'
  const isRead = purpose === 'rows' || isChange
  const { keys, mode } = state
  let isLaterPage = false
  for await (const event of pages.read(first, kind, settings)) {
    if (event.type === 'interrupted') {
      keys.pageInterrupted()
      continue
    }
    const contradicted = order.settle(event.batch)
    const { batch, leftOut } = suppression.apply(event.batch)
    if (leftOut !== undefined) await leaveOut(leftOut)
    // A page of a delta link always has all of its rows again if it is repeated.
    await write(batch, contradicted, event.type === 'records' && !isChange)
    if (event.type === 'records') continue
    // A service that sends changes once only does not send again what was lost on the way.
    if (isChange && event.isRepeated) state.loseChanges()
    keys.pageEnded()
    isLaterPage = true
    yield event.end
  }

  /** A row of the warehouse may have become a suppressed person's, or its person was suppressed since. */
  async function leaveOut(leftOut: RecordBatch): Promise<void> {
    if (mode === 'incremental' || keys.isTracked) {
      const leaving = leavingOf(leftOut)
      // Otherwise each list would delete the rows again.
      const areKnown =
        purpose !== 'departure' && !state.isSuppressionNew && !mayHaveLostState(state)
      await deleteRows(keys.leave(areKnown ? leaving.filter(keys.mayBeWritten) : leaving), context)
    }
    if (!isChange) return
    // Nothing says whether these rows have moved.
    mark?.(leftOut, keysOf(leftOut))
    // For a list that is older, they are deleted.
    for (const [i, op] of leftOut.ops.entries()) if (op !== SKIP) leftOut.ops[i] = DELETE
    noteChanges(leftOut, state)
    parts.written(leftOut)
  }

  /** A list that is read beside the rows may be out of date: only those leave for which it is read. */
  function leavingOf(leftOut: RecordBatch): readonly Key[] {
    if (purpose === 'departure') return departing(leftOut)
    const rows = keysOf(leftOut).filter((_, i) => leftOut.ops[i] !== SKIP)
    if (isRead || mode === 'full_refresh') return rows
    return purpose === 'recheck' ? rows.filter(keys.isLookedFor) : []
  }

  function write(
    batch: RecordBatch,
    contradicted: readonly Key[],
    mayRepeat: boolean,
  ): Promise<void> | undefined {
    if (batch.count === 0) return undefined
    if (purpose === 'comparison') {
      parts.note(batch)
      keys.markFound(batch)
      return undefined
    }
    if (purpose === 'departure') return deleteRows(keys.leave(departing(batch)), context)
    if (isRead) state.addRows(batch.count)
    if (purpose === 'rows') noteOrder(batch)
    if (purpose === 'repair') parts.skipOthers(batch)
    let left: readonly number[] = []
    if (mode === 'full_refresh') keys.skipSent(batch)
    else left = track(batch, mayRepeat, contradicted)
    if (!isRead) state.addRows(written(batch))
    if (purpose === 'rows') parts.note(batch)
    else if (purpose !== 'repair') parts.written(batch)
    return left.length === 0 ? output.records(batch, state.stamp()) : writeWithout(left, batch)
  }

  /**
   * The rows at these indices are deleted by their keys, because the values of days that are not kept are not sent; also
   * those that no state knows: a sync may have died after it had written them.
   */
  async function writeWithout(left: readonly number[], batch: RecordBatch): Promise<void> {
    const rows = left.map((i) => keyAt(batch, i))
    for (const i of left) batch.ops[i] = SKIP
    await output.records(batch, state.stamp())
    await deleteRows(rows, context)
  }

  /**
   * The rows whose own days are no longer kept, because a service may not apply the filter of a list. A list may be older
   * than the delta, which has reported a row on a day that is kept.
   */
  function departing(batch: RecordBatch): Key[] {
    const { start, stream, latestChanges } = state
    const { dateField } = stream
    if (start === null || dateField === undefined) return []
    return keysOf(batch).filter((key, i) => {
      const { day = null } = latestChanges.get(key) ?? {}
      const isKept = day === null || day >= start
      return dayIn(batch, i, dateField) < start && !(isOld(batch, i, state) && isKept)
    })
  }

  /** Notes in which place the rows are. Returns the indices of those whose day is not kept. */
  function track(
    batch: RecordBatch,
    mayRepeat: boolean,
    contradicted: readonly Key[],
  ): readonly number[] {
    const left = mark?.(batch, contradicted) ?? []
    if (isChange) noteChanges(batch, state)
    if (purpose === 'recheck') {
      for (let i = 0; i < batch.count; i++) if (isOld(batch, i, state)) batch.ops[i] = SKIP
      keys.skipFound(batch, settings.others)
    }
    // A list may be older than the answers that contradict each other about a row.
    const unconfirmed = purpose === 'repair' ? keys.unconfirmed() : []
    keys.observe(batch, place, { mayRepeat, isChange })
    keys.leaveUnconfirmed([...unconfirmed, ...contradicted])
    if (state.auditedParts.size > 0 && purpose !== 'repair') keys.noteWritten(batch)
    // An old answer may have a row on a day that is not kept, although the delta has it on another one.
    return left.filter((i) => batch.ops[i] !== SKIP)
  }

  /** A read of several pages is complete only if no row has moved between them. */
  function noteOrder(batch: RecordBatch): void {
    if (order.isRising) return
    if (isLaterPage) state.note({ mayHaveMoved: true })
    // The definitions of several activity structures may be the same.
    if (state.stream.nested !== 'activity_structures' && keys.hasMet(batch))
      state.note({ isListDue: true })
  }
}

/**
 * Notes the latest changes, which audits compare their lists with. They are always noted, so that the first audit
 * after `audit_days` is set has them.
 */
function noteChanges(batch: RecordBatch, state: StreamState): void {
  const { dateField } = state.stream
  const dayAt = (i: number) => (dateField === undefined ? null : dayIn(batch, i, dateField))
  state.note({ latestChanges: latestChanges(state.latestChanges, batch, dayAt) })
}

/** Whether the delta has reported a later version of a row, as far as its latest changes are known. */
function isOld(batch: RecordBatch, index: number, { latestChanges }: StreamState): boolean {
  const version = latestChanges.get(keyAt(batch, index))?.version ?? null
  return version !== null && (batch.versionText(index) ?? '') < version
}

/** Whether an earlier process may have died after it had written rows of this read that no state knows. */
function mayHaveLostState({ mode, position, isContinued, isSettled }: StreamState): boolean {
  if (position.phase === 'changes') return position.maybeConsumed
  return mode === 'incremental' && isContinued && !isSettled
}

function written({ ops, count }: RecordBatch): number {
  return ops.subarray(0, count).reduce((sum, op) => sum + Number(op !== SKIP), 0)
}
