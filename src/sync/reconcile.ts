import { addDays, type DayRange } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { DeadLinkError, isNotOffered } from '../pages/page-failures.ts'
import { type Slice, slicesOf } from '../pages/slices.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import type { Key } from '../rows/id-set.ts'
import type { LatestChange } from '../rows/latest-changes.ts'
import { changedRows } from '../rows/row-treatment.ts'
import { followChanges } from './delta.ts'
import type { ComparisonReason } from './due.ts'
import { type EmitSettings, emitSlices } from './emit.ts'
import { changesAfter } from './position.ts'
import { lastDay, type StreamContext } from './stream-state.ts'

/** What came of lists that were read in addition to the stream itself. */
export type ListsOutcome = 'read' | 'not offered' | 'failed'

/** How many rows a comparison has written that no change had reported. */
export interface Compared {
  readonly reason: ComparisonReason
  readonly missing: number
  readonly newer: number
  /** The rows that its lists did not have. */
  readonly notListed: ReadonlySet<Key>
}

/** The days after the last one of a list in which rows are looked for. */
const DAYS_BEYOND = 3653

/** How rows are written that a complete read has not found, or that were not confirmed, whatever their day is. */
export function secondLook({ state }: StreamContext): EmitSettings {
  const { stream, start, position } = state
  const window = changesAfter(position)?.window ?? null
  return {
    ...changedRows(stream.dateField, start, window),
    purpose: 'recheck',
    mayOmit: true,
  }
}

/**
 * Lists the stream for rows that a complete read has not found, or that were not confirmed, and follows the changes once
 * more. If a delta does not find some of them on the days of other lists, ten years after these are listed, too: a row that has moved
 * there is not gone.
 */
export async function reconcileKeys(
  context: StreamContext,
  onFound?: (key: Key) => void,
): Promise<ListsOutcome> {
  const { state } = context
  const { stream, keys, start, position } = state
  const settings = { ...secondLook(context), ...(onFound && { onFound }) }
  const until = lastDay(context)
  let slices = slicesIn(start === null ? null : { from: start, until }, context)
  if (stream.nested === 'referenced_collections') {
    const collections = new Set([...keys.gone()].map((key) => JSON.parse(String(key))[0]))
    if (collections.size > 0) slices = slices.filter(({ key }) => collections.has(key))
  }
  let outcome = await readLists(slices, settings, context)
  const isInQuestion = keys.goneCount > 0 || keys.unconfirmed().length > 0
  if (outcome === 'read' && isInQuestion && start !== null && changesAfter(position)) {
    const beyond = { from: addDays(until, 1), until: addDays(until, DAYS_BEYOND) }
    outcome = await readLists(slicesIn(beyond, context), settings, context, true)
  }
  if (outcome === 'read') await followChanges(context)
  return outcome
}

/**
 * Compares the rows that the delta has reported with lists, and writes what differs.
 *
 * The changes have just been followed. The days are listed, and the changes are followed again: a row that they do not
 * name has not changed in between, so the list must show it as the warehouse has it. Parts that differ are listed a
 * second time, and rows that are equal in both lists are written. Rows that no list has are unconfirmed afterwards.
 * A sync that dies during it leaves nothing behind: the next one compares again.
 *
 * Returns undefined if there was no list that can be compared. That is no failure of the stream, and the attempt counts.
 */
export async function reconcile(
  reason: ComparisonReason,
  context: StreamContext,
): Promise<Compared | undefined> {
  const { state, log, clock, parts } = context
  const { stream, keys, start, position } = state
  const begunAt = clock.now()
  const window = changesAfter(position)?.window ?? null
  const until = reason === 'audit' ? lastDay(context) : addDays(window ?? '', -1)
  const range = start === null ? null : { from: start, until }
  log.info(
    reason === 'audit'
      ? `${stream.stream}: its audit is due, so the whole stream is listed.`
      : `${stream.stream}: the days before ${window} are due, so they are listed.`,
  )
  const isListed = await listBetweenChanges(reason, range, context)
  if (!isListed) parts.end()
  else await writeParts(range, context)
  const notListed = keys.endSeek(isListed)
  noteComparison(reason, begunAt, isListed, context)
  if (!isListed) return undefined
  const [missing, newer] = [parts.confirmed('missing'), parts.confirmed('newer')]
  return { reason, missing, newer, notListed: new Set(notListed) }
}

