import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import type { Body, Client } from '../http/client.ts'
import { REAL_TIME } from '../http/clock.ts'
import { createCircleCheck } from '../http/endpoints.ts'
import type { RetryCause } from '../http/exchange.ts'
import { type RetryPolicy, SLOWEST_BODY_MS, tooSlow } from '../http/retry.ts'
import { afterRequestSent } from '../http/transport.ts'
import {
  lastNextLink,
  MalformedPageError,
  type PageEnd,
  type PageScanner,
} from '../page/page-scanner.ts'
import { createJsonBatch, type RecordBatch } from '../records/record-batch.ts'
import {
  createTries,
  DeadLinkError,
  endlessBody,
  endlessChain,
  InterruptedPageError,
  type LinkKind,
  pageFailure,
  pageTooLarge,
  pauseAfter,
} from './page-failures.ts'
import type { PageReader } from './page-reader.ts'
import { createWaiting, type Waiting, type WaitListener } from './waiting.ts'

/** The events of reading pages, in their order. */
export type PageEvent =
  /** Some records of a page whose rest has not arrived yet. */
  | { readonly type: 'records'; readonly batch: RecordBatch }
  /** The page was interrupted after some of its records; it is requested again. */
  | { readonly type: 'interrupted' }
  | LastEvent

/** The last records of a page, and its end. */
interface Page {
  readonly batch: RecordBatch
  readonly end: PageEnd
}

/** A page whose links can be followed. */
interface LastEvent extends Page {
  readonly type: 'page'
  /** Whether it was requested before, and the service may have answered. */
  readonly isRepeated: boolean
}

/** What the pages are read for. */
export interface PageOrigin {
  /** A link that the connector created, in whose collection all links must stay: by default the first one. */
  readonly of?: string
  /** The slice of a list to which the pages belong. */
  readonly slice?: string
}

export interface PagesSettings {
  readonly client: Client
  readonly reader: PageReader
  readonly signal: AbortSignal
  readonly retryPolicy: RetryPolicy
  readonly waits: WaitListener
  /** Counts the requests, including repeated ones. */
  readonly requests: { count: number }
}

/** The most successive pages without records: a few are normal. */
const MAX_EMPTY_PAGES = 1000
/** The limit for a page that is parsed as a whole, which needs up to twenty times its size in memory. */
const MAX_PARSED_BYTES = 8 * 1024 ** 2
/** The limit for a page, so that an endless body is noticed. */
const MAX_PAGE_BYTES = 4 * 1024 ** 3
/**
 * The limit for the part of a page without a complete record; a record may have up to 64 MiB, the maximum of
 * max_record_mb.
 */
const MAX_BARREN_BYTES = 72 * 1024 ** 2

/** An integer or a string. Other forms of a number could give one row two keys. */
const KEY = /^(-[1-9]\d*|[1-9]\d*|".+")$/s
/** The byte order mark. */
const MARK = Buffer.from('\ufeff')
/** The text around a record that makes it a page. */
const [OPENING, CLOSING] = [Buffer.from('{"value":['), Buffer.from(']}')]
const NO_KEY = 'a record has an `id` that is neither an integer nor a text'

/** The reading of one stream's pages. */
export type Pages = ReturnType<typeof createPages>

