import { warningOf } from '../ground/message-ids.ts'
import { requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { addDays } from './days.ts'
import { changedRows, type EmitSettings, emitPages, emitSlices } from './emit.ts'
import type { Key } from './id-set.ts'
import { isDamaged, isNotOffered } from './page-failures.ts'
import { LIST } from './position.ts'
import { referencePairs, type Slice, sliceAfter, slicesOf } from './slices.ts'
import { lastDay, type StreamContext } from './stream-state.ts'

/** This many rows are requested one by one, or as many as the read had pages. */
const MOST_SINGLE = 100

/**
 * Looks a second time for rows that a complete read did not meet, before they are deleted, because a list may
 * be incomplete once. Few rows are requested one by one, if the collection has single records; otherwise the
 * lists that could have them are read once more. Rows that are found are live and are written.
 */
export async function confirmDeletes(context: StreamContext): Promise<void> {
  const { state, log } = context
  const { keys, stream, mode, isListDue } = state
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
  const isSure = await look(context)
  if (vanished === 0) return
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
 * Looks a second time for rows that an audit has not met, and answers with those that are gone; with none where the service
 * offers no way to look. Many rows are looked for in a list of all days, those beyond `future_days` too.
 */
export async function confirmUnmet(context: StreamContext): Promise<readonly Key[]> {
  const { state, pages } = context
  const unmet = state.keys.unmet()
  const areFew = unmet.length <= Math.max(MOST_SINGLE, pages.count)
  const isSure = (areFew && (await askEach(context, unmet))) || (await listAgain(context))
  return isSure ? state.keys.unmet() : []
}

/**
 * False where the service has no way to look. A list that is due comes first, and so does one for many rows; a
 * few that it does not show are asked for all the same, because they may lie beyond its days.
 */
async function look(context: StreamContext): Promise<boolean> {
  const { state, pages } = context
  const most = Math.max(MOST_SINGLE, pages.count)
  const areFew = () => state.keys.goneCount <= most
  let isListed: boolean | undefined
  if (state.isListDue || !areFew()) isListed = await listAgain(context)
  if ((areFew() || isListed === false) && (await askEach(context, [...state.keys.gone()])))
    return true
  return isListed ?? (await listAgain(context))
}

/**
 * A full refresh has no rows that could have vanished, but a second list costs little if the first one was
 * empty.
 */
async function refreshAgain(context: StreamContext): Promise<void> {
  const { state, log } = context
  log.info(
    `${state.stream.stream}: this full refresh found no row at all, so it is listed once more.`,
  )
  const { position } = state
  // The refresh is not complete before that list has been read: a sync that continues after a failure reads
  // it.
  state.moveTo(LIST)
  await listAgain(context, { place: 'window' })
  state.moveTo(position)
}

/** How to write rows of any day that the read has not met. */
function secondLook({ state }: StreamContext): EmitSettings {
  const { stream, start } = state
  return { ...changedRows(stream.dateField, start, windowOf(state)), mayOmit: true, isSecond: true }
}

/** The first day of the delta's window; null if the stream has been listed, or has no days. */
function windowOf({ position }: StreamContext['state']): string | null {
  return position.phase === 'complete' && position.next !== 'list' ? position.next.window : null
}

/**
 * Requests each row. False if the answers prove nothing: a row that the read met must be found in this way,
 * or any row if it met none, because a collection without single records answers as if they did not exist;
 * and an answer must be a record.
 */
async function askEach(context: StreamContext, asked: readonly Key[]): Promise<boolean> {
  const { state, config, endpoints } = context
  const { keys, stream } = state
  const references = referencePairs(stream, config)
  // With a reference of its own collection, the end of the path would be read as a value of that reference.
  const isReference = references.some(([collection]) => collection === stream.collection)
  const met = keys.someMet()
  if (asked.length === 0) return true
  if (stream.single === false || isReference) return false
  if (asked.some((key) => typeof key !== 'number')) return false
  const settings = secondLook(context)
  let [found, missing] = [0, 0]
  for (const id of met === undefined ? asked : [met, ...asked]) {
    const link = requestUrl({ path: `/${stream.collection}/${id}`, references }, endpoints)
    try {
      for await (const { count } of emitPages(link, 'single', context, settings))
        if (count !== 1) return false
      found++
    } catch (error) {
      if (isDamaged(error)) return false
      if (!(error instanceof HttpError) || error.failure === 'transient') throw error
      if (id === met || !error.is('missing')) return false
      missing++
      if (found === 0 && missing === MOST_SINGLE) return false
    }
  }
  return found > 0
}

/** Reads the lists that could have the rows once more; false if the service offers no list. */
async function listAgain(context: StreamContext, settings = secondLook(context)): Promise<boolean> {
  const { output } = context
  try {
    const start = { slice: null, page: null }
    for await (const _ of emitSlices(slicesConcerned(context), start, settings, context))
      await output.checkpoint()
    return true
  } catch (error) {
    if (isNotOffered(error)) return false
    throw error
  }
}

function slicesConcerned(context: StreamContext): Slice[] {
  const { state, config, endpoints } = context
  const { stream, start, isSettled, isAuditing, keys } = state
  const window = windowOf(state)
  // After a settled read, the missing rows are those that its lists of the days before the window did not
  // have.
  const isHistory = isSettled && window !== null && !isAuditing
  const until = isHistory ? addDays(window, -1) : lastDay(context)
  const slices = slicesOf(
    stream,
    start === null ? undefined : { from: start, until },
    config,
    endpoints,
  )
  if (isAuditing && start !== null) slices.push(sliceAfter(stream, until, config, endpoints))
  if (stream.nested !== 'referenced_collections') return slices
  const collections = new Set([...keys.gone()].map((key) => JSON.parse(String(key))[0]))
  return slices.filter(({ key }) => collections.has(key))
}
