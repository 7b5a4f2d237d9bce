import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope, notEntitled } from '../http/token.ts'
import { createJsonBatch, DELETE, type RecordBatch, SOFT_DELETE } from '../records/record-batch.ts'
import { readScopes } from '../streams/streams.ts'
import { addDays, type Day, dayOf } from '../sync/days.ts'
import { pageFailure } from '../sync/page-failures.ts'
import { createPageReader, type PageReader } from '../sync/page-reader.ts'
import { slicesOf } from '../sync/slices.ts'
import type { StreamTask } from '../sync/stream-task.ts'

/** How far back records with a day are looked for: a pay period at most. */
const DAYS = 31

/** A stream to look at. */
export type PreviewTask = Pick<StreamTask, 'stream' | 'redaction'>

/** The first records of a stream's list, or why there are none. */
export interface Preview {
  readonly stream: string
  /** JSON texts. What `personal_data` leaves out is not in them. */
  readonly records: readonly string[]
  /** True when the service has more of them. */
  readonly hasMore: boolean
  /** Of records with a day: the days that were looked at. */
  readonly days?: { readonly from: Day; readonly until: Day }
  readonly problem?: ConnectorError
}

export interface PreviewSettings extends SessionSettings {
  /** At most so many records of each stream. */
  readonly limit: number
}

/**
 * Yields the first records of each stream, in the order of the tasks: what the first page of its list
 * has. Never asks for a delta. Throws when there is no token, or when the process is to stop.
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
      // Not every collection that has references is documented to list them here.
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
      found.push(...textsOf(batch))
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

/** What the parts of a page hold; the last one tells whether there is a next page. */
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
