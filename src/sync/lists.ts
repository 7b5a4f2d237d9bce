import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { HttpError } from '../http/http-error.ts'
import { isNotOffered } from '../pages/page-failures.ts'
import { deltaStart, slicesOf } from '../pages/slices.ts'
import { deltaWindow } from './delta-window.ts'
import { emitPages, emitSlices } from './emit.ts'
import { type Changes, LIST, type List, type Position } from './position.ts'
import { lastDay, type StreamContext } from './stream-state.ts'

/**
 * Reads lists: of a stream without a delta, of a full refresh, or of the days before a delta's window. Interrupted lists
 * continue with their page. Rows that an earlier sync read are then older than the others: an incremental stream is
 * listed a second time, and the days before the window are compared with their lists by the next sync.
 */
export async function list(position: List, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, parts, inventory } = context
  const { stream, start, mode } = state
  const { history } = position
  const until = position.until ?? lastDay(context)
  const begunAt = history?.begunAt ?? clock.now()
  const isResumed = position.slice !== null
  const range = start === null ? undefined : { from: start, until }
  if (history === null) {
    if (start !== null) state.listUntil(until)
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
    if (history !== null) return withoutHistory(history.changes, context)
    await listElsewhere(error, context)
  }
  if (history !== null) {
    const isOver = !isResumed || config.historyRefreshDays > 0
    return { ...history.changes, requested: false, historyAt: isOver ? begunAt : null }
  }
  if (!isResumed || mode === 'full_refresh') return { phase: 'complete', next: 'list' }
  state.beginAnew(clock.now(), LIST)
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
  state.keepOlder()
  return { ...changes, requested: false, historyAt: null }
}

/** Reads a stream with a delta whose list the service does not offer, if there is another way. */
async function listElsewhere(error: HttpError, context: StreamContext): Promise<void> {
  const { state, clock, output } = context
  if (state.mode === 'incremental') {
    // The delta was refused before the list, perhaps temporarily: the next sync requests it first.
    state.beginAnew(clock.now())
    await output.checkpoint({ flush: true })
    throw error
  }
  if (state.startsNoDelta) throw withoutList(error)
  await readByDelta(context)
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
  for await (const _ of emitPages(link, 'start', context, { purpose: 'rows' }));
}
