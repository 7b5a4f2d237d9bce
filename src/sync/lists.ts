import type { DayRange } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { HttpError } from '../http/http-error.ts'
import { isNotOffered } from '../pages/page-failures.ts'
import { deltaStart, type Slice, slicesOf } from '../pages/slices.ts'
import type { Key } from '../rows/id-set.ts'
import type { OtherRows } from '../rows/live-keys.ts'
import { changedRows } from '../rows/row-treatment.ts'
import { deltaWindow } from './delta-window.ts'
import { type EmitSettings, emit, type StreamContext } from './emit.ts'
import { collectionOf, isApproved } from './losses.ts'
import {
  type Changes,
  changesAfter,
  hasHistory,
  LIST,
  type List,
  type Position,
} from './position.ts'
import { isExtra } from './stream-failures.ts'

/**
 * Reads lists: of a stream without a delta, of a full refresh, or of the days before a delta's window. Interrupted lists
 * continue with their page. Rows that an earlier sync read are then older than the others: an incremental stream is
 * listed a second time, and the days before the window are compared with their lists by the next sync.
 */
export async function list(position: List, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, parts, inventory, lastDay } = context
  const { stream, start, mode } = state
  const { history } = position
  const until = position.until ?? lastDay
  const begunAt = history?.begunAt ?? clock.now()
  const isResumed = position.slice !== null
  const range = start === null ? undefined : { from: start, until }
  if (history === null) {
    if (start !== null) state.note({ listedUntil: until })
    if (config.auditDays > 0 && inventory !== undefined && !isResumed)
      parts.begin(range ?? null, true)
  }
  const slices = slicesOf(stream, range, config, endpoints)
  const place = history === null ? 'window' : 'history'
  try {
    for await (const listing of emitSlices(slices, position, { purpose: 'rows', place }, context)) {
      const at = history === null ? null : { ...history, begunAt }
      state.moveTo({ phase: 'list', ...listing, until, history: at })
      await output.checkpoint()
    }
  } catch (error) {
    if (stream.replication !== 'delta' || !isNotOffered(error)) throw error
    if (history !== null) {
      // Without these lists, rows of their days would be missing.
      if (state.wasListOffered) throw error
      return withoutHistory(history.changes, context)
    }
    await listElsewhere(error, context)
  }
  if (history !== null) {
    const isOver = !isResumed || config.historyRefreshDays > 0
    return { ...history.changes, requested: false, historyAt: isOver ? begunAt : null }
  }
  if (!isResumed || mode === 'full_refresh') return { phase: 'complete', next: 'list' }
  state.beginAnew()
  return LIST
}

/** Keeps the rows of the days before the window, which the service does not list. */
function withoutHistory(changes: Changes, { state, log }: StreamContext): Changes {
  log.warn(
    warningOf(
      'history-not-listed',
      `${state.stream.stream}: the service offers no list of this stream, so days before ${changes.window} cannot be read, and rows that vanished before this read do not become deletes.`,
    ),
  )
  state.keys.keepUnseen('history')
  state.note({ replacesOlder: false })
  return { ...changes, requested: false, historyAt: null }
}

/** Reads a stream with a delta whose list the service does not offer, if there is another way. */
async function listElsewhere(error: HttpError, context: StreamContext): Promise<void> {
  const { state, output } = context
  if (state.mode === 'incremental') {
    // The delta was refused before the list, perhaps temporarily: the next sync requests it first.
    state.beginAnew()
    await output.checkpoint({ flush: true })
    throw error
  }
  if (state.startsNoDelta)
    throw new ConnectorError(
      'config',
      'no-list',
      'The service offers no list of this stream, and this command starts no delta.',
      { cause: error },
    )
  await readByDelta(error, context)
}

/** Reads a stream without a list by the first phase of a delta, which has the same rows from its window on. */
async function readByDelta(error: HttpError, context: StreamContext): Promise<void> {
  const { state, config, endpoints, clock, log } = context
  const { stream, start } = state
  const window = deltaWindow(start, clock.now())
  // An overwritten table would lack the rows of these days.
  if (hasHistory(start, window))
    throw new ConnectorError(
      'config',
      'no-list',
      `The service offers no list of this stream, and a delta has no days before ${window}, so a full refresh would not have them. Read the stream as incremental, or set start_date to ${window} or later.`,
      { cause: error },
    )
  log.warn(
    warningOf(
      'delta-for-full-refresh',
      `${stream.stream}: the service offers no list of this stream, so a full refresh starts a delta to read it. This ends another consumer's delta of this collection.`,
    ),
  )
  const link = deltaStart(stream, window, config, endpoints)
  // A list cannot be continued from the pages of a delta, so there are no checkpoints.
  for await (const _ of emit(link, 'start', { purpose: 'rows' }, context));
}

/** What came of lists that were read in addition to the stream itself. */
export type ListsOutcome = 'read' | 'not offered' | 'failed'

/** Which rows a recheck looks for: those that a complete read has not found, or those that were not confirmed. */
export type Sought = 'gone' | 'unconfirmed'

