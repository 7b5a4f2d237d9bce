import { addDays, earlier, isLater } from '../ground/days.ts'
import { warningOf } from '../ground/message-ids.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { deleteRows, type StreamContext } from './emit.ts'
import { readExtraLists } from './lists.ts'
import { lossesAt } from './losses.ts'
import type { Position } from './position.ts'

/**
 * Deletes the rows of the days that the warehouse no longer keeps. These days are listed once more, because the state has
 * the ids of rows, but not their days. It has the earlier first day until all of this is written, so that the next sync
 * begins anew after a kill. A read that an earlier sync has begun is finished first.
 *
 * While deletes are withheld, the days that have left are listed again, because rows that were hidden then are in no later list.
 */
export async function leaveDays(context: StreamContext): Promise<void> {
  const { state, output, clock, log } = context
  const { stream, start, keys, mode, position, withheldSince } = state
  const { dateField } = stream
  const keptFrom = state.keptFrom ?? start
  const leftFrom = earlier(start, state.leftFrom)
  const from = withheldSince === null ? start : leftFrom
  if (from === null || keptFrom === null || !isLater(keptFrom, from)) return
  if (dateField === undefined) return
  if (mode !== 'incremental' || isBegun(position)) return
  const before = output.counts.deletes
  // The deletes have cursors that a state must know.
  await output.checkpoint({ flush: true })
  // All days before the window leave: no list is needed, and the service may have none.
  if (position.phase === 'changes' && !isLater(position.window, keptFrom))
    await deleteRows(keys.leave('history'), context)
  const range = { from, until: addDays(keptFrom, -1) }
  if ((await readExtraLists({ purpose: 'departure', range }, context)) !== 'read') {
    log.warn(
      warningOf(
        'days-not-listed',
        `${stream.stream}: the days before ${keptFrom} are no longer kept, but their rows stay, because the service does not list them.`,
      ),
    )
    return
  }
  const month = keptFrom.slice(0, 7)
  const isWhole = (part: string) => part > month || (part === month && keptFrom.endsWith('-01'))
  state.note({
    start: keptFrom,
    keptFrom: null,
    leftFrom,
    auditedParts: new Map([...state.auditedParts].filter(([part]) => isWhole(part))),
    losses: lossesAt(clock.now(), state.losses, state.countRows('all')),
  })
  output.note({ type: 'left', field: dateField, day: keptFrom })
  await output.checkpoint({ flush: true })
  log.info(
    `${stream.stream}: ${many(output.counts.deletes - before, 'row')} of days before ${keptFrom} are no longer kept, and deleted.`,
  )
}

/** Whether an earlier process has begun the read that goes on here. */
function isBegun(position: Position): boolean {
  if (position.phase === 'initial') return position.page !== null
  return position.phase === 'list' && position.until !== null
}
