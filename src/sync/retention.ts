import { addDays, earlier, isLater, isWhole } from '../ground/days.ts'
import { warningOf } from '../ground/message-ids.ts'
import { deleteRows, type StreamContext } from './emit.ts'
import { leavingDays } from './leaving-days.ts'
import { readExtraLists } from './lists.ts'
import { lossesAt } from './losses.ts'

/**
 * Deletes the rows of the days that the warehouse no longer keeps. These days are listed once more, because the state has
 * the ids of rows, but not their days. Before that, a state has both first days: after a kill, the next sync goes on, or
 * reads the stream from the beginning if these days are kept again.
 */
export async function leaveDays(context: StreamContext): Promise<void> {
  const { state, config, output, clock, log } = context
  const { stream, keys, position } = state
  const leaving = leavingDays(state, config, clock)
  if (leaving === undefined) return
  const { from, start, dateField } = leaving
  const before = output.counts.deletes
  state.note({ start, leavingFrom: from })
  // The deletes have cursors that a state must know.
  await output.checkpoint({ flush: true })
  // All days before the window leave: no list is needed, and the service may have none.
  if (position.phase === 'changes' && !isLater(position.window, start))
    await deleteRows(keys.leave('history'), context)
  const range = { from, until: addDays(start, -1) }
  const outcome = await readExtraLists({ purpose: 'departure', range }, context)
  // The next sync reads a list that has failed, which has been told.
  if (outcome === 'failed') return
  if (outcome === 'not offered') {
    log.warn(
      warningOf(
        'days-not-listed',
        `${stream.stream}: the days before ${start} are no longer kept, but the service does not list them, so rows of these days stay until it does.`,
      ),
    )
    return
  }
  state.note({
    leavingFrom: null,
    leftFrom: earlier(from, state.leftFrom),
    auditedParts: new Map([...state.auditedParts].filter(([part]) => isWhole(part, start))),
    losses: lossesAt(clock.now(), state.losses, state.countRows('all')),
  })
  output.note({ type: 'left', field: dateField, day: start })
  await output.checkpoint({ flush: true })
  log.info(
    `${stream.stream}: days before ${start} are no longer kept, and their rows are deleted: ${output.counts.deletes - before}.`,
  )
}
