import { earlier, later } from '../ground/days.ts'
import type { ServerClock } from '../http/clock.ts'
import type { Stream } from '../streams/collections.ts'
import { type DaySettings, firstKept } from './delta-window.ts'
import type { Position } from './position.ts'
import type { StateValues } from './stored-state.ts'

/** What it depends on whether days leave. */
export interface KeptDays
  extends Pick<StateValues, 'mode' | 'start' | 'leavingFrom' | 'leftFrom' | 'withheldSince'> {
  readonly stream: { readonly stream: string; readonly dateField?: Stream['dateField'] | undefined }
  readonly position: Position
}

/**
 * If the service's time is further ahead of this machine's, it is wrong, and nothing may leave because of it: with a clock
 * that is so late, this machine could not check a certificate.
 */
const MOST_AHEAD_MS = 366 * 86_400_000

/**
 * The days that leave before the stream is read, from `from` to before `start`, although the warehouse may have rows of
 * them; undefined if there are none. A read that an earlier sync has begun is finished first. While deletes are withheld,
 * the days that have left are listed again, because rows that were hidden then are in no later list.
 */
export function leavingDays(
  { stream, mode, position, start: before, leavingFrom, leftFrom, withheldSince }: KeptDays,
  settings: DaySettings,
  clock: Pick<ServerClock, 'now' | 'here'>,
) {
  const { dateField } = stream
  const unfinished = earlier(before, leavingFrom)
  const from = withheldSince === null ? unfinished : earlier(unfinished, leftFrom)
  const [there, here] = [clock.now(), clock.here()]
  const now = there.getTime() - here.getTime() > MOST_AHEAD_MS ? here : there
  const start = later(firstKept(stream.stream, settings, now), before)
  if (from === null || start === null || dateField === undefined) return undefined
  if (from >= start || mode !== 'incremental' || isBegun(position)) return undefined
  return { from, start, dateField }
}

/** Whether an earlier process has begun the read that goes on here. */
function isBegun(position: Position): boolean {
  if (position.phase === 'initial') return position.page !== null
  return position.phase === 'list' && position.until !== null
}
