import { HttpError } from '../http/http-error.ts'
import { sleep } from '../http/time.ts'
import type { PageEnd } from '../page/page-scanner.ts'
import { ConnectorError } from '../protocol/errors.ts'
import { addDays, deltaWindow } from './days.ts'
import { sweep } from './emit-deletes.ts'
import { handOver } from './emit-page.ts'
import { isNotOffered } from './not-offered.ts'
import { DeadLinkError } from './page-failures.ts'
import type { LinkKind } from './pages.ts'
import { hasHistory, type Progress } from './progress.ts'
import { readSlices } from './read-list.ts'
import { deltaStart } from './slices.ts'
import type { StreamTools } from './stream-context.ts'

/**
 * Reads a stream by its delta (design D2): the first phase once, then what is older than its window
 * by lists, then the changes since. Later syncs read the changes alone, and the history anew when
 * its listing is old or in doubt (design D16).
 */
export async function readDelta(progress: Progress, tools: StreamTools): Promise<void> {
  const { ledger } = progress
  if (progress.part === 'load') await load(progress, tools)
  if (progress.part === 'changes' && isHistoryDue(progress, tools)) beginHistory(progress)
  if (progress.part === 'history') await readHistory(progress, tools)
  await readChanges(progress, tools)
  // A Delete may be a move into the history: its listing decides, now.
  if (ledger.isHistoryInDoubt) {
    beginHistory(progress)
    await tools.output.checkpoint()
    await readHistory(progress, tools)
    await readChanges(progress, tools)
  }
  await sweep(progress, tools)
}

async function load(progress: Progress, tools: StreamTools): Promise<void> {
  const { stream, start } = progress
  const kind: LinkKind = progress.link === null ? 'start' : 'next'
  if (kind === 'start') progress.window = deltaWindow(start, tools.clock.now())
  const link = progress.link ?? deltaStart(stream, progress.window, tools.config, tools.service)
  const { deltaLink } = await asked(progress, tools, () =>
    tools.pages.follow(link, kind, handOver(progress, tools, 'live')),
  )
  progress.link = followable(deltaLink, progress)
  progress.linkAt = tools.clock.now()
  if (hasHistory(progress)) beginHistory(progress)
  else Object.assign(progress, { part: 'changes', asked: true })
  await tools.output.checkpoint()
}

/** One hop along the delta link: everything that changed since it was given out. */
async function readChanges(progress: Progress, tools: StreamTools): Promise<void> {
  const { output, pages } = tools
  const link = followable(progress.link ?? undefined, progress)
  if (!progress.asked) {
    progress.asked = true
    // Should this process die before the answer is handed over, the next one knows that it was asked.
    await output.state()
  }
  const { deltaLink } = await asked(
    progress,
    tools,
    () => pages.follow(link, 'delta', handOver(progress, tools, 'live')),
    progress.mayBeUsed,
  )
  progress.link = followable(deltaLink, progress)
  progress.linkAt = tools.clock.now()
  progress.asked = false
  progress.mayBeUsed = false
}

function isHistoryDue(progress: Progress, { config, clock }: StreamTools): boolean {
  const { historyAt } = progress
  if (!hasHistory(progress)) return false
  if (historyAt === null) return true
  const days = (clock.now().getTime() - historyAt.getTime()) / 86_400_000
  // A listing of tomorrow was made under another clock.
  return config.historyRefreshDays > 0 && (days >= config.historyRefreshDays || days < -1)
}

function beginHistory(progress: Progress): void {
  progress.ledger.beginHistory()
  Object.assign(progress, {
    part: 'history',
    deltaLink: progress.link,
    deltaLinkAt: progress.linkAt,
    link: null,
    linkAt: null,
    slice: null,
    listingAt: null,
    until: addDays(progress.window ?? '', -1),
  })
}

async function readHistory(progress: Progress, tools: StreamTools): Promise<void> {
  let isListed = true
  const isResumed = progress.slice !== null || progress.link !== null
  progress.listingAt ??= tools.clock.now()
  try {
    await readSlices(progress, tools, 'history')
  } catch (error) {
    if (!isNotOffered(error)) throw error
    isListed = false
    tools.log.warn(
      `${progress.stream.stream}: the service offers no list of it, so days before ${progress.window} cannot be read, and rows that vanished before this reading are not turned into deletes.`,
    )
    progress.ledger.keepUnconfirmed('history')
    progress.replaces = false
  }
  // A listing that no later one follows must not have rows of an earlier sync.
  const isOld = isResumed && tools.config.historyRefreshDays === 0
  // What was not listed is tried again by the next sync: it may have been a passing refusal.
  Object.assign(progress, {
    part: 'changes',
    asked: false,
    link: progress.deltaLink,
    linkAt: progress.deltaLinkAt,
    deltaLink: null,
    deltaLinkAt: null,
    slice: null,
    until: null,
    historyAt: isListed && !isOld ? progress.listingAt : null,
    listingAt: null,
  })
}

/**
 * Asks a few times when the service reports a conflict. One that stays is another consumer's doing,
 * and starting over would take the delta away from it; unless this very link may have been asked
 * before, and its answer lost: then it is used up, and nobody else can mend that.
 */
async function asked(
  progress: Progress,
  { client, output, patience, signal }: StreamTools,
  ask: () => Promise<PageEnd>,
  mayBeUsed = false,
): Promise<PageEnd> {
  let isUsedUp = mayBeUsed
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 409) throw error
      const pause = patience.conflictMs[tries]
      isUsedUp ||= error.isRepeat && progress.part === 'changes'
      if (pause !== undefined) {
        client.traffic.retries++
        await sleep(pause, signal)
      } else if (isUsedUp) throw new DeadLinkError('used', error.message)
      else {
        progress.asked = false
        await output.state()
        throw conflict(error)
      }
    }
  }
}

function conflict(error: HttpError): ConnectorError {
  return new ConnectorError(
    'transient',
    `Another consumer seems to read the changes of this collection: the service allows one active delta for each collection. Make sure that no second connection or program reads it with the same client; the next sync tries again. ${error.message}`,
    { cause: error },
  )
}

/** A stored link may be none of a delta, which a reading from the beginning mends. */
function followable(link: string | undefined, { isContinued }: Progress): string {
  if (link !== undefined) return link
  const what = 'The service answered a delta without a link to its changes.'
  if (isContinued) throw new DeadLinkError('unusable', what)
  throw new ConnectorError(
    'system',
    `${what} Nothing is lost; tell the operator of the service if it comes again.`,
  )
}