/**
 * How the rows of a recheck are written, whatever their day is. Beside a delta, what it finds may be out of date, and no later
 * delta reports that a row is gone: what it finds after a complete read is in question, otherwise others are skipped.
 */
export function recheckSettings(sought: Sought, { state }: StreamContext): EmitSettings {
  const { stream, start, position } = state
  const changes = changesAfter(position)
  const besideDelta: OtherRows = sought === 'gone' ? 'in question' : 'skipped'
  const others = changes === undefined ? 'written' : besideDelta
  const rows = changedRows(stream.dateField, start, changes?.window ?? null)
  return { ...rows, others, purpose: 'recheck' }
}

/** Lists that are read in addition to the stream itself. */
interface ExtraLists {
  readonly purpose: 'comparison' | 'departure' | 'repair' | 'recheck'
  readonly range: DayRange | null
  /** For rechecks. */
  readonly sought?: Sought
}

/**
 * Reads extra lists from their beginning. Beside a delta that works they are extra work: if they fail, the stream does
 * not.
 */
export async function readExtraLists(
  { purpose, range, sought = 'unconfirmed' }: ExtraLists,
  context: StreamContext,
): Promise<ListsOutcome> {
  const { state, output, log } = context
  const settings =
    purpose === 'comparison' || purpose === 'departure'
      ? { purpose }
      : { ...recheckSettings(sought, context), purpose }
  try {
    for await (const _ of emitSlices(slicesIn(range, context), LIST, settings, context))
      await output.checkpoint()
    return 'read'
  } catch (error) {
    if (isNotOffered(error) && !state.wasListOffered) return 'not offered'
    if (!isExtra(error, state.position)) throw error
    log.warn(
      warningOf(
        'lists-failed',
        `${state.stream.stream}: a list that it needs beside its changes could not be read. Rows that only this list could confirm stay as they are, until a later sync reads it. ${(error as Error).message}`,
      ),
    )
    return 'failed'
  }
}

/** The lists of a range; of references, only those in which a row is missing, if there is one. */
function slicesIn(range: DayRange | null, { state, config, endpoints }: StreamContext): Slice[] {
  const slices = slicesOf(state.stream, range ?? undefined, config, endpoints)
  if (state.stream.nested !== 'referenced_collections') return slices
  const collections = new Set(state.keys.gone().map(collectionOf))
  return collections.size === 0 ? slices : slices.filter(({ key }) => collections.has(key))
}

/** How far lists have been read. */
type Listing = Pick<List, 'slice' | 'page'>

/** Writes the records of lists from a position on, and yields the new position after each page. */
async function* emitSlices(
  slices: readonly Slice[],
  { slice: at, page: stored }: Listing,
  settings: EmitSettings,
  context: StreamContext,
): AsyncGenerator<Listing, void> {
  const { state, clock } = context
  const { stream } = state
  const first = slices.findIndex(({ key }) => key === at)
  let page = first < 0 ? null : stored
  let refusals = 0
  for (const [i, { key, link }] of slices.entries()) {
    if (i < first) continue
    const next = slices[i + 1]
    const kind = page === null ? 'list' : 'next'
    try {
      const ofSlice = { ...settings, slice: key, of: link }
      for await (const end of emit(page?.url ?? link, kind, ofSlice, context)) {
        state.note({ wasListOffered: true })
        if (end.nextLink === undefined) continue
        yield { slice: key, page: { url: end.nextLink, at: clock.now() } }
      }
    } catch (error) {
      // Not every collection with references is documented to list them here.
      const isUnknown = error instanceof HttpError && error.is('unknown')
      if (stream.nested !== 'referenced_collections' || !isUnknown) throw error
      refusals++
      // If all collections are refused, some of them perhaps to an earlier process, the stream is not offered; treating it
      // as empty would delete everything.
      if (refusals === slices.length || (next === undefined && !state.wasListOffered)) throw error
      keepReferences(key, error, context)
    }
    page = null
    if (next !== undefined) yield { slice: next.key, page }
  }
}

/**
 * Keeps the rows of a collection that was not listed, because they may still exist; also those that a new generation
 * would remove. If deletes of some of them are withheld and not approved, it throws instead.
 */
function keepReferences(collection: string, error: HttpError, context: StreamContext): void {
  const { state, log } = context
  const { stream, keys, mode, startsNoDelta, withheldSince } = state
  const isThere = (key: Key) => collectionOf(key) === collection
  const withheld = withheldSince === null ? [] : keys.soughtAgain().filter(isThere)
  if (withheld.length > 0 && !isApproved(withheld, state, context.config)) throw error
  const kept = keys.keepUnseen('window', isThere)
  const what = `${stream.stream}: the service did not list the references of ${collection} this time`
  const warn = (consequence: string) =>
    log.warn(warningOf('references-not-listed', `${what}, so ${consequence}. ${error.message}`))
  if (startsNoDelta || kept > 0) state.note({ replacesOlder: false })
  if (kept > 0) warn(`the ${kept} that the warehouse may have stay as they are`)
  else if (mode === 'full_refresh' && !startsNoDelta) warn('this full refresh has none of them')
  else log.info(`${what}. ${error.message}`)
}