/** Notes what was seen, so that only what differs from it is written by the next comparison. */
function noteComparison(
  reason: ComparisonReason,
  begunAt: Date,
  isListed: boolean,
  { state, parts }: StreamContext,
): void {
  const { keys } = state
  const changes = changesAfter(state.position)
  if (changes !== undefined && isListed)
    state.moveTo({ phase: 'complete', next: { ...changes, historyAt: begunAt } })
  const isWhole = reason === 'audit' && isListed
  const { from = '', until = '' } = parts.range ?? {}
  const isKept = (part: string) => !isListed || part < from.slice(0, 7) || part > until.slice(0, 7)
  const before = isWhole ? [] : [...state.auditedParts].filter(([part]) => isKept(part))
  if (isListed) keys.forgetWritten(isWhole ? undefined : parts.keys())
  const seen = new Map([...before, ...(isListed ? parts.fingerprints() : [])])
  state.compared(begunAt, seen, reason === 'audit')
}

/**
 * Lists the days between two reads of the changes, without writing anything. Returns false, and logs why, if there is no
 * list that can be compared.
 */
async function listBetweenChanges(
  reason: ComparisonReason,
  range: DayRange | null,
  context: StreamContext,
): Promise<boolean> {
  const { state, log, parts, inventory } = context
  const { stream, keys, latestChanges } = state
  for (let isAgain = false; ; isAgain = true) {
    const watched = latestChanges.all()
    const { mayHave, wasWritten, highestVersion } = keys
    keys.seek(reason === 'history' ? 'history' : undefined)
    parts.begin(range, inventory !== undefined, { mayHave, wasWritten, highestVersion, watched })
    const outcome = await readLists(slicesIn(range, context), { purpose: 'comparison' }, context)
    if (outcome === 'not offered')
      log.info(
        `${stream.stream}: the service offers no list of this stream, so it cannot be audited.`,
      )
    if (outcome !== 'read') return false
    await followChanges(context)
    const lacking = countLacking(watched, range, context)
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
  { state, parts }: StreamContext,
): number {
  const { keys } = state
  const window = changesAfter(state.position)?.window ?? ''
  const isLacking = ([key, { version, day }]: [Key, LatestChange]) => {
    const isGone = version === null
    // The changes after the list have reported something else.
    if (keys.isTracked && keys.has(key) === isGone) return false
    const listed = parts.listed(key)
    // A row that the delta reports as deleted may only have moved before its window.
    if (isGone) return listed !== undefined && !(listed.part < window)
    if (listed !== undefined) return listed.version < version
    // Before the window, no delta reports that a row is gone.
    const isListedDay =
      range === null || (day !== null && day >= window && day >= range.from && day <= range.until)
    // A list that contains a later change is not old: the row was deleted without a report.
    return isListedDay && parts.highestListed <= version
  }
  return [...expected].filter(isLacking).length
}

/** Lists the parts that differ a second time, and writes the rows that are equal in both lists. */
async function writeParts(range: DayRange | null, context: StreamContext): Promise<void> {
  const { state, parts } = context
  const chosen = parts.choose(state.auditedParts)
  if (chosen.size === 0) return
  // If this sync dies, the next one knows only that it may have written some of their rows.
  state.forgetParts(chosen)
  const settings = { ...secondLook(context), purpose: 'repair' } as const
  const ranges = range === null ? [null] : daysOf(chosen, range)
  for (const days of ranges)
    if ((await readLists(slicesIn(days, context), settings, context)) !== 'read') return
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

function slicesIn(range: DayRange | null, { state, config, endpoints }: StreamContext): Slice[] {
  return slicesOf(state.stream, range ?? undefined, config, endpoints)
}

/**
 * Reads lists in addition to the stream itself, from their beginning. Beside a delta that works they are extra work: if
 * they fail, the stream does not. `isBegun` says that others of the same look have been answered.
 */
async function readLists(
  slices: readonly Slice[],
  settings: EmitSettings,
  context: StreamContext,
  isBegun = false,
): Promise<ListsOutcome> {
  const { state, output, log, pages } = context
  const beginning = { slice: null, page: null }
  const before = pages.count
  try {
    for await (const _ of emitSlices(slices, beginning, settings, context))
      await output.checkpoint()
    return 'read'
  } catch (error) {
    // A service that has answered one of these lists offers them.
    const isOffered = isBegun || pages.count > before
    if (isNotOffered(error) && !isOffered) return 'not offered'
    if (!isExtra(error, context)) throw error
    log.warn(
      warningOf(
        'lists-failed',
        `${state.stream.stream}: its changes were read, but not the lists with which they are compared. Rows that only these lists could confirm stay as they are, and the next audit compares them again. ${(error as Error).message}`,
      ),
    )
    return 'failed'
  }
}

/** Failures that do not come from the answers of the service. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['library-misused', 'state-not-valid'])

/** Whether a failure concerns only work in addition to a delta that works. */
export function isExtra(error: unknown, { state }: StreamContext): boolean {
  if (changesAfter(state.position) === undefined) return false
  if (error instanceof DeadLinkError) return true
  return error instanceof ConnectorError && !OWN_FAULTS.has(error.id)
}
