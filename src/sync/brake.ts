import { ConnectorError } from '../ground/errors.ts'
import { limitText, mostOf } from '../ground/limit.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { Key } from '../rows/id-set.ts'
import { emitDeletes, type StreamContext } from './emit.ts'
import {
  type Excess,
  excessOf,
  isApproved,
  type Losses,
  lossesAt,
  lossesWith,
  wereWithheld,
} from './losses.ts'

/** Above this share of the rows, deletes are worth a warning. */
const MANY = { percent: 5 }

/**
 * Whether the rows that no read has found may be deleted. If they are too many to be plausible, they may not, unless that
 * was approved: an API client that has lost a right gets answers that are consistent and too small.
 */
export function mayDelete(context: StreamContext): boolean {
  return (
    excess(context) === undefined ||
    isApproved(context.state.keys.gone(), context.state, context.config)
  )
}

function excess(context: StreamContext): Excess | undefined {
  const { state, config } = context
  if (state.haveOtherKeys) return undefined
  return excessOf(lossesOf(context), state.countRows('unseen'), config.maxMissing)
}

/** Until a complete read has ended, all rows that are known count: it has written them itself. */
function lossesOf({ state, clock }: StreamContext): Losses {
  const { losses, wholeRows } = state
  if (losses !== null && wholeRows !== null) return losses
  return lossesAt(clock.now(), null, state.countRows('all'))
}

/**
 * Deletes the rows that no read has found, if that may be. Otherwise it keeps them, stores the state and throws: they count
 * as existing, and the next sync looks for them.
 */
export async function deleteMissing(context: StreamContext): Promise<void> {
  const { state, config, clock } = context
  const { keys } = state
  // The service may offer no way to look for them any more.
  const notSought = state.withheldSince === null ? [] : keys.unconfirmed()
  if (notSought.length > 0 && isApproved([...keys.gone(), ...notSought], state, config))
    keys.markGone(notSought)
  const missing = state.countRows('unseen')
  const gone = keys.gone()
  const count = gone.length
  const over = excess(context)
  if (over !== undefined && !isApproved(gone, state, config)) {
    state.keepGone()
    state.note({ withheldSince: sinceOf(gone, context) })
    await emitDeletes(context)
    return refuse(count, textOf(over, count, context), context)
  }
  warnOfMany(context)
  const losses = lossesOf(context)
  const isLoss = over === undefined && !state.haveOtherKeys
  await emitDeletes(context)
  // Deletes that were meant do not count against later ones.
  if (count > 0)
    state.note({
      losses: isLoss
        ? lossesWith(losses, missing, clock.now())
        : lossesAt(clock.now(), null, state.countRows('all')),
    })
  const left = state.withheldSince === null ? [] : keys.unconfirmed()
  if (left.length > 0) {
    // The approval has been used.
    state.note({ withheldSince: over === undefined ? sinceOf(left, context) : clock.now() })
    const what = `${left.length} rows of ${state.stream.stream} that an earlier sync has not found could not be looked for again.`
    return refuse(left.length, what, context)
  }
  state.note({ withheldSince: null })
}

/** Since when the deletes of these rows are withheld: if there are others than before, an earlier approval is not for them. */
function sinceOf(rows: readonly Key[], { state, clock }: StreamContext): Date {
  return (wereWithheld(rows, state) ? state.withheldSince : null) ?? clock.now()
}

function warnOfMany(context: StreamContext): void {
  const { state, log } = context
  if (state.haveOtherKeys) return
  const losses = lossesOf(context)
  for (const [part, missing] of state.countRows('unseen')) {
    const { rows = 0 } = losses.get(part) ?? {}
    if (missing <= mostOf(rows, MANY)) continue
    log.warn(
      warningOf(
        'many-rows-missing',
        `${placeOf(part, context)}: ${missing} of ${rows} rows were not found, and are deleted. If they exist, the API client can no longer see them: check its rights.`,
      ),
    )
  }
}

/**
 * Warns if the delta has reported more deletes than may be concluded from missing rows. They are deleted, because it
 * names them.
 */
export function warnOfReported(context: StreamContext): void {
  const { state, config, log } = context
  const { reportedCount } = state.keys
  const rows = [...lossesOf(context).values()].reduce((sum, part) => sum + part.rows, 0)
  if (reportedCount <= mostOf(rows, config.maxMissing)) return
  log.warn(
    warningOf(
      'many-deletes',
      `${state.stream.stream}: the service reported ${reportedCount} of ${rows} rows as deleted, and they are deleted.`,
    ),
  )
}

/** Ends a read that has withheld deletes of so many rows: everything else of it is written, and its state is stored. */
async function refuse(rows: number, what: string, context: StreamContext): Promise<never> {
  const { state, output, config } = context
  output.note({ type: 'withheld', rows })
  await output.checkpoint({ flush: true })
  const approval = `${state.stream.stream}:${rows}:${state.withheldSince?.toISOString()}`
  throw new ConnectorError(
    'config',
    'deletes-withheld',
    `${what} max_missing allows ${limitText(config.maxMissing)}, so none of them is deleted; new and changed rows have been written. Check whether the API client may still see everything. The approval for deleting them is ${approval}.`,
  )
}

function textOf(
  { part, missing, rows, deleted }: Excess,
  count: number,
  context: StreamContext,
): string {
  const { stream } = context.state.stream
  const place = placeOf(part, context)
  const before = deleted > 0 ? `, after ${deleted} others in the last thirty days` : ''
  const all = missing < count ? ` In all of ${stream}, ${count} are missing.` : ''
  return `${missing} of the ${rows} rows of ${place} were not found${before}.${all}`
}

function placeOf(part: string, { state }: StreamContext): string {
  const { stream } = state.stream
  return part === '' ? stream : `${part} in ${stream}`
}
