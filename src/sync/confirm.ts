import { warningOf } from '../ground/message-ids.ts'
import { requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { many } from '../protocol/progress/sync-progress.ts'
import { addDays } from './days.ts'
import { type EmitSettings, emitPages, emitSlices } from './emit.ts'
import type { Key } from './id-set.ts'
import { MOST_UNCONFIRMED } from './live-keys.ts'
import { isDamaged, isNotOffered } from './page-failures.ts'
import { LIST } from './position.ts'
import { changedRows } from './row-treatment.ts'
import { referencePairs, type Slice, sliceAfter, slicesOf } from './slices.ts'
import { lastDay, type StreamContext } from './stream-state.ts'

/** The number of rows that are requested one by one, unless the read had more pages than this. */
const MOST_SINGLE = 100

/**
 * Checks rows that a complete read did not find, before they are deleted, because an answer of the service may be
 * incomplete. Few rows are requested one by one, if the collection has single records; otherwise the lists that could
 * contain them are read again. Rows that are found still exist and are written.
 *
 * If few of them were in such a list, and not in the first phase of a delta before it, the next sync has to look for
 * them once more: the list may be out of date, and no later delta reports that a row is gone.
 */
export async function confirmDeletes(context: StreamContext): Promise<void> {
  const { state, log } = context
  const { keys, stream, mode, isListDue, isSettled, position } = state
  if (mode === 'full_refresh') {
    if (isListDue) await refreshAgain(context)
    return
  }
  const vanished = keys.goneCount
  if (vanished === 0 && !isListDue) return
  if (isListDue)
    log.info(
      `${stream.stream}: the first phase of the delta may have left rows out, so it is listed once.`,
    )
  const onlyListed: Key[] = []
  const isSure = await look(context, (key) => {
    if (onlyListed.length <= MOST_UNCONFIRMED) onlyListed.push(key)
  })
  const isDelta = position.phase === 'complete' && position.next !== 'list'
  if (isDelta && !isSettled && onlyListed.length <= MOST_UNCONFIRMED)
    keys.leaveUnconfirmed(onlyListed)
  if (vanished > 0) logResult(vanished, isSure, context)
}

function logResult(vanished: number, isSure: boolean, { state, log }: StreamContext): void {
  const { keys, stream } = state
  const found = vanished - keys.goneCount
  const what = `${stream.stream}: this read did not find ${vanished} rows that the warehouse has`
  if (found > 0) {
    log.warn(
      warningOf(
        'answer-not-whole',
        `${what}; a second look found ${found} of them, which stay. The service's answers are sometimes incomplete: tell its operator if this happens often.`,
      ),
    )
  } else if (isSure) {
    log.info(`${what}; a second look did not find them either, so they are deleted.`)
  } else {
    log.info(`${what}, so they are deleted; the service has no way to look a second time.`)
  }
}

/**
 * Looks for the unconfirmed rows, unless this sync has read the stream from the beginning; then the next one does.
 * Those that it does not find twice will be deleted: an answer may be incomplete.
 */
export async function confirmUnconfirmed(context: StreamContext): Promise<void> {
  const { state, log } = context
  const { keys, stream, isSettled } = state
  const count = keys.unconfirmed().length
  if (!isSettled || count === 0) return
  const missing = await confirmNotFound(context)
  const gone = missing.length === 0 ? missing : await confirmNotFound(context)
  keys.markGone(gone)
  log.info(
    `${stream.stream}: two answers of the service contradicted each other about ${many(count, 'row')}, which ${count === 1 ? 'was' : 'were'} requested again: ${gone.length} will be deleted.`,
  )
}

/**
 * Checks the unconfirmed rows, of an audit those that it has not found, and returns those that are deleted; none if the
 * service offers no way to check. Many rows are looked up in a list of all days, including those after `future_days`.
 */
export async function confirmNotFound(context: StreamContext): Promise<readonly Key[]> {
  const { state, pages } = context
  const rows = state.keys.unconfirmed()
  const areFew = rows.length <= Math.max(MOST_SINGLE, pages.count)
  const isSure =
    (areFew && (await askEach(context, rows))) ||
    (await listAgain(context, secondLook(context), true))
  return isSure ? state.keys.unconfirmed() : []
}

/**
 * Checks the rows; returns false if the service offers no way to do so. If a list is due or the rows are many, a list
 * comes first. A few rows that it does not contain are requested nevertheless, because their dates may be outside of
 * the list. `onListed` is called with each row that only a list has found.
 */
async function look(context: StreamContext, onListed: (key: Key) => void): Promise<boolean> {
  const { state, pages } = context
  const list = () => listAgain(context, { ...secondLook(context), onFound: onListed })
  const most = Math.max(MOST_SINGLE, pages.count)
  const areFew = () => state.keys.goneCount <= most
  let isListed: boolean | undefined
  if (state.isListDue || !areFew()) isListed = await list()
  if ((areFew() || isListed === false) && (await askEach(context, [...state.keys.gone()])))
    return true
  return isListed ?? (await list())
}

/**
 * A full refresh has no rows that could have been deleted, but if it found no rows at all, a second list costs
 * little.
 */
async function refreshAgain(context: StreamContext): Promise<void> {
  const { state, log } = context
  log.info(
    `${state.stream.stream}: this full refresh found no row at all, so it is listed once more.`,
  )
  const { position } = state
  // The refresh is complete only after this list: if the sync fails before, the next one reads the list again.
  state.moveTo(LIST)
  await listAgain(context, { place: 'window' })
  state.moveTo(position)
}

/** How rows of any day that the read has not found are written. */
function secondLook({ state }: StreamContext): EmitSettings {
  const { stream, start } = state
  return { ...changedRows(stream.dateField, start, windowOf(state)), mayOmit: true, isSecond: true }
}

/** The first day of the delta's window; null if the stream was listed or has no dates. */
function windowOf({ position }: StreamContext['state']): string | null {
  return position.phase === 'complete' && position.next !== 'list' ? position.next.window : null
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
      if (!(error instanceof HttpError) || error.failure === 'transient') throw error
      if (id === known || !error.is('missing')) return false
      missing++
      if (found === 0 && missing === MOST_SINGLE) return false
    }
  }
  return found > 0
}

/**
 * Reads the lists that could contain the rows again, or those of all days; returns false if the service offers no list.
 */
async function listAgain(
  context: StreamContext,
  settings = secondLook(context),
  isWhole = context.state.isAuditing,
): Promise<boolean> {
  const { output } = context
  try {
    const start = { slice: null, page: null }
    for await (const _ of emitSlices(slicesConcerned(context, isWhole), start, settings, context))
      await output.checkpoint()
    return true
  } catch (error) {
    if (isNotOffered(error)) return false
    throw error
  }
}

function slicesConcerned(context: StreamContext, isWhole: boolean): Slice[] {
  const { state, config, endpoints } = context
  const { stream, start, isSettled, keys } = state
  const window = windowOf(state)
  // After a settled read, only rows that its lists of the days before the window did not contain are missing.
  const isHistory = isSettled && window !== null && !isWhole
  const until = isHistory ? addDays(window, -1) : lastDay(context)
  const slices = slicesOf(
    stream,
    start === null ? undefined : { from: start, until },
    config,
    endpoints,
  )
  if (isWhole && start !== null) slices.push(sliceAfter(stream, until, config, endpoints))
  if (stream.nested !== 'referenced_collections') return slices
  const collections = new Set([...keys.gone()].map((key) => JSON.parse(String(key))[0]))
  return slices.filter(({ key }) => collections.has(key))
}
