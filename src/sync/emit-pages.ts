import type { PageEnd } from '../page/page-scanner.ts'
import { type Batch, SOFT_DELETE, UPSERT } from '../protocol/record-batch.ts'
import type { Day } from './days.ts'
import type { Place, PlaceOf } from './live-keys.ts'
import type { LinkKind } from './page-retries.ts'
import type { StreamContext } from './stream-context.ts'

/** How the records of pages are written. */
export interface EmitSettings {
  /** Where their rows live; left out when no account of them is kept. */
  readonly place?: Place | ((batch: Batch) => Place | PlaceOf)
  /** Takes what is none of the stream's any more for deleted. */
  readonly mark?: (batch: Batch) => void
  /** False when a page that is requested again tells of all its rows again, as a delta link does. */
  readonly mayOmit?: boolean
  /** The slice of a list that the pages belong to. */
  readonly slice?: string
}

/**
 * Writes the records of the pages from `first` on, and yields the end of each page. Its last records
 * leave with the checkpoint that follows, or with the next page.
 */
export async function* emitPages(
  first: string,
  kind: LinkKind,
  { reading, pages, output, treat }: StreamContext,
  { place, mark, mayOmit = true, slice }: EmitSettings,
): AsyncGenerator<PageEnd, void> {
  const { keys, mode } = reading
  const isTracked = place !== undefined && mode === 'incremental'
  for await (const event of pages.read(first, kind, slice)) {
    if (event.type === 'interrupted') {
      keys.pageInterrupted()
      continue
    }
    const { batch } = event
    if (batch.count > 0) {
      reading.addRows(batch.count)
      if (isTracked) {
        mark?.(batch)
        const where = typeof place === 'function' ? place(batch) : place
        keys.observe(batch, where, event.type === 'records' && mayOmit)
      }
      await output.records(treat(batch), reading.generation)
    }
    if (event.type === 'records') continue
    keys.pageEnded()
    output.running()
    yield event.end
  }
}

/** How the answer to a delta link is written: its rows may have left the window, or the stream. */
export function changedRows(
  field: 'date' | 'from' | undefined,
  start: Day | null,
  window: Day | null,
): EmitSettings {
  if (field === undefined || start === null || window === null) {
    return { place: 'window', mayOmit: false }
  }
  const dayOf = (batch: Batch, i: number) => dayIn(batch.record(i), field)
  const place: EmitSettings['place'] =
    start < window ? (batch) => (i) => (dayOf(batch, i) < window ? 'backfill' : 'window') : 'window'
  return {
    place,
    mayOmit: false,
    mark(batch) {
      for (let i = 0; i < batch.count; i++) {
        // A row that has moved before the start date is none of those that the warehouse stands for.
        if (batch.ops[i] === UPSERT && dayOf(batch, i) < start) batch.ops[i] = SOFT_DELETE
      }
    },
  }
}

/** The day by which the service filters a record. */
function dayIn(record: Uint8Array, field: 'date' | 'from'): string {
  const text = Buffer.from(record.buffer, record.byteOffset, record.length)
  const name = `"${field}":"`
  // The quotes of a name inside a text are escaped, so this is a member, and the only one.
  const at = text.indexOf(name)
  const end = at + name.length
  if (at >= 0 && text.indexOf(`"${field}"`, end) < 0) return text.toString('latin1', end, end + 10)
  return String((JSON.parse(text.toString('utf8')) as Record<string, unknown>)[field])
}
