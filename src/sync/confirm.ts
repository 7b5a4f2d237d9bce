import { warningOf } from '../ground/message-ids.ts'
import { requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { isDamaged } from '../pages/page-failures.ts'
import { referencePairs } from '../pages/slices.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import type { Key } from '../rows/id-set.ts'
import { MOST_UNCONFIRMED } from '../rows/observed-batch.ts'
import { emitPages } from './emit.ts'
import { changesAfter, LIST } from './position.ts'
import {
  type Compared,
  isExtra,
  type ListsOutcome,
  reconcileKeys,
  secondLook,
} from './reconcile.ts'
import type { StreamContext } from './stream-state.ts'

/** The number of rows that are requested one by one, unless the read had more pages than this. */
const MOST_SINGLE = 100

/**
 * Checks rows that a complete read did not find, before they are deleted, because an answer of the service may be
 * incomplete. Few rows are requested one by one, if the collection has single records; otherwise the lists that could
 * contain them are read again. Rows that are found still exist and are written.
 *
 * Returns rows that were in such a list and not in the first phase of a delta before it, if they are few: the list may
 * be out of date, and no later delta reports that a row is gone. The next sync has to look for them once more.
 */
export async function confirmMissing(context: StreamContext): Promise<readonly Key[]> {
  const { state, log } = context
  const { keys, stream, mode, isListDue, isSettled, position } = state
  if (mode === 'full_refresh') {
    if (isListDue) await refreshAgain(context)
    return []
  }
  const vanished = keys.goneCount
  if (vanished === 0 && !isListDue) return []
  if (isListDue)
    log.info(
      `${stream.stream}: rows may have moved while its pages were read, or it had none, so it is listed once.`,
    )
  // If this sync dies, the next one begins the second look anew, whatever this one has found.
  if (isListDue) state.makeListDue()
  const onlyListed: Key[] = []
  const outcome = await look(context, (key) => {
    if (onlyListed.length <= MOST_UNCONFIRMED) onlyListed.push(key)
  })
  if (outcome === 'failed') keys.keepGone()
  else if (vanished > 0) logResult(vanished, outcome, context)
  const isDelta = changesAfter(position) !== undefined
  return isDelta && !isSettled && onlyListed.length <= MOST_UNCONFIRMED ? onlyListed : []
}

function logResult(vanished: number, outcome: ListsOutcome, { state, log }: StreamContext): void {
  const { keys, stream } = state
  const found = vanished - keys.goneCount
  const what = `${stream.stream}: this read did not find ${vanished} rows that the warehouse has`
  if (found > 0) {
    log.warn(
      warningOf(
        'list-not-complete',
        `${what}; a recheck found ${found} of them, which stay. The service's lists are sometimes incomplete: tell the operator of the service if this happens often.`,
      ),
    )
  } else if (outcome === 'read') {
    log.info(`${what}; a recheck did not find them either, so they are deleted.`)
  } else {
    log.info(`${what}, so they are deleted; the service has no way to look a second time.`)
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
  const count = keys.unconfirmed().length
  let gone = keys.unconfirmed()
  const missing: Key[] = []
  for (let looks = 1; looks <= 2 && gone.length > 0; looks++) {
    gone = await notFound(context)
    if (looks === 2) missing.push(...gone)
    else if (compared !== undefined) {
      const sure = gone.filter((key) => compared.notListed.has(key))
      keys.markGone(sure)
      missing.push(...sure)
      gone = gone.filter((key) => !compared.notListed.has(key))
    }
  }
  keys.markGone(missing)
  const silent = missing.filter((key) => compared?.notListed.has(key)).length
  if (compared !== undefined) report(compared, silent, context)
  const contradicted = count - (compared?.notListed.size ?? 0)
  if (contradicted > 0)
    log.info(
      `${stream.stream}: two responses of the service contradicted each other about ${many(contradicted, 'row')}, which ${contradicted === 1 ? 'was' : 'were'} requested again: ${missing.length - silent} will be deleted.`,
    )
}

/** The unconfirmed rows that are not found now; none if the service offers no way to look. */
async function notFound(context: StreamContext): Promise<readonly Key[]> {
  const { state, pages } = context
  const rows = state.keys.unconfirmed()
  const areFew = rows.length <= Math.max(MOST_SINGLE, pages.count)
  const isSure =
    (areFew && (await askEach(context, rows))) || (await reconcileKeys(context)) === 'read'
  return isSure ? state.keys.unconfirmed() : []
}

/** Reports differences that the delta had not reported. */
function report(
  { reason, missing, newer }: Compared,
  gone: number,
  { state, log }: StreamContext,
): void {
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
      [gone, 'not in the list, not found by a recheck either, and deleted'],
    ] as const)
      if (count > 0)
        log.warn(
          warningOf(
            'delta-was-silent',
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
 * Checks the rows that were not found. If a list is due or the rows are many, a list comes first. A few rows that it
 * does not contain are requested nevertheless, because their dates may be outside of the list. `onListed` is called with
 * each row that only a list has found.
 */
async function look(context: StreamContext, onListed: (key: Key) => void): Promise<ListsOutcome> {
  const { state, pages } = context
  const list = () => reconcileKeys(context, onListed)
  const most = Math.max(MOST_SINGLE, pages.count)
  const areFew = () => state.keys.goneCount <= most
  const listed = state.isListDue || !areFew() ? await list() : undefined
  const mayAsk = areFew() || (listed !== undefined && listed !== 'read')
  if (mayAsk && (await askEach(context, [...state.keys.gone()]))) return 'read'
  return listed ?? (await list())
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
  await reconcileKeys(context)
  state.moveTo(position)
}

/**
 * Requests each row. Returns false if the answers prove nothing. A collection without single records answers as if
 * the records did not exist, so a row that the read has found must be found in this way, too; if it has found none,
 * any row. Each answer must be a record.
 */
async function askEach(context: StreamContext, asked: readonly Key[]): Promise<boolean> {
  const { state, config, endpoints } = context
  const { keys, stream } = state
  const references = referencePairs(stream, config)
  // With a reference of its own collection, the service would read the end of the path as a value of that reference.
  const isReference = references.some(([collection]) => collection === stream.collection)
  const known = keys.someFound()
  if (asked.length === 0) return true
  if (stream.single === false || isReference) return false
  if (asked.some((key) => typeof key !== 'number')) return false
  const settings = secondLook(context)
  let [found, missing] = [0, 0]
  for (const id of known === undefined ? asked : [known, ...asked]) {
    const link = requestUrl({ path: `/${stream.collection}/${id}`, references }, endpoints)
    try {
      for await (const { count } of emitPages(link, 'single', context, settings))
        if (count !== 1) return false
      found++
    } catch (error) {
      if (isDamaged(error)) return false
      const isRefusal = error instanceof HttpError && error.failure !== 'transient'
      if (!isRefusal && !isExtra(error, context)) throw error
      if (!isRefusal || id === known || !error.is('missing')) return false
      missing++
      if (found === 0 && missing === MOST_SINGLE) return false
    }
  }
  return found > 0
}
