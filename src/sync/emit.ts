import { warningOf } from '../ground/message-ids.ts'
import { HttpError } from '../http/http-error.ts'
import type { PageEnd } from '../page/page-scanner.ts'
import type { LinkKind } from '../pages/page-failures.ts'
import type { Slice } from '../pages/slices.ts'
import type { KeyMembers } from '../protocol/connector.ts'
import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { type Key, keyAt } from '../rows/id-set.ts'
import { createPageOrder, dayIn, type RowTreatment } from '../rows/row-treatment.ts'
import type { Stream } from '../streams/collections.ts'
import { keyOf } from '../streams/streams.ts'
import type { Link } from './position.ts'
import type { StreamContext, StreamState } from './stream-state.ts'

/** The number of deletes that are written together. */
const CHUNK = 1000

/** Deletes the rows that a complete read did not find, which completes the generation. */
export async function emitDeletes(
  context: Pick<StreamContext, 'state' | 'output' | 'clock'>,
): Promise<void> {
  const { state, output, clock } = context
  const { keys, stream, mode, generation } = state
  if (mode === 'incremental') {
    // The records before the deletes are only sent together with a STATE.
    let isFirst = true
    for (const chunk of chunks(keys.gone())) {
      if (isFirst) await output.checkpoint()
      isFirst = false
      const rows = chunk.map((key) => members(key, stream))
      await output.deletes(rows, state.stamp(clock.now()))
    }
    keys.commitDeletes()
  }
  if (!state.isSettled && state.replacesOlder) output.generationComplete(generation)
  state.settle()
}

/** A key as the members of a JSON object: `"id":7`. */
function members(key: Key, stream: Stream): KeyMembers {
  const columns = keyOf(stream)
  const values = columns.length === 1 ? [String(key)] : texts(key)
  return columns.map((column, i) => `${JSON.stringify(column)}:${values[i]}`).join(',')
}

/** The JSON texts of a key with several columns, which the sets keep as a JSON array. */
function texts(key: Key): string[] {
  return (JSON.parse(String(key)) as unknown[]).map((value) => JSON.stringify(value))
}

