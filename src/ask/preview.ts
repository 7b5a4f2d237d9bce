import { addDays, type Day, dayOf } from '../ground/days.ts'
import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope, notEntitled } from '../http/token.ts'
import { pageFailure } from '../pages/page-failures.ts'
import { createPageReader, type PageReader } from '../pages/page-reader.ts'
import { slicesOf } from '../pages/slices.ts'
import { createSuppression } from '../pages/suppression.ts'
import { createJsonBatch, DELETE, type RecordBatch, SOFT_DELETE } from '../records/record-batch.ts'
import { readScopes } from '../streams/streams.ts'
import type { StreamTask } from '../sync/stream-task.ts'

/** The number of days to search for records with dates: the longest pay period. */
const DAYS = 31

/** A stream to preview. */
export type PreviewTask = Pick<StreamTask, 'stream' | 'redaction'>

/** The first records of a stream's list, or the reason why there are none. */
export interface Preview {
  readonly stream: string
  /** The records as JSON, without the fields that `personal_data` leaves out. */
  readonly records: readonly string[]
  /** Whether the service has more records. */
  readonly hasMore: boolean
  /** The days that were searched, if records have dates. */
  readonly days?: { readonly from: Day; readonly until: Day }
  readonly problem?: ConnectorError
}

export interface PreviewSettings extends SessionSettings {
  /** The maximum number of records per stream. */
  readonly limit: number
}

/**
 * Yields the first records of each stream, from the first page of its list, in the order of the tasks. Never starts a
 * delta. Throws if there is no token, or if the process has to stop.
 */
export async function* preview(
  tasks: readonly PreviewTask[],
  settings: PreviewSettings,
): AsyncGenerator<Preview, void> {
  const session = createSession(settings, undefined)
  try {
    const token = await session.client.token()
    for (const task of tasks) {
      const scopes = readScopes(task.stream)
      if (hasScope(token, session.endpoints, scopes)) yield await look(task, session, settings)
      else yield failed(task, notEntitled(scopes[0], session.endpoints))
    }
  } finally {
    await session.close()
  }
}

function failed({ stream }: PreviewTask, problem: ConnectorError): Preview {
  return { stream: stream.stream, records: [], hasMore: false, problem }
}

async function look(
  task: PreviewTask,
  { client, clock, endpoints }: Session,
  { config, limit, signal }: PreviewSettings,
): Promise<Preview> {
  const { stream, redaction } = task
  const today = dayOf(clock.now())
  const days = stream.dateField ? { from: addDays(today, -DAYS), until: today } : undefined
  const reader = createPageReader(stream, redaction, config.maxRecordMb)
  const suppression = createSuppression(stream, config)
  const records: string[] = []
  let hasMore = false
  try {
    for (const { key, link } of slicesOf(stream, days, config, endpoints)) {
      const page = await firstPage(link, key)
      records.push(...page.records)
      hasMore ||= page.hasMore
      if (records.length > limit) break
    }
  } catch (error) {
    if (signal.aborted) throw error
    return failed(task, explained(asConnectorError(pageFailure(error))))
  }
  return {
    stream: stream.stream,
    records: records.slice(0, limit),
    hasMore: hasMore || records.length > limit,
    ...(days !== undefined && { days }),
  }

  async function firstPage(link: string, slice: string) {
    try {
      return await readPage(link, slice)
    } catch (error) {
      // Not every collection with references is documented to list them here.
      const isRefused = error instanceof HttpError && error.is('unknown')
      if (stream.nested !== 'referenced_collections' || !isRefused) throw error
      return { records: [], hasMore: false }
    }
  }

  async function readPage(link: string, slice: string) {
    const body = await client.get(link)
    const parts = 'whole' in body ? body.whole : body.parts
    const found: string[] = []
    for await (const { batch, hasNext } of batchesOf(parts, reader, slice)) {
      found.push(...textsOf(suppression.apply(batch).batch))
      if (hasNext || found.length > limit) return { records: found, hasMore: hasNext }
    }
    return { records: found, hasMore: false }
  }

  function textsOf(batch: RecordBatch): string[] {
    return Array.from({ length: batch.count }, (_, i) => i)
      .filter((i) => batch.ops[i] !== DELETE && batch.ops[i] !== SOFT_DELETE)
      .map((i) => Buffer.from(batch.record(i)).toString('utf8'))
  }
}

interface Part {
  readonly batch: RecordBatch
  readonly hasNext: boolean
}

/** Yields the batches of a page; the last one says whether there is another page. */
async function* batchesOf(
  parts: Iterable<Buffer> | AsyncIterable<Buffer>,
  reader: PageReader,
  slice: string,
): AsyncGenerator<Part, void> {
  if ('parse' in reader) {
    const whole: Buffer[] = []
    for await (const part of parts) whole.push(part)
    const { batch, end } = reader.parse(Buffer.concat(whole), slice)
    yield { batch, hasNext: end.nextLink !== undefined }
    return
  }
  const { scanner } = reader
  scanner.begin()
  for await (const part of parts) yield { batch: scanner.push(part), hasNext: false }
  const { nextLink } = scanner.end()
  yield { batch: createJsonBatch([]), hasNext: nextLink !== undefined }
}

function explained(error: ConnectorError): ConnectorError {
  const isUnlisted = error instanceof HttpError && error.is('not offered')
  if (!isUnlisted) return error
  return new ConnectorError(
    error.failure,
    'no-list-to-preview',
    'The service offers no list of this stream. A sync reads it by its delta, which a preview never starts.',
    { cause: error },
  )
}
