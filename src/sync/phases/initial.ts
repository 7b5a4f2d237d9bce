import { deltaWindow } from '../days.ts'
import { emitDelta } from '../emit-delta.ts'
import { isNotOffered } from '../not-offered.ts'
import { type Changes, type Initial, LIST, type Link, type Position } from '../position.ts'
import { deltaStart } from '../slices.ts'
import type { StreamContext } from '../stream-context.ts'
import { beginBackfill, hasBackfill } from './backfill.ts'

/** Reads the first phase of a delta: everything in its window. */
export async function initial(position: Initial, context: StreamContext): Promise<Position> {
  const { reading, config, endpoints, clock, log } = context
  const { stream, start } = reading
  const { page, maybeConsumed } = position
  const window = page === null ? deltaWindow(start, clock.now()) : position.window
  const first = page?.url ?? deltaStart(stream, window, config, endpoints)
  const kind = page === null ? 'start' : 'next'
  let delta: Link
  try {
    delta = await emitDelta(first, kind, context, { place: 'window' }, (next) => ({
      phase: 'initial',
      page: next,
      window,
      maybeConsumed,
    }))
  } catch (error) {
    if (!isNotOffered(error)) throw error
    // Not every delta is documented; what the service does not offer is listed whole instead.
    log.warn(
      `${stream.stream}: the service offers no delta of it, so it is listed whole at each sync.`,
    )
    return LIST
  }
  const changes: Changes = {
    phase: 'changes',
    delta,
    // The STATE of this moment says so at once; an older one is of this phase, and says "maybe".
    requested: true,
    maybeConsumed,
    window,
    backfilledAt: null,
  }
  return hasBackfill(start, window) ? beginBackfill(changes, reading) : changes
}