function* chunks(keys: Iterable<Key>): Generator<Key[]> {
  let chunk: Key[] = []
  for (const key of keys) {
    chunk.push(key)
    if (chunk.length === CHUNK) {
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
}

/** What the records of an answer are for. */
type Purpose =
  /** They are the rows of the stream: a list, or the first phase of a delta. */
  | 'rows'
  /** They have changed: the answer to a delta link. */
  | 'changes'
  /** Those are written that a complete read has not found, or that were not confirmed. */
  | 'second look'
  /** They are compared with what the warehouse has, and not written. */
  | 'comparison'
  /** Those are written that differ from the warehouse, and are as the comparison has found them. */
  | 'repair'

/**
 * How the records of pages are written. Without a `place`, their rows are not tracked; the `order` is by default batch
 * by batch.
 */
export interface EmitSettings extends Partial<RowTreatment> {
  readonly purpose: Purpose
  /** The slice of a list to which the pages belong. */
  readonly slice?: string
  /** See `Pages.read`. */
  readonly of?: string
  /** Called with each row that only a second look has found. */
  readonly onFound?: (key: Key) => void
}

/**
 * Writes the records of the pages from `first` on, and yields the end of each page. Its last records are sent with
 * the next checkpoint or the next page.
 */
export async function* emitPages(
  first: string,
  kind: LinkKind,
  context: StreamContext,
  settings: EmitSettings,
): AsyncGenerator<PageEnd, void> {
  const { state, pages, output, clock, parts, suppression } = context
  const { purpose, place, mark, order = createPageOrder(), mayOmit = true, onFound } = settings
  const { slice = '', of = first } = settings
  const { keys, mode } = state
  let isLaterPage = false
  for await (const event of pages.read(first, kind, { slice, of })) {
    if (event.type === 'interrupted') {
      keys.pageInterrupted()
      continue
    }
    const { batch, leftOut } = suppression.apply(event.batch)
    // A row of the warehouse may have become a suppressed person's, or its person was suppressed since.
    if (leftOut.length > 0)
      keys.markGone(leftOut.map((i) => keyAt(event.batch, i)).filter(keys.has))
    await write(batch, event.type === 'records' && mayOmit)
    if (event.type === 'records') continue
    keys.pageEnded()
    isLaterPage = true
    output.running()
    yield event.end
  }

  function write(batch: RecordBatch, mayRepeat: boolean): Promise<void> | undefined {
    if (batch.count === 0) return undefined
    const contradicted = order.settle(batch)
    if (purpose === 'comparison') {
      parts.note(batch)
      keys.markFound(batch)
      return undefined
    }
    const isRead = purpose === 'rows' || purpose === 'changes'
    if (isRead) state.addRows(batch.count)
    if (purpose === 'rows') noteOrder(batch)
    if (purpose === 'repair') parts.skipOthers(batch)
    if (mode === 'full_refresh') keys.skipSent(batch)
    else if (place !== undefined) track(batch, place, mayRepeat, contradicted)
    if (!isRead) state.addRows(written(batch))
    if (purpose === 'rows') parts.note(batch)
    else if (purpose !== 'repair') parts.written(batch)
    return output.records(batch, state.stamp(clock.now()))
  }

  /** Notes in which place the rows are. */
  function track(
    batch: RecordBatch,
    where: RowTreatment['place'],
    mayRepeat: boolean,
    contradicted: readonly Key[],
  ): void {
    mark?.(batch, contradicted)
    if (purpose === 'changes') noteChanges(batch, state)
    if (purpose === 'second look') keys.skipFound(batch)
    const isChange = purpose === 'changes'
    keys.observe(batch, typeof where === 'function' ? where(batch) : where, { mayRepeat, isChange })
    if (contradicted.length > 0) keys.leaveUnconfirmed(contradicted)
    if (state.auditedParts.size > 0 && purpose !== 'repair') keys.noteWritten(batch)
    if (onFound === undefined) return
    for (let i = 0; i < batch.count; i++) if (batch.ops[i] === UPSERT) onFound(keyAt(batch, i))
  }

  /** A read of several pages is complete only if no row has moved between them. */
  function noteOrder(batch: RecordBatch): void {
    if (order.isRising) return
    if (isLaterPage) state.orderMayMove()
    // The definitions of several activity structures may be the same.
    if (state.stream.nested === undefined && keys.hasMet(batch)) state.makeListDue()
  }
}

/**
 * Notes the latest changes, which audits compare their lists with. They are always noted, so that the first audit
 * after `audit_days` is set has them.
 */
function noteChanges(batch: RecordBatch, { latestChanges, stream }: StreamState): void {
  const { dateField } = stream
  latestChanges.note(batch, (i) => (dateField === undefined ? null : dayIn(batch, i, dateField)))
}

function written({ ops, count }: RecordBatch): number {
  return ops.subarray(0, count).reduce((sum, op) => sum + Number(op !== SKIP), 0)
}

/** The position of a listing: its slice and page, null for the first page. */
export interface Listing {
  readonly slice: string | null
  readonly page: Link | null
}

/** Writes the records of lists from a position on, and yields the new position after each page. */
export async function* emitSlices(
  slices: readonly Slice[],
  { slice: at, page: stored }: Listing,
  settings: EmitSettings,
  context: StreamContext,
): AsyncGenerator<Listing, void> {
  const { stream } = context.state
  const first = slices.findIndex(({ key }) => key === at)
  let page = first < 0 ? null : stored
  let refusals = 0
  for (const [i, { key, link }] of slices.entries()) {
    if (i < first) continue
    const kind = page === null ? 'list' : 'next'
    try {
      for await (const end of emitPages(page?.url ?? link, kind, context, {
        ...settings,
        slice: key,
        of: link,
      })) {
        if (end.nextLink === undefined) continue
        yield { slice: key, page: { url: end.nextLink, at: context.clock.now() } }
      }
    } catch (error) {
      // Not every collection with references is documented to list them here.
      if (stream.nested !== 'referenced_collections' || !isUnknown(error)) throw error
      // If all collections are refused, the stream is not offered; treating it as empty would delete everything.
      if (++refusals === slices.length) throw error
      keepReferences(key, error, context)
    }
    page = null
    const next = slices[i + 1]
    if (next !== undefined) yield { slice: next.key, page }
  }
}

function isUnknown(error: unknown): error is HttpError {
  return error instanceof HttpError && error.is('unknown')
}

/**
 * Keeps the rows of a collection that was not listed, because they may still exist; also those that a new generation
 * would remove.
 */
function keepReferences(collection: string, error: HttpError, { state, log }: StreamContext): void {
  const { stream, keys, mode, startsNoDelta } = state
  const kept = keys.keepUnseen('window', (key) => JSON.parse(String(key))[0] === collection)
  const what = warningOf(
    'references-not-listed',
    `${stream.stream}: the service did not list the references of ${collection} this time`,
  )
  if (startsNoDelta) {
    state.keepOlder()
    log.info(`${what}. ${error.message}`)
  } else if (kept > 0) {
    state.keepOlder()
    log.warn(
      `${what}, so the ${kept} that the warehouse may have stay as they are. ${error.message}`,
    )
  } else if (mode === 'full_refresh') {
    log.warn(`${what}, so this full refresh has none of them. ${error.message}`)
  } else log.info(`${what}. ${error.message}`)
}
