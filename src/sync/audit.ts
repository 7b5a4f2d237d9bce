import { warningOf } from '../ground/message-ids.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { confirmDeletes, confirmUnmet } from './confirm.ts'
import { addDays } from './days.ts'
import { emitDeletes, emitSlices } from './emit.ts'
import { isNotOffered } from './page-failures.ts'
import { type Slice, slicesOf } from './slices.ts'
import { lastDay, type StreamContext } from './stream-state.ts'
import type { DayRange } from './summed-rows.ts'

/** Whether the last audit of a delta, or its last complete reading, is older than the configuration wants. */
export function isAuditDue({ state, config, clock }: StreamContext): boolean {
  const { position, mode, auditedAt, generation } = state
  if (config.auditDays === 0 || mode !== 'incremental') return false
  if (position.phase !== 'complete' || position.next === 'list') return false
  const isLongAgo = (time: number) => {
    const days = (clock.now().getTime() - time) / 86_400_000
    // One of tomorrow was made under another clock.
    return days >= config.auditDays || days < -1
  }
  return [auditedAt?.getTime() ?? 0, generation * 1000].every(isLongAgo)
}

/**
 * Compares what the delta has told with what the lists have, and mends what differs. The changes have been followed
 * just now; everything is listed and written again; then `followChanges` follows them once more. A row that they do not
 * name has not changed meanwhile, so it must be in the list as the delta has told of it. The state says until the end that
 * the changes are to be followed next, so a sync that takes over after a kill begins the audit anew.
 */
export async function audit(
  context: StreamContext,
  followChanges: () => Promise<void>,
): Promise<void> {
  const { state, output, log, clock, rows } = context
  const { stream, keys, position } = state
  if (position.phase !== 'complete' || position.next === 'list') return
  log.info(
    state.isAuditing
      ? `${stream.stream}: the audit that an earlier sync began was broken off, so it begins anew.`
      : `${stream.stream}: its audit is due, so it is listed whole.`,
  )
  const begunAt = clock.now()
  state.beginAudit()
  await output.state()
  keys.beginAudit()
  const { highestVersion } = keys
  const range = state.start === null ? null : { from: state.start, until: lastDay(context) }
  rows.begin(range)
  if (keys.isTracked) rows.compareWith({ has: keys.has, highestVersion })
  const isListed = await listAll(context, range)
  rows.compareWith(undefined)
  if (isListed) {
    state.moveTo(position.next)
    await followChanges()
    // As after any reading: a page may have been read twice, or a backfill have decided.
    await confirmDeletes(context)
    await emitDeletes(context)
    await mend(context)
  } else {
    log.info(`${stream.stream}: the service offers no list of it, so it cannot be audited.`)
    rows.end()
  }
  state.endAudit(begunAt)
}

/** False where the service offers no list. */
async function listAll(context: StreamContext, range: DayRange | null): Promise<boolean> {
  const { state, config, endpoints, output } = context
  const { stream, position } = state
  const window = position.phase === 'complete' && position.next !== 'list' && position.next.window
  const slices = (days?: DayRange) => slicesOf(stream, days, config, endpoints)
  const begin = { slice: null, page: null }
  const read = async (some: readonly Slice[], place: 'window' | 'backfill') => {
    for await (const _ of emitSlices(some, begin, { place }, context)) await output.checkpoint()
  }
  try {
    if (range === null || !window || window <= range.from) {
      await read(slices(range ?? undefined), 'window')
    } else {
      await read(slices({ from: range.from, until: addDays(window, -1) }), 'backfill')
      await read(slices({ from: window, until: range.until }), 'window')
    }
    return true
  } catch (error) {
    if (isNotOffered(error)) return false
    throw error
  }
}

/** Says what the delta had not told, and deletes what is gone; what the lists have has been written. */
async function mend(context: StreamContext): Promise<void> {
  const { state, log, rows } = context
  const { stream, keys } = state
  const warn = (count: number, what: string) =>
    log.warn(
      warningOf(
        'delta-was-silent',
        `${stream.stream}: the delta had not told of ${many(count, 'row')}: ${what} by the audit.`,
      ),
    )
  const missing = rows.untold('missing', keys.has)
  const newer = rows.untold('newer', keys.has)
  if (missing > 0) warn(missing, 'new in the list, and written')
  if (newer > 0) warn(newer, 'changed in the list, and written again')
  if (keys.unmet().length > 0) {
    const gone = await confirmUnmet(context)
    if (gone.length > 0) {
      warn(gone.length, 'not in the list, not found by a second look either, and deleted')
      keys.unmetAreGone(gone)
      await emitDeletes(context)
    }
    const left = keys.unmet().length
    if (left > 0)
      log.warn(
        warningOf(
          'rows-not-confirmed',
          `${stream.stream}: the audit did not meet ${many(left, 'row')} of the warehouse, and could not ask for each. They stay: they may lie beyond future_days. Read the stream from the beginning if they should not be there.`,
        ),
      )
  }
  if (missing + newer === 0 && keys.unmet().length === 0)
    log.info(`${stream.stream}: the audit found nothing that the delta had not told.`)
}
