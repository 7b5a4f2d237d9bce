import { warningOf } from '../ground/message-ids.ts'
import { HttpError } from '../http/http-error.ts'
import type { PageEnd } from '../page/page-scanner.ts'
import type { KeyMembers } from '../protocol/connector.ts'
import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import { keyOf } from '../streams/streams.ts'
import { dayIn } from './days.ts'
import { type Key, keyAt } from './id-set.ts'
import type { LinkKind } from './page-failures.ts'
import type { Link } from './position.ts'
import { BATCH_ORDER, type RowTreatment } from './row-treatment.ts'
import type { Slice } from './slices.ts'
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

/**
 * How the records of pages are written. Without a `place`, their rows are not tracked; the `order` is by default batch
 * by batch.
 */
export interface EmitSettings extends Partial<RowTreatment> {
  /** The slice of a list to which the pages belong. */
  readonly slice?: string
  /** See `Pages.read`. */
  readonly of?: string
  /** Whether rows are checked a second time: then rows that the read has found are left out. */
  readonly isSecond?: boolean
  /** Called with each row that only this second check has found. */
  readonly onFound?: (key: Key) => void
  /**
   * Set for an audit. The records of its first listing are only noted; of the second one, those are written that the
   * first listing has chosen.
   */
  readonly audit?: 'first' | 'second'
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
  const { state, pages, output, clock, rows } = context
  const { place, mark, order = BATCH_ORDER, mayOmit = true, slice = '', of = first } = settings
  const { isSecond = false, onFound, audit } = settings
  const { keys, mode } = state
  for await (const event of pages.read(first, kind, { slice, of })) {
    if (event.type === 'interrupted') {
      keys.pageInterrupted()
      continue
    }
    if (audit === 'first') takeNote(event.batch)
    else await write(event.batch, event.type === 'records' && mayOmit)
    if (event.type === 'records') continue
    keys.pageEnded()
    output.running()
    yield event.end
  }

  /** The records of the first listing of an audit are not written. */
  function takeNote(batch: RecordBatch): void {
    order.settle(batch)
    rows.take(batch)
    keys.markFound(batch)
  }

  function write(batch: RecordBatch, mayRepeat: boolean): Promise<void> | undefined {
    if (batch.count === 0) return undefined
    if (!isSecond) state.addRows(batch.count)
    order.settle(batch)
    if (audit === 'second') rows.skipOthers(batch, keys.mayHave)
    if (mode === 'full_refresh') keys.skipSent(batch)
    else if (place !== undefined) track(batch, place, mayRepeat)
    if (audit !== 'second') rows.take(batch)
    return output.records(batch, state.stamp(clock.now()))
  }

  /** Notes in which place the rows are. */
  function track(batch: RecordBatch, where: RowTreatment['place'], mayRepeat: boolean): void {
    mark?.(batch)
    if (kind === 'delta') noteChanges(batch, state)
    if (isSecond) keys.skipFound(batch)
    keys.observe(batch, typeof where === 'function' ? where(batch) : where, mayRepeat)
    if (!isSecond) return
    state.addRows(written(batch))
    if (onFound === undefined) return
    for (let i = 0; i < batch.count; i++) if (batch.ops[i] === UPSERT) onFound(keyAt(batch, i))
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
