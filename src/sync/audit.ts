import { warningOf } from '../ground/message-ids.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { confirmDeletes, confirmUnmet } from './confirm.ts'
import { addDays } from './days.ts'
import { emitDeletes, emitSlices } from './emit.ts'
import type { Key } from './id-set.ts'
import type { LatestChange } from './latest-changes.ts'
import { isNotOffered } from './page-failures.ts'
import { type Slice, slicesOf } from './slices.ts'
import { lastDay, type StreamContext } from './stream-state.ts'
import type { DayRange } from './summed-rows.ts'

/**
 * Whether the last audit or complete read of a stream with a delta is older than the configuration wants.
 */
export function isAuditDue({ state, config, clock }: StreamContext): boolean {
  const { position, mode, auditedAt, generation } = state
  if (config.auditDays === 0 || mode !== 'incremental') return false
  if (position.phase !== 'complete' || position.next === 'list') return false
  const isLongAgo = (time: number) => {
    const days = (clock.now().getTime() - time) / 86_400_000
    // A time in the future comes from another clock.
    return days >= config.auditDays || days < -1
  }
  return [auditedAt?.getTime() ?? 0, generation * 1000].every(isLongAgo)
}

/**
 * Compares what the delta has told with what the lists have, and mends what differs. The changes have been followed
 * just now; everything is listed, and `followChanges` follows them once more. A row that they do not name has not changed
 * meanwhile, so it must be in the list as the delta has told of it. What is not as it was at the last audit is listed a second
 * time, and written where both lists have the same. The state says until the end that the changes are to be followed
 * next, so a sync that takes over after a kill begins the audit anew.
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
      ? `${stream.stream}: an earlier sync did not finish its audit, so the audit starts over.`
      : `${stream.stream}: its audit is due, so the whole stream is listed.`,
  )
  const begunAt = clock.now()
  state.beginAudit()
  await output.state()
  const range = state.start === null ? null : { from: state.start, until: lastDay(context) }
  if (!(await listBetweenChanges(range, context, followChanges))) {
    rows.end()
    state.endAudit(begunAt)
    return
  }
  // What a backfill has decided is written first: an older second list must not show it to be there.
  await deleteVanished(context)
  await writeParts(rows.choose(state.auditedParts, keys.mayHave), range, context)
  // A page may have been read twice.
  await deleteVanished(context)
  await mend(context)
  state.endAudit(begunAt, rows.fingerprints(keys.mayHave))
}

/** As after any reading. */
async function deleteVanished(context: StreamContext): Promise<void> {
  await confirmDeletes(context)
  await emitDeletes(context)
}

/** Writes nothing of the list. False, which is said, where there is none that can be compared. */
async function listBetweenChanges(
  range: DayRange | null,
  context: StreamContext,
  followChanges: () => Promise<void>,
): Promise<boolean> {
  const { state, log, rows } = context
  const { stream, keys, latestChanges } = state
  for (let isAgain = false; ; isAgain = true) {
    const expected = latestChanges.all()
    const { highestVersion } = keys
    keys.beginAudit()
    rows.begin(range)
    rows.compareWith({ mayHave: keys.mayHave, highestVersion, watched: expected })
    const isListed = await listAll(range, 'first', context)
    rows.compareWith(undefined)
    if (!isListed) {
      log.info(
        `${stream.stream}: the service offers no list of this stream, so it cannot be audited.`,
      )
      return false
    }
    const { position } = state
    if (position.phase === 'complete' && position.next !== 'list') state.moveTo(position.next)
    await followChanges()
    const lacking = countLacking(expected, range, context)
    if (lacking === 0) return true
    const what = `${stream.stream}: the list of the audit is older than what the delta has reported: it lacks ${many(lacking, 'change')} of the latest`
    if (isAgain) {
      // If the next list shows the same, it is no replica that lags behind: none lags for days.
      latestChanges.forget()
      log.warn(
        warningOf(
          'list-lags-behind',
          `${what}, and so did the one before it. Nothing is written or deleted; the next audit follows after audit_days, and takes its list as it is.`,
        ),
      )
      return false
    }
    log.info(`${what}, so it is listed once more.`)
  }
}

/** How many of the changes that were known before the list, and still hold, it does not show. */
function countLacking(
  expected: ReadonlyMap<Key, LatestChange>,
  range: DayRange | null,
  { state, rows }: StreamContext,
): number {
  const { keys } = state
  const isLacking = ([key, { version, day }]: [Key, LatestChange]) => {
    const isGone = version === null
    // The changes that followed the list, or a backfill, have told otherwise.
    if (keys.isTracked && keys.has(key) === isGone) return false
    const listed = rows.listedVersion(key)
    if (isGone) return listed !== undefined
    if (listed !== undefined) return listed < version
    const isListedDay = range === null || (day !== null && day >= range.from && day <= range.until)
    // A list with a later change is not older: the row is gone in silence.
    return isListedDay && rows.highestListed <= version
  }
  return [...expected].filter(isLacking).length
}

/** Lists these parts a second time, and writes what is as it was in the first list. */
async function writeParts(
  parts: ReadonlySet<string>,
  range: DayRange | null,
  context: StreamContext,
): Promise<void> {
  if (parts.size === 0) return
  const ranges = range === null ? [null] : daysOf(parts, range)
  for (const days of ranges) await listAll(days, 'second', context)
}

/** The days of some months, of which those that the first list did not have are left out later; all of the range where a part is no month. */
function daysOf(parts: ReadonlySet<string>, range: DayRange): DayRange[] {
  const months = [...parts].sort()
  if (!months.every((part) => /^\d{4}-\d\d$/.test(part))) return [range]
  const days: DayRange[] = []
  for (const month of months) {
    const from = `${month}-01`
    const next = `${addDays(from, 31).slice(0, 7)}-01`
    const last = days.at(-1)
    const isNext = last !== undefined && addDays(last.until, 1) === from
    if (isNext) days.pop()
    days.push({ from: isNext ? last.from : from, until: addDays(next, -1) })
  }
  return days
}

/** False where the service offers no list. */
async function listAll(
  range: DayRange | null,
  pass: 'first' | 'second',
  context: StreamContext,
): Promise<boolean> {
  const { state, config, endpoints, output } = context
  const { stream, position } = state
  const window = position.phase === 'complete' && position.next !== 'list' && position.next.window
  const slices = (days?: DayRange) => slicesOf(stream, days, config, endpoints)
  const begin = { slice: null, page: null }
  const read = async (some: readonly Slice[], place: 'window' | 'backfill') => {
    const settings = { place, audit: pass }
    for await (const _ of emitSlices(some, begin, settings, context)) await output.checkpoint()
  }
  try {
    if (range === null || !window || window <= range.from) {
      await read(slices(range ?? undefined), 'window')
    } else if (window > range.until) {
      await read(slices(range), 'backfill')
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
        `${stream.stream}: the delta had not reported ${many(count, 'row')}: ${what} by the audit.`,
      ),
    )
  const missing = rows.untold('missing')
  const newer = rows.untold('newer')
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
          `${stream.stream}: the audit did not find ${many(left, 'row')} of the warehouse in the list, and the service offered no second look. They stay; the next audit looks again.`,
        ),
      )
  }
  if (missing + newer === 0 && keys.unmet().length === 0)
    log.info(`${stream.stream}: the audit found nothing that the delta had not reported.`)
}
