import { addDays, earlier, isLater, later } from '../ground/days.ts'
import { warningOf } from '../ground/message-ids.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { firstKept } from './delta-window.ts'
import { deleteRows, type StreamContext } from './emit.ts'
import { readExtraLists } from './lists.ts'
import { lossesAt } from './losses.ts'
import type { Position } from './position.ts'

/**
 * If the service's time is further ahead of this machine's, it is wrong, and nothing may leave because of it: with a clock
 * that is so late, this machine could not check a certificate.
 */
const MOST_AHEAD_MS = 366 * 86_400_000

/**
 * Deletes the rows of the days that the warehouse no longer keeps. These days are listed once more, because the state has
 * the ids of rows, but not their days. Before that, a state has both first days: after a kill, the next sync goes on, or
 * reads the stream from the beginning if these days are kept again. A read that an earlier sync has begun is finished
 * first.
 *
 * While deletes are withheld, the days that have left are listed again, because rows that were hidden then are in no later list.
 */
export async function leaveDays(context: StreamContext): Promise<void> {
  const { state, config, output, clock, log } = context
  const { stream, keys, mode, position, withheldSince } = state
  const { dateField } = stream
  const unfinished = earlier(state.start, state.leavingFrom)
  const from = withheldSince === null ? unfinished : earlier(unfinished, state.leftFrom)
  const [there, here] = [clock.now(), new Date()]
  const now = there.getTime() - here.getTime() > MOST_AHEAD_MS ? here : there
  const start = later(firstKept(stream.stream, config, now), state.start)
  if (from === null || start === null || dateField === undefined) return
  if (from >= start || mode !== 'incremental' || isBegun(position)) return
  const before = output.counts.deletes
  state.note({ start, leavingFrom: from })
  // The deletes have cursors that a state must know.
  await output.checkpoint({ flush: true })
  // All days before the window leave: no list is needed, and the service may have none.
  if (position.phase === 'changes' && !isLater(position.window, start))
    await deleteRows(keys.leave('history'), context)
  const range = { from, until: addDays(start, -1) }
  if ((await readExtraLists({ purpose: 'departure', range }, context)) !== 'read') {
    log.warn(
      warningOf(
        'days-not-listed',
        `${stream.stream}: the days before ${start} are no longer kept, but their rows stay, because the service does not list them.`,
      ),
    )
    return
  }
  const month = start.slice(0, 7)
  const isWhole = (part: string) => part > month || (part === month && start.endsWith('-01'))
  state.note({
    leavingFrom: null,
    leftFrom: earlier(from, state.leftFrom),
    auditedParts: new Map([...state.auditedParts].filter(([part]) => isWhole(part))),
    losses: lossesAt(clock.now(), state.losses, state.countRows('all')),
  })
  output.note({ type: 'left', field: dateField, day: start })
  await output.checkpoint({ flush: true })
  log.info(
    `${stream.stream}: ${many(output.counts.deletes - before, 'row')} of days before ${start} are no longer kept, and deleted.`,
  )
}

/** Whether an earlier process has begun the read that goes on here. */
function isBegun(position: Position): boolean {
  if (position.phase === 'initial') return position.page !== null
  return position.phase === 'list' && position.until !== null
}
