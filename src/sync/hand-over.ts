import type { Batch } from '../protocol/records/page-scanner.ts'
import { createIdSet } from './id-set.ts'
import { keyAt, type Place, type PlaceOf } from './ledger.ts'
import type { PageHandler } from './pages.ts'
import { hasHistory, type Progress } from './progress.ts'
import type { StreamTools } from './stream-tools.ts'

/** Where the rows of a page live; `anywhere` when no account of them is kept. */
export type Handled = Place | 'anywhere'

/**
 * Hands the batches of pages over: enters them in the ledger, writes their lines, and after each
 * page moves the bookmark to its next link and writes a checkpoint.
 */
export function handOver(progress: Progress, tools: StreamTools, place: Handled): PageHandler {
  const { output, clock } = tools
  const account = place !== 'anywhere' && progress.mode === 'incremental' ? place : undefined
  /** Keys of the page at hand, kept while it is not complete, for a large page only. */
  let handed = createIdSet()
  return {
    batch(batch, isPart) {
      if (account !== undefined) {
        progress.ledger.enter(batch, placeIn(batch, account))
        if (isPart) remember(batch)
      }
      return batch.count > 0 ? output.records(batch, progress.generation) : undefined
    },
    broken() {
      // A delta link that is asked again tells of them again; everything else may not.
      if (account !== undefined && progress.part !== 'changes') progress.ledger.suspect(handed)
      handed = createIdSet()
    },
    async end({ nextLink }) {
      handed = createIdSet()
      output.running()
      progress.link = nextLink ?? null
      progress.linkAt = clock.now()
      if (nextLink !== undefined && place !== 'anywhere' && output.isStateDue()) {
        await output.state(progress.bookmark())
      }
    },
  }

  /** The later changes of a delta may be of rows that have left its window, or were never in it. */
  function placeIn(batch: Batch, account: Place): Place | PlaceOf {
    if (progress.part !== 'changes' || !hasHistory(progress)) return account
    return (i) => (dayIn(batch.record(i)) < (progress.window ?? '') ? 'history' : 'live')
  }

  function remember(batch: Batch): void {
    for (let i = 0; i < batch.count; i++) handed.add(keyAt(batch, i))
  }
}

/** The day by which the service filters a dated record: `from` of an assignment, `date` of all others. */
function dayIn(record: Uint8Array): string {
  const { date, from } = JSON.parse(Buffer.from(record).toString('utf8')) as Record<string, unknown>
  return String(date ?? from)
}
