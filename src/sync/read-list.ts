import { HttpError } from '../http/http-error.ts'
import { addDays, dayOf, deltaWindow } from './days.ts'
import { sweep } from './emit-deletes.ts'
import { type Handled, handOver } from './emit-page.ts'
import { isNotOffered } from './not-offered.ts'
import type { LinkKind } from './pages.ts'
import type { Progress } from './progress.ts'
import { deltaStart, type Slice, slicesOf } from './slices.ts'
import type { StreamTools } from './stream-context.ts'

/**
 * Reads a whole list: a full refresh, or a stream without a delta. A complete one is followed by
 * another at the next sync; an interrupted one continues at its link. The rows that an earlier sync
 * read are then older than this one, so an incremental stream is listed once more.
 */
export async function readList(progress: Progress, tools: StreamTools): Promise<void> {
  await list(progress, tools)
  if (progress.isContinued && progress.mode === 'incremental') {
    progress.readAgain(tools.clock.now(), 'list')
    await tools.output.checkpoint()
    await list(progress, tools)
  }
  await sweep(progress, tools)
  Object.assign(progress, { part: 'listed', link: null, linkAt: null, slice: null, until: null })
}

async function list(progress: Progress, tools: StreamTools): Promise<void> {
  const { config, clock } = tools
  progress.until ??= addDays(dayOf(clock.now()), config.futureDays)
  try {
    await readSlices(progress, tools, 'live')
  } catch (error) {
    if (
      progress.mode === 'incremental' ||
      progress.stream.replication === 'list' ||
      !isNotOffered(error)
    )
      throw error
    await readByDeltaStart(progress, tools)
  }
}

/** Reads the slices of a list from the one where the progress stands. */
export async function readSlices(
  progress: Progress,
  tools: StreamTools,
  place: Handled,
): Promise<void> {
  const { stream, start, until } = progress
  const range = start === null || until === null ? undefined : { from: start, until }
  const slices = slicesOf(stream, range, tools.config, tools.service)
  const at = slices.findIndex(({ key }) => key === progress.slice)
  if (at < 0) progress.link = null
  const refusals: HttpError[] = []
  for (const [i, slice] of slices.entries()) {
    if (i < at) continue
    progress.slice = slice.key
    const refusal = await readSlice(slice, progress, tools, place)
    if (refusal !== undefined) refusals.push(refusal)
    // Refused everywhere is not offered; an empty list would delete all that there was.
    if (refusals.length === slices.length) throw refusal
    const next = slices[i + 1]
    progress.link = null
    progress.slice = next?.key ?? null
    if (next !== undefined) await tools.output.checkpoint()
  }
}

/** Reads a list; the refusal comes back where a part of the whole may be unknown to the service. */
async function readSlice(
  slice: Slice,
  progress: Progress,
  tools: StreamTools,
  place: Handled,
): Promise<HttpError | undefined> {
  const kind: LinkKind = progress.link === null ? 'list' : 'next'
  try {
    await tools.pages.follow(progress.link ?? slice.link, kind, handOver(progress, tools, place))
  } catch (error) {
    // Not every collection that has references is documented to list them here.
    const isUnknown = error instanceof HttpError && (error.status === 400 || error.status === 404)
    if (progress.stream.nested !== 'referenced_collections' || !isUnknown) throw error
    keepReferences(slice.key, error, progress, tools)
    return error
  }
  return undefined
}

/** What was not listed may live: its rows stay, those that a generation would end included. */
function keepReferences(
  collection: string,
  error: HttpError,
  progress: Progress,
  { log }: StreamTools,
): void {
  const { stream, ledger } = progress
  const kept = ledger.keepUnconfirmed('live', (key) => JSON.parse(String(key))[0] === collection)
  if (kept === 0) {
    log.info(`${stream.stream}: the service lists no references of ${collection}.`)
    return
  }
  progress.replaces = false
  log.warn(
    `${stream.stream}: the service did not list the references of ${collection} this time, so the ${kept} that the warehouse may have stay as they are. ${error.message}`,
  )
}

/** The list does not exist: the first phase of a delta answers the same rows (design D1). */
async function readByDeltaStart(progress: Progress, tools: StreamTools): Promise<void> {
  const { stream, start } = progress
  tools.log.warn(
    `${stream.stream}: the service offers no list of it, so a delta is started to read it whole. Another consumer's delta of this collection ends by that.`,
  )
  const link = deltaStart(
    stream,
    deltaWindow(start, tools.clock.now()),
    tools.config,
    tools.service,
  )
  await tools.pages.follow(link, 'start', handOver(progress, tools, 'anywhere'))
}
