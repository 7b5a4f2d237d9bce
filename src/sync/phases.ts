import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { HttpError } from '../http/http-error.ts'
import { addDays, type Day, deltaWindow } from './days.ts'
import { changedRows, emitDelta, emitPages, emitSlices } from './emit.ts'
import { isNotOffered } from './page-failures.ts'
import {
  type Backfill,
  type Changes,
  type Initial,
  LIST,
  type List,
  type Position,
} from './position.ts'
import { deltaStart, slicesOf } from './slices.ts'
import { lastDay, type StreamContext, type StreamState } from './stream-state.ts'

/** Whether the stream includes days before its delta's window, which only lists cover. */
function hasBackfill(start: Day | null, window: Day | null): boolean {
  return start !== null && window !== null && start < window
}

/** Whether the last backfill is missing, or older than the configuration allows. */
export function isBackfillDue(
  { window, backfilledAt }: Changes,
  { state, config, clock }: StreamContext,
): boolean {
  if (!hasBackfill(state.start, window)) return false
  if (backfilledAt === null) return true
  const days = (clock.now().getTime() - backfilledAt.getTime()) / 86_400_000
  // A backfill in the future was made under another clock.
  return config.historyRefreshDays > 0 && (days >= config.historyRefreshDays || days < -1)
}

export function beginBackfill(changes: Changes, state: StreamState): Backfill {
  state.keys.beginBackfill()
  return {
    phase: 'backfill',
    slice: null,
    page: null,
    until: addDays(changes.window ?? '', -1),
    begunAt: null,
    changes,
  }
}

/** Reads the lists of the days before the delta's window. */
export async function backfill(position: Backfill, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, log } = context
  const { stream, start, keys } = state
  const { until, changes } = position
  const isResumed = position.slice !== null || position.page !== null
  const begunAt = position.begunAt ?? clock.now()
  const slices = slicesOf(stream, { from: start ?? until, until }, config, endpoints)
  // A backfill that no later one corrects must not contain rows of an earlier sync.
  let isOver = !isResumed || config.historyRefreshDays > 0
  try {
    for await (const listing of emitSlices(slices, position, { place: 'backfill' }, context)) {
      state.moveTo({ ...position, ...listing, begunAt })
      await output.checkpoint()
    }
  } catch (error) {
    if (!isNotOffered(error)) throw error
    log.warn(
      warningOf(
        'history-not-listed',
        `${stream.stream}: the service offers no list of this stream, so days before ${changes.window} cannot be read, and rows that vanished before this read do not become deletes.`,
      ),
    )
    keys.keepUnseen('backfill')
    state.keepOlder()
    // The next sync tries again, because the refusal may be temporary.
    isOver = false
  }
  return { ...changes, requested: false, backfilledAt: isOver ? begunAt : null }
}

/** Follows the delta link once, and reads everything that changed since the service sent it. */
export async function changes(position: Changes, context: StreamContext): Promise<Position> {
  const { state, output, pages } = context
  const requested: Changes = { ...position, requested: true }
  if (!position.requested) {
    state.moveTo(requested)
    // If this process dies before the answer is written, the next one must know about the request.
    await output.state()
  }
  // If a row was deleted while several pages were read, another row may have moved to a page that was read before.
  const mayHaveMoved = !state.isSettled && (state.isContinued || pages.count > 1)
  const rows = changedRows(state.stream.dateField, state.start, position.window, () => {
    if (mayHaveMoved) state.makeListDue()
  })
  let { delta } = position
  for await (const { link, isLast } of emitDelta(delta.url, 'delta', context, rows)) {
    delta = link
    if (isLast) continue
    state.moveTo({ ...requested, delta })
    await output.checkpoint()
  }
  return { phase: 'complete', next: { ...position, delta, requested: false, maybeConsumed: false } }
}