export function createPages(settings: PagesSettings) {
  const { client, reader, signal, retryPolicy, waits } = settings
  const { bodyMs: slowestMs = SLOWEST_BODY_MS, time = REAL_TIME } = retryPolicy
  const requests = createPageRequests(settings)
  let count = 0
  return {
    /**
     * Reads the pages from `first` to the last one. A batch is valid until the next event is requested. The record of
     * a `single` link becomes a page with one record.
     *
     * Throws a DeadLinkError for a dead link, and an HttpError for any other refusal: every refusal of a link that the
     * connector created, because it concerns the request, and a conflict (409) of a `delta` link, because another
     * consumer may have caused it. After a conflict, the request is first repeated a few times.
     */
    read,
    /** The number of pages that were read since the last call of `restartCount`. */
    get count(): number {
      return count
    },
    restartCount() {
      count = 0
    },
  }

  async function* read(
    first: string,
    kind: LinkKind,
    { of = first, slice = '' }: PageOrigin = {},
  ): AsyncGenerator<PageEvent, void> {
    // A listener is not called for a signal that was aborted before.
    signal.throwIfAborted()
    const onAbort = () => requests.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const waiting = createWaiting(time, () => waits.waiting(requests.cause ?? client.retryCause))
    try {
      if (kind === 'next' || kind === 'delta') acceptStored(first, of, client)
      const isCircle = createCircleCheck(first)
      let empty = 0
      for (let link: string | undefined = first; link !== undefined; ) {
        waiting.restart()
        const from: LinkKind = link === first ? kind : 'next'
        const page: LastEvent = yield* readPage(link, from, { of, slice }, waiting)
        const { nextLink, deltaLink } = page.end
        count++
        empty = page.end.count === 0 ? empty + 1 : 0
        // Before the state contains them: a link that cannot be followed would stop every later sync.
        for (const one of [nextLink, deltaLink])
          if (one !== undefined) client.assertFollowable(one, of)
        if (nextLink !== undefined && isCircle(nextLink)) throw endlessChain(true)
        if (nextLink !== undefined && empty > MAX_EMPTY_PAGES) throw endlessChain(false)
        yield page
        link = nextLink
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      waiting.close()
      requests.drop()
    }
  }

  /** Requests a page until it has been read. Records of a large one are yielded as they arrive. */
  async function* readPage(
    link: string,
    kind: LinkKind,
    origin: Required<PageOrigin>,
    waiting: Waiting,
  ): AsyncGenerator<PageEvent, LastEvent> {
    const tries = createTries(time)
    const onLost = () => {
      tries.isRepeat = true
    }
    for (;;) {
      try {
        waiting.begin()
        const answer = await requests.get(link, origin.of, tries.isRepeat, onLost)
        waiting.end()
        const body = kind === 'single' ? asPage(answer) : answer
        const { batch, end } =
          'whole' in body || 'parse' in reader
            ? await whole(
                'whole' in body ? body.whole : await collected(body.parts, slowestMs),
                origin,
              )
            : yield* inParts(reader.scanner, body.parts, slowestMs)
        return { type: 'page', batch, end, isRepeated: tries.isRepeat }
      } catch (error) {
        signal.throwIfAborted()
        const pause = pauseAfter(error, kind, tries, retryPolicy)
        client.traffic.retries++
        requests.cause = { reason: asConnectorError(pageFailure(error)).message }
        waiting.begin()
        await time.sleep(pause, signal)
      }
    }
  }

  /** Requests the next page before it processes a whole one: the link is usually the last member. */
  async function whole(
    chunks: readonly Buffer[],
    { of, slice }: Required<PageOrigin>,
  ): Promise<Page> {
    await requests.sendAhead(lastNextLink(chunks), of)
    const { batch, end } =
      'parse' in reader ? reader.parse(Buffer.concat(chunks), slice) : scan(reader.scanner, chunks)
    const isLinkNew = requests.sendAhead(end.nextLink, of)
    if (isLinkNew !== undefined) await isLinkNew
    return { batch, end }
  }
}

function acceptStored(link: string, of: string, client: Client): void {
  try {
    client.assertFollowable(link, of)
  } catch (error) {
    throw new DeadLinkError('unusable', error instanceof Error ? error.message : String(error))
  }
}

/** The requests of a chain of pages. The next page is requested before the current one is processed. */
function createPageRequests({ client, requests, waits }: PagesSettings) {
  /** The next page. */
  let ahead: { readonly link: string; readonly body: Promise<Body>; wasLost: boolean } | undefined
  /** Aborts the requests of the current chain of pages. */
  let stop = new AbortController()
  const pages = {
    /** Why the latest request is waiting. */
    cause: undefined as RetryCause | undefined,
    /** The answer for a link, which may have been requested before. */
    get(link: string, of: string, isRepeat: boolean, onLost: () => void): Promise<Body> {
      if (ahead?.link !== link) return start(link, of, isRepeat, onLost)
      const one = ahead
      ahead = undefined
      return one.body.finally(() => {
        if (one.wasLost) onLost()
      })
    },
    /**
     * Requests a page, if there is a link that was not yet requested. Resolves when the request has been sent, so that
     * the following work does not delay it.
     */
    sendAhead(link: string | undefined, of: string): Promise<void> | undefined {
      if (link === undefined || ahead?.link === link) return undefined
      if (ahead !== undefined) pages.drop()
      const lost = () => {
        one.wasLost = true
      }
      const one = { link, body: start(link, of, false, lost), wasLost: false }
      ahead = one
      // The failure is thrown when the body is awaited; until then it must not count as an unhandled rejection.
      one.body.catch(() => {})
      return afterRequestSent()
    },
    /** Discards a page that was requested but is not needed, because it would occupy a connection and memory. */
    drop() {
      ahead = undefined
      stop.abort()
      stop = new AbortController()
    },
    /** Aborts all requests. */
    abort: (reason: unknown) => stop.abort(reason),
  }
  return pages

  function start(link: string, of: string, isRepeat: boolean, onLost = () => {}): Promise<Body> {
    pages.cause = undefined
    return client.get(link, {
      of,
      isRepeat,
      onLost,
      signal: stop.signal,
      onSend: () => requests.count++,
      onRetry(latest) {
        pages.cause = latest
        if (latest.until !== undefined) waits.rateLimited(latest.until)
      },
    })
  }
}

/** Reads a page whose records are yielded as they arrive. */
async function* inParts(
  scanner: PageScanner,
  chunks: AsyncIterable<Buffer>,
  slowestMs: number,
): AsyncGenerator<PageEvent, Page> {
  scanner.begin()
  let isBegun = false
  let bytes = 0
  let lastRecord = { bytes, at: performance.now() }
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      const batch = scanned(scanner, [chunk])
      if (batch.count > 0) {
        isBegun = true
        yield { type: 'records', batch }
        lastRecord = { bytes, at: performance.now() }
      }
      if (bytes > MAX_PAGE_BYTES || bytes - lastRecord.bytes > MAX_BARREN_BYTES) throw endlessBody()
      if (performance.now() - lastRecord.at > slowestMs) throw tooSlow()
    }
    return { batch: EMPTY, end: scanner.end() }
  } catch (error) {
    const mayPass = error instanceof ConnectorError && error.failure === 'transient'
    if (isBegun && (mayPass || error instanceof MalformedPageError)) yield { type: 'interrupted' }
    throw mayPass ? new InterruptedPageError(error.message, { cause: error }) : error
  }
}

