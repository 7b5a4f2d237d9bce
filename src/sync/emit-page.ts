import { type Batch, SOFT_DELETE, UPSERT } from '../protocol/record-batch.ts'
import type { Place, PlaceOf } from './live-keys.ts'
import type { PageHandler } from './pages.ts'
import { hasHistory, type Progress } from './progress.ts'
import type { StreamTools } from './stream-context.ts'

/** Where the rows of a page live; `anywhere` when no account of them is kept. */
export type Handled = Place | 'anywhere'

/**
 * Hands the batches of pages over: enters them in the ledger, writes their lines, and after each
 * page moves the bookmark to its next link and writes a checkpoint.
 */
export function handOver(progress: Progress, tools: StreamTools, place: Handled): PageHandler {
  const { output, clock } = tools
  const account = place !== 'anywhere' && progress.mode === 'incremental' ? place : undefined
  return {
    batch(batch, isPart) {
      if (account !== undefined) {
        // A delta link that is asked again tells of its rows again; every other page may not.
        const mayRepeat = isPart && progress.part !== 'changes'
        markEarlier(batch)
        progress.ledger.enter(batch, placeIn(batch, account), mayRepeat)
      }
      return batch.count > 0 ? output.records(batch, progress.generation) : undefined
    },
    broken() {
      progress.ledger.pageBroke()
    },
    async end({ nextLink }) {
      progress.ledger.pageEnded()
      output.running()
      if (nextLink === undefined || place === 'anywhere') return
      progress.link = nextLink
      progress.linkAt = clock.now()
      await output.checkpoint()
    },
  }

  /** The later changes of a delta may be of rows that have left its window, or were never in it. */
  function placeIn(batch: Batch, account: Place): Place | PlaceOf {
    if (progress.part !== 'changes' || !hasHistory(progress)) return account
    return (i) => (dayIn(batch.record(i)) < (progress.window ?? '') ? 'history' : 'live')
  }

  /** A row that has moved before the start date is none of those that the warehouse stands for. */
  function markEarlier(batch: Batch): void {
    const { part, start } = progress
    if (part !== 'changes' || start === null) return
    for (let i = 0; i < batch.count; i++) {
      if (batch.ops[i] === UPSERT && dayIn(batch.record(i)) < start) batch.ops[i] = SOFT_DELETE
    }
  }
}

/**
 * The day by which the service filters a dated record: `from` of an assignment, `date` of all
 * others.
 */
function dayIn(record: Uint8Array): string {
  const text = Buffer.from(record.buffer, record.byteOffset, record.length)
  // The quotes of a name inside a text are escaped, so this is a member, and the only one.
  const at = text.indexOf('"date":"')
  if (at >= 0 && text.indexOf('"date"', at + 8) < 0) return text.toString('latin1', at + 8, at + 18)
  const { date, from } = JSON.parse(text.toString('utf8')) as Record<string, unknown>
  return String(date ?? from)
}