/** Reads the first phase of a delta: all rows in its window. */
export async function initial(position: Initial, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, log } = context
  const { stream, start } = state
  const { page, maybeConsumed } = position
  const window = page === null ? deltaWindow(start, clock.now()) : position.window
  const kind = page === null ? 'start' : 'next'
  let delta = page ?? { url: deltaStart(stream, window, config, endpoints), at: null }
  try {
    for await (const { link, isLast } of emitDelta(delta.url, kind, context, { place: 'window' })) {
      delta = link
      state.deltaAnswered()
      if (isLast) continue
      state.moveTo({ phase: 'initial', page: link, window, maybeConsumed })
      await output.checkpoint()
    }
  } catch (error) {
    if (!isNotOffered(error)) throw error
    if (state.wasDeltaOffered) throw refusedDelta(error)
    // Not every collection with a documented list has a delta; without one, the whole list is read.
    log.warn(
      warningOf(
        'no-delta-offered',
        `${stream.stream}: the service offers no delta of this stream, so the whole list is read at each sync.`,
      ),
    )
    return LIST
  }
  const changes: Changes = {
    phase: 'changes',
    delta,
    // The STATE of this moment has it immediately; a state of this phase only says "maybe".
    requested: true,
    maybeConsumed,
    window,
    backfilledAt: null,
  }
  return hasBackfill(start, window) ? beginBackfill(changes, state) : changes
}

/** The error for a delta that the service offered before and now refuses. A list instead would cover other days. */
function refusedDelta(error: HttpError): ConnectorError {
  return new ConnectorError(
    'transient',
    'delta-refused',
    `The service refused the delta of this collection, which it offered before. Nothing is lost, and the next sync tries again; if the service no longer offers this delta, reset the stream, and its list is read instead. ${error.message}`,
    { cause: error },
  )
}

/**
 * Reads a whole list: of a stream without a delta, or of a full refresh. An interrupted list continues with its page.
 * Rows that an earlier sync read are then older than the others, so an incremental stream is listed a second time.
 */
export async function list(position: List, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, rows, account } = context
  const { stream, start, mode } = state
  const until = position.until ?? lastDay(context)
  if (start !== null) state.listUntil(until)
  const range = start === null ? undefined : { from: start, until }
  const slices = slicesOf(stream, range, config, endpoints)
  const isResumed = position.until !== null
  if (config.auditDays > 0 && account !== undefined && !isResumed) rows.begin(range ?? null)
  try {
    for await (const listing of emitSlices(slices, position, { place: 'window' }, context)) {
      state.moveTo({ phase: 'list', ...listing, until })
      await output.checkpoint()
    }
  } catch (error) {
    if (stream.replication !== 'delta' || !isNotOffered(error)) throw error
    if (mode === 'incremental') {
      // The delta was refused before the list, perhaps temporarily: the next sync requests it first.
      state.beginAnew(clock.now())
      await output.state()
      throw error
    }
    if (state.startsNoDelta) throw withoutList(error)
    await readByDelta(context)
  }
  if (!isResumed || mode === 'full_refresh') return { phase: 'complete', next: 'list' }
  state.beginAnew(clock.now(), LIST)
  return LIST
}

function withoutList(error: HttpError): ConnectorError {
  return new ConnectorError(
    'config',
    'no-list',
    'The service offers no list of this stream, and this command starts no delta.',
    { cause: error },
  )
}

/** Reads a stream without a list by the first phase of a delta, which has the same rows. */
async function readByDelta(context: StreamContext): Promise<void> {
  const { state, config, endpoints, clock, log } = context
  const { stream, start } = state
  log.warn(
    warningOf(
      'delta-for-full-refresh',
      `${stream.stream}: the service offers no list of this stream, so a full refresh starts a delta to read it. This ends another consumer's delta of this collection.`,
    ),
  )
  const link = deltaStart(stream, deltaWindow(start, clock.now()), config, endpoints)
  // A list cannot be continued from the pages of a delta, so there are no checkpoints.
  for await (const _ of emitPages(link, 'start', context, {}));
}
