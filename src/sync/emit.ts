import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import type { PageEnd } from '../page/page-scanner.ts'
import type { KeyMembers } from '../protocol/stream-output.ts'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import { keyOf } from '../streams/streams.ts'
import { type AnswerOrder, BATCH_ORDER, createChangeOrder } from './answer-order.ts'
import type { Day } from './days.ts'
import type { Key } from './id-set.ts'
import type { Place, PlaceOf } from './live-keys.ts'
import { DeadLinkError, type LinkKind } from './page-failures.ts'
import type { Link } from './position.ts'
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

/** How the records of pages are written. */
export interface EmitSettings {
  /** Where the rows are; undefined if that is not tracked. */
  readonly place?: Place | ((batch: RecordBatch) => Place | PlaceOf)
  /** Marks rows that no longer belong to the stream as deleted. */
  readonly mark?: (batch: RecordBatch) => void
  /** Decides which record counts if a row has several; by default batch by batch. */
  readonly order?: AnswerOrder
  /** False if a repeated page always has all of its rows again, as for a delta link. */
  readonly mayOmit?: boolean
  /** The slice of a list to which the pages belong. */
  readonly slice?: string
  /** See `Pages.read`. */
  readonly of?: string
  /** Whether rows are checked a second time: then rows that the read has found are left out. */
  readonly isSecond?: boolean
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
  const { isSecond = false, audit } = settings
  const { keys, mode } = state
  const isTracked = place !== undefined && mode === 'incremental'
  for await (const event of pages.read(first, kind, { slice, of })) {
    if (event.type === 'interrupted') {
      keys.pageInterrupted()
      continue
    }
    const { batch } = event
    if (audit === 'first') {
      order.settle(batch)
      rows.take(batch)
      keys.meet(batch)
    } else if (batch.count > 0) {
      if (!isSecond) state.addRows(batch.count)
      order.settle(batch)
      if (audit === 'second') rows.leaveOutOthers(batch, keys.mayHave)
      if (mode === 'full_refresh') keys.leaveOutSent(batch)
      if (isTracked) {
        mark?.(batch)
        if (kind === 'delta') noteChanges(batch, state)
        if (isSecond) keys.leaveOutMet(batch)
        const where = typeof place === 'function' ? place(batch) : place
        keys.observe(batch, where, event.type === 'records' && mayOmit)
        if (isSecond) state.addRows(written(batch))
      }
      if (audit !== 'second') rows.take(batch)
      await output.records(batch, state.stamp(clock.now()))
    }
    if (event.type === 'records') continue
    keys.pageEnded()
    output.running()
    yield event.end
  }
}

/**
 * Notes the latest changes, which audits compare their lists with. They are always noted, so that the first audit
 * after `audit_days` is set has them.
 */
function noteChanges(batch: RecordBatch, { latestChanges, stream }: StreamState): void {
  const { dateField } = stream
  latestChanges.note(batch, (i) =>
    dateField === undefined ? null : dayIn(batch.received(i), dateField),
  )
}

function written({ ops, count }: RecordBatch): number {
  return ops.subarray(0, count).reduce((sum, op) => sum + Number(op !== SKIP), 0)
}

/**
 * How the answer to a delta link is written: its rows may have left the window or the stream. `onLeft` is called for
 * each row that the start of the delta would no longer return.
 */
export function changedRows(
  field: 'date' | 'from' | undefined,
  start: Day | null,
  window: Day | null,
  onLeft = () => {},
): EmitSettings {
  const settings = { mayOmit: false, order: createChangeOrder() }
  if (field === undefined || start === null || window === null) {
    const mark = ({ ops, count }: RecordBatch) => {
      if (ops.subarray(0, count).includes(DELETE)) onLeft()
    }
    return { ...settings, place: 'window', mark }
  }
  const dayOf = (batch: RecordBatch, i: number) => dayIn(batch.received(i), field)
  const place: EmitSettings['place'] =
    start < window ? (batch) => (i) => (dayOf(batch, i) < window ? 'backfill' : 'window') : 'window'
  return {
    ...settings,
    place,
    mark(batch) {
      for (let i = 0; i < batch.count; i++) {
        const op = batch.ops[i]
        const day = op === UPSERT ? dayOf(batch, i) : undefined
        if (op === DELETE || (day !== undefined && day < window)) onLeft()
        // A row that has moved before the start date is no longer part of the warehouse.
        if (day !== undefined && day < start) batch.ops[i] = SOFT_DELETE
      }
    },
  }
}

/** The date by which the service filters a record. */
function dayIn(record: Uint8Array, field: 'date' | 'from'): string {
  const text =
    record instanceof Buffer ? record : Buffer.from(record.buffer, record.byteOffset, record.length)
  const name = `"${field}":"`
  // A quote inside of a text is escaped, so this is a member; and there is no second one.
  const at = text.indexOf(name)
  const end = at + name.length
  if (at >= 0 && text.indexOf(`"${field}"`, end) < 0) return text.toString('latin1', end, end + 10)
  return String((JSON.parse(text.toString('utf8')) as Record<string, unknown>)[field])
}

/**
 * The link at the end of a page of a delta: to the next page, or on the last page to later changes.
 */
interface DeltaEnd {
  readonly link: Link
  readonly isLast: boolean
}

/** Writes the records of a delta from `first` on, and yields the link at the end of each page. */
export async function* emitDelta(
  first: string,
  kind: LinkKind,
  context: StreamContext,
  settings: EmitSettings,
): AsyncGenerator<DeltaEnd, void> {
  const { state, clock, endpoints } = context
  const of = requestUrl({ path: `/${state.stream.collection}` }, endpoints)
  try {
    const pages = emitPages(first, kind, context, { ...settings, of })
    for await (const { nextLink, deltaLink } of pages) {
      const link = nextLink ?? deltaLink
      if (link === undefined) throw withoutDeltaLink(state.isContinued)
      yield { link: { url: link, at: clock.now() }, isLast: nextLink === undefined }
    }
  } catch (error) {
    throw isConflict(error) ? await conflictError(error, context) : error
  }
}

function isConflict(error: unknown): error is HttpError {
  return error instanceof HttpError && error.is('conflict')
}

/**
 * Converts a conflict (409) on a delta to an error. Usually another consumer causes it, and starting over would end
 * that consumer's delta. But if this link may have been requested before and its answer was lost, the link is used
 * up, and only starting over helps.
 */
async function conflictError(
  conflict: HttpError,
  { state, output }: StreamContext,
): Promise<Error> {
  const { position } = state
  if (position.phase === 'changes') {
    if (position.maybeConsumed || conflict.isRepeat)
      return new DeadLinkError('used', conflict.message)
    state.moveTo({ ...position, requested: false })
  }
  await output.state()
  return new ConnectorError(
    'transient',
    'another-consumer',
    `Another consumer seems to read the changes of this collection: the service allows one active delta for each collection. Make sure that no second connection or program reads it with the same client; the next sync tries again. ${conflict.message}`,
    { cause: conflict },
  )
}

/**
 * The error for a delta without a link to its changes. A stored link may be wrong; reading from the beginning
 * corrects that.
 */
function withoutDeltaLink(isContinued: boolean): Error {
  const what = 'The service answered a delta without a link to its changes.'
  if (isContinued) return new DeadLinkError('unusable', what)
  return new ConnectorError(
    'system',
    'no-delta-link',
    `${what} Nothing is lost; tell the operator of the service if it happens again.`,
  )
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
