import type { Batch } from '../protocol/records/page-scanner.ts'
import { createIdSet } from './id-set.ts'
import { keyAt, type Place } from './ledger.ts'
import type { PageHandler } from './pages.ts'
import type { Progress } from './progress.ts'
import type { StreamTools } from './stream-tools.ts'

/** Where the rows of a page live; `anywhere` when no account of them is kept. */
export type Handled = Place | 'anywhere'

/**
 * Hands the batches of pages over: enters them in the ledger, writes their lines, and after each
 * page moves the bookmark to its next link and writes a checkpoint.
 */
export function handOver(progress: Progress, tools: StreamTools, place: Handled): PageHandler {
  const { output, clock } = tools
  const isKept = place !== 'anywhere' && progress.mode === 'incremental'
  /** Keys of the page at hand, kept while it is not complete, for a large page only. */
  let handed = createIdSet()
  return {
    batch(batch, isPart) {
      if (isKept) {
        progress.ledger.enter(batch, place)
        if (isPart) remember(batch)
      }
      return batch.count > 0 ? output.records(batch, progress.generation) : undefined
    },
    broken() {
      // A delta link that is asked again tells of them again; everything else may not.
      if (isKept && progress.part !== 'changes') progress.ledger.suspect(handed)
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

  function remember(batch: Batch): void {
    for (let i = 0; i < batch.count; i++) handed.add(keyAt(batch, i))
  }
}
