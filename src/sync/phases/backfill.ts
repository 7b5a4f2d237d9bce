import { addDays, type Day } from '../days.ts'
import { emitSlices } from '../emit-slices.ts'
import { isNotOffered } from '../not-offered.ts'
import type { Backfill, Changes, Position } from '../position.ts'
import type { Reading } from '../reading.ts'
import { slicesOf } from '../slices.ts'
import type { StreamContext } from '../stream-context.ts'

/** Whether the stream stands for days before its delta's window, which only lists can tell of. */
export function hasBackfill(start: Day | null, window: Day | null): boolean {
  return start !== null && window !== null && start < window
}

/** Whether the last backfill is older than the configuration wants, or missing. */
export function isBackfillDue(
  { window, backfilledAt }: Changes,
  { reading, config, clock }: StreamContext,
): boolean {
  if (!hasBackfill(reading.start, window)) return false
  if (backfilledAt === null) return true
  const days = (clock.now().getTime() - backfilledAt.getTime()) / 86_400_000
  // One of tomorrow was made under another clock.
  return config.historyRefreshDays > 0 && (days >= config.historyRefreshDays || days < -1)
}

export function beginBackfill(changes: Changes, reading: Reading): Backfill {
  reading.keys.beginBackfill()
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
  const { reading, config, endpoints, clock, output, log } = context
  const { stream, start, keys } = reading
  const { until, changes } = position
  const isResumed = position.slice !== null || position.page !== null
  const begunAt = position.begunAt ?? clock.now()
  const slices = slicesOf(stream, { from: start ?? until, until }, config, endpoints)
  // A backfill that no later one follows must not have rows of an earlier sync.
  let isOver = !isResumed || config.historyRefreshDays > 0
  try {
    for await (const listing of emitSlices(slices, position, 'backfill', context)) {
      reading.moveTo({ ...position, ...listing, begunAt })
      await output.checkpoint()
    }
  } catch (error) {
    if (!isNotOffered(error)) throw error
    log.warn(
      `${stream.stream}: the service offers no list of it, so days before ${changes.window} cannot be read, and rows that vanished before this reading are not turned into deletes.`,
    )
    keys.keepUnseen('backfill')
    reading.keepOlder()
    // The next sync tries again: it may have been a passing refusal.
    isOver = false
  }
  return { ...changes, requested: false, backfilledAt: isOver ? begunAt : null }
}
