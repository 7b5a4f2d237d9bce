import { DeadLinkError } from '../pages/page-failures.ts'
import { deleteMissing, mayDelete, warnOfReported } from './brake.ts'
import { confirmMissing, confirmUnconfirmed } from './confirm.ts'
import { changes, initial } from './delta.ts'
import { nextComparison } from './due.ts'
import type { StreamContext } from './emit.ts'
import { list } from './lists.ts'
import { reasonOfDeadLink } from './plan.ts'
import type { Position } from './position.ts'
import { reconcile } from './reconcile.ts'
import { leaveDays } from './retention.ts'
import { failureOfRestart } from './stream-failures.ts'

/**
 * Reads one stream completely: from the position in its state, and from the beginning again if a link is dead. It
 * gives up when an attempt reads no more pages than the best one before it.
 */
export async function readStream(context: StreamContext): Promise<void> {
  const { state, output, log, inventory } = context
  inventory?.begun(state)
  output.started(() => state.blob(), state.begunFrom)
  try {
    if (state.isRefreshed)
      log.info(
        `${state.stream.stream}: an earlier attempt of this full refresh has written all of it, so nothing is read.`,
      )
    else await readToEnd(context)
    await output.complete()
  } finally {
    // The last state may be the first one into which the ids do not fit.
    if (state.mode === 'incremental' && !state.keys.isTracked) output.note({ type: 'untracked' })
  }
}

async function readToEnd(context: StreamContext): Promise<void> {
  const { state, pages, clock, output, expiredDeltas } = context
  for (let best = -1; ; ) {
    pages.restartCount()
    try {
      await readPhases(context)
      return
    } catch (error) {
      if (!(error instanceof DeadLinkError)) throw error
      const reason = reasonOfDeadLink(error, state.position, clock.now())
      if (reason.isQuiet) expiredDeltas.add(state.stream.stream, pages.count > 0)
      const { mode, refresh, keys } = state
      const attempt = { mode, refresh, isTracked: keys.isTracked, pages: pages.count, best }
      const failure = failureOfRestart(error, attempt)
      // The rows stay if the next sync may belong to the same refresh.
      if (failure?.id === 'refresh-not-repeated' && refresh === null) {
        state.beginAnew()
        await output.checkpoint({ flush: true })
      }
      if (failure !== undefined) throw failure
      best = pages.count
      state.startOver(reason)
      output.note({ type: 'started over', start: state.begunFrom })
    }
  }
}

/**
 * Reads all phases of a stream, writes deletes of the rows that were not found, and compares the stream with its lists
 * when that is due.
 */
async function readPhases(context: StreamContext): Promise<void> {
  const { state, config, clock, inventory, parts } = context
  parts.end()
  const wasSettled = state.isSettled
  await beginSync(context)
  await readToComplete(context)
  const { comparedAt } = state
  await confirmMissing(context)
  // A complete read has just had all rows, but for those of a response that was lost behind it.
  const isWorthwhile = wasSettled || state.mayLackChanges
  // What is withheld is looked for first. A list that has failed in this sync does not delay another one.
  const mayCompare = isWorthwhile && state.withheldSince === null && mayDelete(context)
  const reason = mayCompare
    ? nextComparison({ ...state, comparedAt: state.comparedAt && comparedAt }, config, clock.now())
    : undefined
  if (reason !== undefined) await deleteMissing(context)
  const compared = reason && (await reconcile(reason, context))
  await confirmUnconfirmed(context, compared)
  inventory?.note(state.keys, parts)
  warnOfReported(context)
  await deleteMissing(context)
}

/** Reads phase after phase, until everything of this sync has been read. */
async function readToComplete(context: StreamContext): Promise<void> {
  const { state, output } = context
  for (;;) {
    state.moveTo(await read(state.position, context))
    if (state.position.phase === 'complete') return
    await output.checkpoint()
  }
}

/** Prepares a sync: a whole list is read again at each sync. */
async function beginSync(context: StreamContext): Promise<void> {
  const { state, output } = context
  // The service may offer a delta now that it did not offer at the last sync.
  if (state.position.phase === 'complete') state.beginAnew()
  // If a sync is killed before its first state, no state knows the cursors that it has written. The changes of a
  // delta begin with a state anyway.
  if (state.position.phase !== 'changes' || state.position.requested) await output.checkpoint()
  await leaveDays(context)
}

async function read(position: Position, context: StreamContext): Promise<Position> {
  switch (position.phase) {
    case 'initial':
      return initial(position, context)
    case 'changes':
      return changes(position, context)
    case 'list':
      return list(position, context)
    case 'complete':
      return position
  }
}
