import { warningOf } from '../ground/message-ids.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { confirmDeletes, confirmNotFound } from './confirm.ts'
import { addDays } from './days.ts'
import { emitDeletes, emitSlices } from './emit.ts'
import type { Key } from './id-set.ts'
import type { LatestChange } from './latest-changes.ts'
import { isNotOffered } from './page-failures.ts'
import { type Slice, slicesOf } from './slices.ts'
import { lastDay, type StreamContext } from './stream-state.ts'
import type { DayRange } from './summed-rows.ts'

/** Whether the last audit or complete read of a stream with a delta is longer ago than the configuration allows. */
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
 * Compares the rows that the delta has reported with those of lists, and repairs the differences.
 *
 * The changes have just been followed. The audit lists the whole stream, and then `followChanges` follows the changes
 * again. A row that they do not contain has not changed in between, so the list must show it as the delta has
 * reported it. Parts that differ from the last audit are listed a second time, and rows that are equal in both lists
 * are written. Until the end, the state says that the changes come next, so a sync that continues after a kill starts
 * the audit over.
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
  // Deletions that a backfill has decided are written first, so that an older second list cannot bring these rows
  // back.
  await deleteVanished(context)
  await writeParts(rows.choose(state.auditedParts, keys.mayHave), range, context)
  // A page may have been read twice.
  await deleteVanished(context)
  await repair(context)
  state.endAudit(begunAt, rows.fingerprints(keys.mayHave))
}

/** Deletes missing rows, as after any other read. */
async function deleteVanished(context: StreamContext): Promise<void> {
  await confirmDeletes(context)
  await emitDeletes(context)
}

/**
 * Lists the stream between two reads of its changes, without writing anything. Returns false, and logs why, if there
 * is no list that can be compared.
 */
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
      // If the next list lacks them, too, it does not come from an old copy: no copy is days behind.
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

/** The number of changes that were known before the list and are still valid, but are missing in it. */
function countLacking(
  expected: ReadonlyMap<Key, LatestChange>,
  range: DayRange | null,
  { state, rows }: StreamContext,
): number {
  const { keys } = state
  const isLacking = ([key, { version, day }]: [Key, LatestChange]) => {
    const isGone = version === null
    // The changes after the list, or a backfill, have reported something else.
    if (keys.isTracked && keys.has(key) === isGone) return false
    const listed = rows.listedVersion(key)
    if (isGone) return listed !== undefined
    if (listed !== undefined) return listed < version
    const isListedDay = range === null || (day !== null && day >= range.from && day <= range.until)
    // A list that contains a later change is not old: the row was deleted without a report.
    return isListedDay && rows.highestListed <= version
  }
  return [...expected].filter(isLacking).length
}

/** Lists these parts a second time, and writes the rows that are equal in both lists. */
async function writeParts(
  parts: ReadonlySet<string>,
  range: DayRange | null,
  context: StreamContext,
): Promise<void> {
  if (parts.size === 0) return
  const ranges = range === null ? [null] : daysOf(parts, range)
  for (const days of ranges) await listAll(days, 'second', context)
}

/**
 * The days of some months; days that the first list did not have are left out later. The whole range if a part is not
 * a month.
 */
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

/** Returns false if the service offers no list. */
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

/**
 * Reports differences that the delta had not reported, and deletes rows that no longer exist. Rows of the lists have
 * already been written.
 */
async function repair(context: StreamContext): Promise<void> {
  const { state, log, rows } = context
  const { stream, keys } = state
  const warn = (count: number, what: string) =>
    log.warn(
      warningOf(
        'delta-was-silent',
        `${stream.stream}: the delta had not reported ${many(count, 'row')}: ${what} by the audit.`,
      ),
    )
  const missing = rows.unreported('missing')
  const newer = rows.unreported('newer')
  if (missing > 0) warn(missing, 'new in the list, and written')
  if (newer > 0) warn(newer, 'changed in the list, and written again')
  if (keys.unconfirmed().length > 0) {
    const gone = await confirmNotFound(context)
    if (gone.length > 0) {
      warn(gone.length, 'not in the list, not found by a second look either, and deleted')
      keys.markGone(gone)
      await emitDeletes(context)
    }
    const left = keys.unconfirmed().length
    if (left > 0)
      log.warn(
        warningOf(
          'rows-not-confirmed',
          `${stream.stream}: the audit did not find ${many(left, 'row')} of the warehouse in the list, and the service offered no second look. They stay; the next audit looks again.`,
        ),
      )
  }
  if (missing + newer === 0 && keys.unconfirmed().length === 0)
    log.info(`${stream.stream}: the audit found nothing that the delta had not reported.`)
}
