import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { isNotOffered, type LinkKind } from '../pages/page-failures.ts'
import { deltaStart } from '../pages/slices.ts'
import type { Key } from '../rows/id-set.ts'
import { changedRows, type Leaving } from '../rows/row-treatment.ts'
import { deltaWindow } from './delta-window.ts'
import { type EmitSettings, emit, type StreamContext } from './emit.ts'
import {
  type Changes,
  changesAfter,
  hasHistory,
  historyOf,
  type Initial,
  LIST,
  type Link,
  type Position,
} from './position.ts'
import { conflictOn, refusedDelta, withoutDeltaLink } from './stream-failures.ts'

/** Reads the first phase of a delta: all rows in its window. */
export async function initial(position: Initial, context: StreamContext): Promise<Position> {
  const { state, config, endpoints, clock, output, log } = context
  const { stream, start } = state
  const { page, maybeConsumed } = position
  const window = page === null ? deltaWindow(start, clock.now()) : position.window
  const kind = page === null ? 'start' : 'next'
  let delta = page ?? { url: deltaStart(stream, window, config, endpoints), at: null }
  try {
    const pages = emitDelta(delta.url, kind, context, { purpose: 'rows' })
    for await (const { link, isLast } of pages) {
      delta = link
      state.note({ wasDeltaOffered: true })
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
    historyAt: null,
  }
  return hasHistory(start, window) ? historyOf(changes) : changes
}

/** Follows the delta link once, and reads everything that changed since the service sent it. */
export async function changes(position: Changes, context: StreamContext): Promise<Position> {
  const { state, output } = context
  const requested: Changes = { ...position, requested: true }
  // A service that sends changes once only does not send again what an earlier process has not written.
  if (position.maybeConsumed) state.loseChanges()
  if (!position.requested) {
    state.moveTo(requested)
    // If this process dies before the answer is written, the next one must know about the request.
    await output.checkpoint({ flush: true })
  }
  const { stream, start } = state
  const rows = changedRows(stream.dateField, start, position.window, leaving(context))
  const settings = { ...rows, purpose: 'changes' } as const
  let { delta } = position
  for await (const { link, isLast } of emitDelta(delta.url, 'delta', context, settings)) {
    delta = link
    if (isLast) continue
    state.moveTo({ ...requested, delta })
    await output.checkpoint()
  }
  return { phase: 'complete', next: { ...position, delta, requested: false, maybeConsumed: false } }
}

/** Follows the delta link of a stream that is complete once more; does nothing for a stream that is listed. */
export async function followChanges(context: StreamContext): Promise<void> {
  const { state } = context
  const next = changesAfter(state.position)
  if (next === undefined) return
  state.moveTo(next)
  state.moveTo(await changes(next, context))
}

/**
 * A first phase of several pages is no snapshot. If a row left while it was read, another row may have moved to a page
 * that was read before. If its order may move, a change of any row that it has met may have done so. The changes no
 * longer show that a row was away for a while: between two syncs there is enough time for that.
 */
function leaving({ state, pages }: StreamContext): Leaving | undefined {
  const { isContinued, isSettled, mayHaveMoved, keys } = state
  if (isSettled || !(isContinued || pages.count > 1)) return undefined
  const isMovable = isContinued || mayHaveMoved
  const onLeft = () => state.note({ isListDue: true })
  // An earlier process has met rows marked as deleted of which no state knows.
  const mayReturn = (key: Key) => isMovable && (isContinued || keys.mayHaveMet(key))
  return { mayReturn, onLeft }
}

/**
 * Writes the records of a delta from `first` on, and yields the link at the end of each page: to the next page, or on the
 * last page to later changes.
 */
async function* emitDelta(
  first: string,
  kind: LinkKind,
  context: StreamContext,
  settings: EmitSettings,
): AsyncGenerator<{ readonly link: Link; readonly isLast: boolean }, void> {
  const { state, output, clock, endpoints } = context
  const of = requestUrl({ path: `/${state.stream.collection}` }, endpoints)
  try {
    const pages = emit(first, kind, { ...settings, of }, context)
    for await (const { nextLink, deltaLink } of pages) {
      const link = nextLink ?? deltaLink
      if (link === undefined) throw withoutDeltaLink(state.isContinued)
      yield { link: { url: link, at: clock.now() }, isLast: nextLink === undefined }
    }
  } catch (error) {
    if (!(error instanceof HttpError && error.is('conflict'))) throw error
    const { position } = state
    const failure = conflictOn(error, position)
    if (failure instanceof ConnectorError) {
      if (position.phase === 'changes') state.moveTo({ ...position, requested: false })
      await output.checkpoint({ flush: true })
    }
    throw failure
  }
}