const EMPTY = createJsonBatch([])

function scan(scanner: PageScanner, chunks: readonly Buffer[]) {
  scanner.begin()
  const batch = scanned(scanner, chunks)
  return { batch, end: scanner.end() }
}

/** Scans the next bytes, and checks that a warehouse can identify rows by their keys. */
function scanned(scanner: PageScanner, chunks: readonly Buffer[]): RecordBatch {
  const batch = scanner.push(...chunks)
  if (batch.isRising) return batch
  for (let i = 0; i < batch.count; i++) {
    if (Number.isNaN(batch.keys[i]) && !KEY.test(batch.keyText(i)))
      throw new MalformedPageError(NO_KEY)
  }
  return batch
}

/** Converts a single record to a page that contains it. */
function asPage(body: Body): Body {
  if ('parts' in body) return { parts: partsAsPage(body.parts) }
  return { whole: [OPENING, withoutMark(Buffer.concat(body.whole)), CLOSING] }
}

async function* partsAsPage(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield OPENING
  let start = Buffer.alloc(0)
  for await (const part of parts) {
    if (start.length >= MARK.length) {
      yield part
      continue
    }
    start = Buffer.concat([start, part])
    if (start.length >= MARK.length) yield withoutMark(start)
  }
  yield CLOSING
}

/** The scanner accepts a byte order mark only at the beginning of a page. */
function withoutMark(text: Buffer): Buffer {
  return text.subarray(0, MARK.length).equals(MARK) ? text.subarray(MARK.length) : text
}

async function collected(parts: AsyncIterable<Buffer>, slowestMs: number): Promise<Buffer[]> {
  const all: Buffer[] = []
  const until = performance.now() + slowestMs
  let size = 0
  for await (const part of parts) {
    all.push(part)
    size += part.length
    if (size > MAX_PARSED_BYTES) throw pageTooLarge(MAX_PARSED_BYTES)
    if (performance.now() > until) throw tooSlow()
  }
  return all
}
