import { addDays, type DayRange } from '../ground/days.ts'
import { warningOf } from '../ground/message-ids.ts'
import { requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { isDamaged } from '../pages/page-failures.ts'
import { referencePairs } from '../pages/slices.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import type { Key } from '../rows/id-set.ts'
import { DAYS_BEYOND } from '../streams/streams.ts'
import { mayDelete } from './brake.ts'
import { followChanges } from './delta.ts'
import { type Compared, isListDue } from './due.ts'
import { emit, type StreamContext } from './emit.ts'
import { type ListsOutcome, readExtraLists, recheckSettings, type Sought } from './lists.ts'
import { changesAfter, LIST } from './position.ts'
import { isExtra } from './stream-failures.ts'

/** The number of rows that are requested one by one, unless the read had more pages than this. */
const MOST_SINGLE = 100

/**
 * Checks rows that a complete read did not find, before they are deleted, because an answer of the service may be
 * incomplete. Few rows are requested one by one, if the collection has single records; otherwise the lists that could
 * contain them are read again. Rows that are found still exist and are written.
 *
 * Rows of a delta that were in such a list only are unconfirmed after this sync, if they are few: the list may be out of
 * date, and no later delta reports that a row is gone.
 */
export async function confirmMissing(context: StreamContext): Promise<void> {
  const { state, log, clock, output } = context
  const { keys, stream, mode } = state
  const isDue = isListDue(state, clock.now())
  if (mode === 'full_refresh') {
    if (isDue) await refreshAgain(context)
    state.note({ isListDue: false })
    return
  }
  const vanished = keys.gone().length
  if (vanished === 0 && !isDue) return
  if (isDue) {
    log.info(
      `${stream.stream}: rows may have moved while its pages were read, or it had none, so it is listed once.`,
    )
    // If this sync dies, the next one begins the recheck anew, whatever this one has found.
    state.note({ isListDue: true })
  }
  const before = output.counts.deletes
  const outcome = await look('gone', isDue, context)
  const left = output.counts.deletes - before
  if (outcome === 'failed') state.keepGone()
  else if (vanished > left) logResult(vanished - left, outcome, context)
}

/** `vanished` are those that were not found at first, without those that have left since because of their day or person. */
function logResult(vanished: number, outcome: ListsOutcome, context: StreamContext): void {
  const { state, log } = context
  const { keys, stream } = state
  const found = vanished - keys.gone().length
  const what = `${stream.stream}: this read did not find ${many(vanished, 'row')} that the warehouse has`
  if (found > 0) {
    log.warn(
      warningOf(
        'list-not-complete',
        `${what}; a recheck found ${found} of them, which stay. The service's lists are sometimes incomplete: tell the operator of the service if this happens often.`,
      ),
    )
  } else if (!mayDelete(context)) {
    log.info(`${what}, and they are too many to be deleted.`)
  } else if (outcome === 'read') {
    log.info(`${what}; a recheck did not find them either, so they are deleted.`)
  } else {
    log.info(`${what}, so they are deleted; the service offers no way to recheck them.`)
  }
}

/**
 * Looks for the rows that were not confirmed, and marks those as deleted that it does not find twice; lists of a comparison
 * that did not have a row count as once. Reports what it and the comparison have found.
 */
export async function confirmUnconfirmed(
  context: StreamContext,
  compared: Compared | undefined,
): Promise<void> {
  const { state, log } = context
  const { keys, stream } = state
  const notListed = compared?.notListed ?? new Set()
  const contradicted = new Set(keys.unconfirmed().filter((key) => !notListed.has(key)))
  const missing = await notFound(context)
  const silent = missing.filter((key) => notListed.has(key))
  keys.markGone(silent)
  const others = missing.length > silent.length ? await notFound(context) : []
  keys.markGone(others)
  const listed = others.filter((key) => !notListed.has(key)).length
  if (compared !== undefined) report(compared, silent.length + others.length - listed, context)
  if (contradicted.size > 0)
    log.info(
      `${stream.stream}: two responses of the service contradicted each other about ${many(contradicted.size, 'row')}, which ${contradicted.size === 1 ? 'was' : 'were'} requested again: ${others.filter((key) => contradicted.has(key)).length} were not found.`,
    )
}

/**
 * The unconfirmed rows that are not found now. If the service offers no way to look, there are none, unless deletes are
 * withheld: these rows are missing in a complete read, and that is all there is to know before an approval.
 */
async function notFound(context: StreamContext): Promise<readonly Key[]> {
  const { keys, withheldSince } = context.state
  const outcome = await look('unconfirmed', false, context)
  const isKnown = outcome === 'read' || (outcome === 'not offered' && withheldSince !== null)
  return isKnown ? keys.unconfirmed() : []
}

/** Reports differences that the delta had not reported. */
function report({ reason, missing, newer }: Compared, gone: number, context: StreamContext): void {
  const { state, log } = context
  const end = mayDelete(context) ? 'deleted' : 'kept, because they are too many,'
  const { stream } = state.stream
  const left = state.keys.unconfirmed().length
  if (reason === 'history') {
    log.info(
      `${stream}: the lists of the days before the window differed from the warehouse in ${many(missing + newer + gone, 'row')} that no change had reported.`,
    )
  } else {
    for (const [count, what] of [
      [missing, 'new in the list, and written'],
      [newer, 'changed in the list, and written again'],
      [gone, `not in the list, not found by a recheck either, and ${end}`],
    ] as const)
      if (count > 0)
        log.warn(
          warningOf(
            'changes-not-reported',
            `${stream}: the delta had not reported ${many(count, 'row')}: ${what} by the audit.`,
          ),
        )
    if (missing + newer + gone + left === 0)
      log.info(`${stream}: the audit found nothing that the delta had not reported.`)
  }
  if (left > 0)
    log.warn(
      warningOf(
        'rows-not-confirmed',
        `${stream}: the lists did not have ${many(left, 'row')} of the warehouse, and could not be rechecked. They stay; the next sync rechecks them.`,
      ),
    )
}

/**
 * Looks for rows. If a list is due or the rows are many, a list comes first. A few rows that it does not contain are
 * requested nevertheless, because their dates may be outside of the list, and many if there was no list.
 */
async function look(
  sought: Sought,
  isListDue: boolean,
  context: StreamContext,
): Promise<ListsOutcome> {
  const { state, clock, pages } = context
  const rows = state.keys[sought]
  const most = Math.max(MOST_SINGLE, pages.count)
  const areFew = () => rows().length <= most
  const wereAsked = !isListDue && areFew()
  if (wereAsked && (await askEach(sought, context))) return 'read'
  const outcome = await listAgain(sought, context)
  // One that is due and was not read is tried again by a later sync.
  if (isListDue) state.note(outcome === 'read' ? { isListDue: false } : { comparedAt: clock.now() })
  const mayAsk = !wereAsked && (areFew() || outcome !== 'read')
  return mayAsk && (await askEach(sought, context)) ? 'read' : outcome
}

/**
 * Lists the stream for rows that a complete read has not found, or that were not confirmed, and follows the changes once
 * more. If a delta does not find some of them on the days of other lists, two more ranges are listed: ten years after
 * these, as a row that has moved there is not gone, and days that are no longer kept, as long as their rows have not left.
 */
async function listAgain(sought: Sought, context: StreamContext): Promise<ListsOutcome> {
  const { state, lastDay } = context
  const { keys, start } = state
  const purpose = 'recheck'
  const range = start === null ? null : { from: start, until: lastDay }
  let outcome = await readExtraLists({ purpose, range, sought }, context)
  for (const other of otherDays(context)) {
    const areMissing = keys.gone().length > 0 || keys.unconfirmed().length > 0
    if (outcome === 'read' && areMissing)
      outcome = await readExtraLists({ purpose, range: other, sought }, context)
  }
  if (outcome === 'read') await followChanges(context)
  return outcome
}

/** See `listAgain`. */
function otherDays({ state, lastDay }: StreamContext): DayRange[] {
  const { start, leavingFrom, position } = state
  if (start === null || changesAfter(position) === undefined) return []
  const beyond = { from: addDays(lastDay, 1), until: addDays(lastDay, DAYS_BEYOND) }
  return leavingFrom === null || leavingFrom >= start
    ? [beyond]
    : [{ from: leavingFrom, until: addDays(start, -1) }, beyond]
}

/**
 * A full refresh has no rows that could have been deleted, but if it found no rows at all, or rows moved between its
 * pages, it is listed a second time.
 */
async function refreshAgain(context: StreamContext): Promise<void> {
  const { state, log } = context
  log.info(
    `${state.stream.stream}: rows have moved while this full refresh was read, or it found none, so it is listed once more.`,
  )
  const { position } = state
  // The refresh is complete only after this list: if the sync fails before, the next one reads the list again.
  state.moveTo(LIST)
  await listAgain('gone', context)
  state.moveTo(position)
}

/**
 * Requests each row. Returns false if the answers prove nothing. A collection without single records answers as if
 * the records did not exist, so a row that the read has found must be found in this way, too; if it has found none,
 * any row. Each answer must be the record that was asked for.
 */
async function askEach(sought: Sought, context: StreamContext): Promise<boolean> {
  const { state, config, endpoints } = context
  const { keys, stream } = state
  const references = referencePairs(stream, config)
  // With a reference of its own collection, the service would read the end of the path as a value of that reference.
  const isReference = references.some(([collection]) => collection === stream.collection)
  const known = keys.someFound()
  const asked = keys[sought]()
  if (asked.length === 0) return true
  if (stream.single === false || isReference) return false
  if (asked.some((key) => typeof key !== 'number')) return false
  const settings = recheckSettings(sought, context)
  let [found, missing] = [0, 0]
  for (const id of known === undefined ? asked : [known, ...asked]) {
    const link = requestUrl({ path: `/${stream.collection}/${id}`, references }, endpoints)
    try {
      for await (const { count } of emit(link, 'single', settings, context))
        if (count !== 1 || keys.isLookedFor(id)) return false
      found++
    } catch (error) {
      if (isDamaged(error)) return false
      if (!(error instanceof HttpError)) {
        if (isExtra(error, state.position)) return false
        throw error
      }
      if (id === known || !error.is('missing')) return false
      missing++
      if (found === 0 && missing === MOST_SINGLE) return false
    }
  }
  return found > 0
}
