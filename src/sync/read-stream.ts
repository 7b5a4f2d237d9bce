import { ConnectorError } from '../protocol/errors.ts'
import { isNotOffered } from './not-offered.ts'
import { DeadLinkError } from './page-failures.ts'
import type { Progress } from './progress.ts'
import { readDelta } from './read-delta.ts'
import { readList } from './read-list.ts'
import type { StreamTools } from './stream-context.ts'

/**
 * Reads one stream to its end: from where its bookmark stands, and from the beginning again when a
 * link turns out to be dead (design D3). Starting over is bounded by progress: an attempt that got
 * no further than the best one before it is the last.
 */
export async function readStream(progress: Progress, tools: StreamTools): Promise<void> {
  const { output, pages, clock } = tools
  output.started(() => progress.bookmark())
  for (let best = -1; ; ) {
    pages.restartCount()
    try {
      await readOnce(progress, tools)
      break
    } catch (error) {
      if (!(error instanceof DeadLinkError)) throw error
      const reason = reasonOf(error, progress, tools)
      if (pages.count <= best) throw neverFinishes(error)
      best = pages.count
      progress.startOver(reason, clock.now())
    }
  }
  output.running()
  if (progress.mode === 'incremental' && !progress.ledger.isTracked) output.untracked()
  await output.complete()
}

async function readOnce(progress: Progress, tools: StreamTools): Promise<void> {
  // A delta that was not offered at the last sync may be now.
  if (progress.part === 'listed') progress.readAgain(tools.clock.now())
  if (progress.part === 'list') return readList(progress, tools)
  try {
    await readDelta(progress, tools)
  } catch (error) {
    // Not every delta is documented; what the service does not offer is listed whole instead.
    if (progress.part !== 'load' || !isNotOffered(error)) throw error
    tools.log.warn(
      `${progress.stream.stream}: the service offers no delta of it, so it is listed whole at each sync.`,
    )
    progress.part = 'list'
    await readList(progress, tools)
  }
}

function reasonOf(error: DeadLinkError, progress: Progress, tools: StreamTools): string {
  const { part, linkAt, stream } = progress
  if (error.why === 'used') {
    return `its link is used up, because the answer to it was lost. ${error.message}`
  }
  if (error.why === 'unusable') return `its link cannot be used any more. ${error.message}`
  const isDelta = part === 'load' || part === 'changes'
  if (!isDelta || linkAt === null) return `its link has expired. ${error.message}`
  tools.earlyEnds.add(stream.stream, tools.pages.count > 0)
  const hours = Math.max(0, (tools.clock.now().getTime() - linkAt.getTime()) / 3_600_000)
  return `its delta has ended, although its link is only ${hours.toFixed(1)} hours old. ${error.message}`
}

function neverFinishes(error: DeadLinkError): ConnectorError {
  return new ConnectorError(
    'transient',
    `The service's links die before the stream can be read to its end, probably because another program reads this tenant with the same client at this moment. The next sync tries again. ${error.message}`,
    { cause: error },
  )
}
