import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { HttpError } from '../http/http-error.ts'
import { addDays, type Day, deltaWindow } from './days.ts'
import { emitPages, emitSlices } from './emit.ts'
import { isNotOffered } from './page-failures.ts'
import { type Backfill, type Changes, LIST, type List, type Position } from './position.ts'
import { deltaStart, slicesOf } from './slices.ts'
import { lastDay, type StreamContext, type StreamState } from './stream-state.ts'

/** Whether the stream includes days before its delta's window, which only lists cover. */
export function hasBackfill(start: Day | null, window: Day | null): boolean {
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

/**
 * Reads a whole list: of a stream without a delta, or of a full refresh. An interrupted list continues with its page.
 * Rows that an earlier sync read are then older than the others, so an incremental stream is listed a second time.
 */
export async function list(position: List, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, rows, inventory } = context
  const { stream, start, mode } = state
  const until = position.until ?? lastDay(context)
  if (start !== null) state.listUntil(until)
  const range = start === null ? undefined : { from: start, until }
  const slices = slicesOf(stream, range, config, endpoints)
  const isResumed = position.until !== null
  if (config.auditDays > 0 && inventory !== undefined && !isResumed) rows.begin(range ?? null)
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
