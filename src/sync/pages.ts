import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import type { Body, Client } from '../http/client.ts'
import { REAL_TIME } from '../http/clock.ts'
import type { RetryCause } from '../http/exchange.ts'
import { createCircleCheck } from '../http/links.ts'
import { type RetryPolicy, SLOWEST_BODY_MS, tooSlow } from '../http/retry.ts'
import { afterRequestSent } from '../http/transport.ts'
import { lastNextLink } from '../page/last-next-link.ts'
import { MalformedPageError, type PageEnd, type PageScanner } from '../page/page-scanner.ts'
import { createJsonBatch, type RecordBatch } from '../records/record-batch.ts'
import { createWaiting, type WaitListener } from './notices.ts'
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
  type Tries,
} from './page-failures.ts'
import type { PageReader } from './page-reader.ts'

/** What the reading of pages comes to, in its order. */
export type PageEvent =
  /** Records of a page of which the rest has still to arrive. */
  | { readonly type: 'records'; readonly batch: RecordBatch }
  /** The page broke off after records of it had come; it is requested again. */
  | { readonly type: 'interrupted' }
  | LastEvent

/** The last records of a page, and its end; its links can be followed. */
interface LastEvent {
  readonly type: 'page'
  readonly batch: RecordBatch
  readonly end: PageEnd
}

/** What pages belong to. */
interface Belonging {
  readonly of?: string
  readonly slice?: string
}

export interface Pages {
  /**
   * Reads the pages from `first` to the one without a next one; a batch is valid until the next event is
   * asked for. The pages belong to `slice`, and their links stay in the collection of `of`, a link of ours,
   * which is `first` if left out. A record by itself, of a `single` link, becomes a page of one.
   *
   * Throws a DeadLinkError for a link that is dead, and an HttpError for any other refusal: of a link
   * that is made by us every one, because it is about the request; of a `delta` link the conflict 409,
   * which may be another consumer's doing. A conflict is asked again a few times first.
   */
  read(first: string, kind: LinkKind, belonging?: Belonging): AsyncGenerator<PageEvent, void>
  /** How many pages were read since the last call of `restartCount`. */
  readonly count: number
  restartCount(): void
}

export interface PagesSettings {
  readonly client: Client
  readonly reader: PageReader
  readonly signal: AbortSignal
  readonly retryPolicy: RetryPolicy
  readonly waits: WaitListener
}

/** Pages without records are normal, but a chain of them that never ends is not. */
const MAX_EMPTY_PAGES = 1000
/** A page that has to be parsed takes up to twenty times its size of memory. */
const MAX_PARSED_BYTES = 8 * 1024 ** 2
/** No page is that large: a body that never ends. */
const MAX_PAGE_BYTES = 4 * 1024 ** 3
/** Nor so large without a record, which may have 64 MiB itself: the most that max_record_mb can say. */
const MAX_BARREN_BYTES = 72 * 1024 ** 2

/** An integer or a text: what is written in other ways could be one row under two keys. */
const KEY = /^(-[1-9]\d*|[1-9]\d*|".+")$/s
/** The byte order mark. */
const MARK = Buffer.from('\ufeff')
/** What a page has around a record. */
const [OPENING, CLOSING] = [Buffer.from('{"value":['), Buffer.from(']}')]
const NO_KEY = 'a record has an `id` that is neither an integer nor a text'

export function createPages(settings: PagesSettings): Pages {
  const { client, reader, signal, retryPolicy, waits } = settings
  const { bodyMs: slowestMs = SLOWEST_BODY_MS, time = REAL_TIME } = retryPolicy
  let count = 0
  /** The next page, requested before the present one is worked on. */
  let ahead: { readonly link: string; readonly body: Promise<Body> } | undefined
  /** Ends the requests of the present chain. */
  let stop = new AbortController()
  /** Why the latest request has to wait. */
  let retryCause: RetryCause | undefined
  return {
    read,
    get count() {
      return count
    },
    restartCount() {
      count = 0
    },
  }

  async function* read(
    first: string,
    kind: LinkKind,
    { of = first, slice = '' }: Belonging = {},
  ): AsyncGenerator<PageEvent, void> {
    // A signal that has come before would not be told to a listener.
    signal.throwIfAborted()
    const onAbort = () => stop.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const waiting = createWaiting(time, () => waits.waiting(retryCause ?? client.retryCause))
    try {
      if (kind === 'next' || kind === 'delta') acceptStored(first, of)
      const isCircle = createCircleCheck(first)
      let empty = 0
      for (let link: string | undefined = first; link !== undefined; ) {
        waiting.restart()
        const from: LinkKind = link === first ? kind : 'next'
        let tries: Tries | undefined
        let page: LastEvent | undefined
        while (page === undefined) {
          try {
            waiting.begin()
            const answer: Body = await request(link, of, tries?.isRepeat ?? false)
            const body = from === 'single' ? asPage(answer) : answer
            waiting.end()
            if ('whole' in body) page = await whole(body.whole, { of, slice })
            else if ('parse' in reader)
              page = await whole(await collected(body.parts), { of, slice })
            else page = yield* parts(reader.scanner, body.parts)
          } catch (error) {
            signal.throwIfAborted()
            tries ??= createTries(time)
            const pause = pauseAfter(error, from, tries, retryPolicy)
            client.traffic.retries++
            retryCause = { reason: asConnectorError(pageFailure(error)).message }
            waiting.begin()
            await time.sleep(pause, signal)
          }
        }
        const { end } = page
        count++
        empty = end.count === 0 ? empty + 1 : 0
        check(end, of, isCircle, empty)
        yield page
        link = end.nextLink
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      waiting.close()
      dropAhead()
    }
  }

  /** Before a bookmark moves to a link: one that cannot be followed would stop every later sync. */
  function check(
    { nextLink, deltaLink }: PageEnd,
    of: string,
    isCircle: (link: string) => boolean,
    empty: number,
  ): void {
    for (const link of [nextLink, deltaLink])
      if (link !== undefined) client.assertFollowable(link, of)
    if (nextLink === undefined) return
    if (isCircle(nextLink)) throw endlessChain(true)
    if (empty > MAX_EMPTY_PAGES) throw endlessChain(false)
  }

  function acceptStored(link: string, of: string): void {
    try {
      client.assertFollowable(link, of)
    } catch (error) {
      throw new DeadLinkError('unusable', error instanceof Error ? error.message : String(error))
    }
  }

  function request(link: string, of: string, isRepeat: boolean): Promise<Body> {
    if (ahead?.link !== link) return start(link, of, isRepeat)
    const { body } = ahead
    ahead = undefined
    return body
  }

  function start(link: string, of: string, isRepeat: boolean): Promise<Body> {
    retryCause = undefined
    return client.get(link, {
      of,
      isRepeat,
      signal: stop.signal,
      onRetry(latest) {
        retryCause = latest
        if (latest.until !== undefined) waits.rateLimited(latest.until)
      },
    })
  }

  /** Ends when the request is on the wire, so that the work after it does not hold it back. */
  function requestAhead(link: string | undefined, of: string): Promise<void> | undefined {
    if (link === undefined || ahead?.link === link) return undefined
    if (ahead !== undefined) dropAhead()
    ahead = { link, body: start(link, of, false) }
    // Whoever awaits it later sees its failure; until then it must not count as unhandled.
    ahead.body.catch(() => {})
    return afterRequestSent()
  }

  /** A page that was requested, and that nobody wants any more, would keep a connection and its bytes. */
  function dropAhead(): void {
    ahead = undefined
    stop.abort()
    stop = new AbortController()
  }

  async function whole(
    chunks: readonly Buffer[],
    { of, slice }: Required<Pick<Belonging, 'of' | 'slice'>>,
  ): Promise<LastEvent> {
    await requestAhead(lastNextLink(chunks), of)
    const { batch, end } =
      'parse' in reader ? reader.parse(Buffer.concat(chunks), slice) : scan(reader.scanner, chunks)
    const isLinkNew = requestAhead(end.nextLink, of)
    if (isLinkNew !== undefined) await isLinkNew
    return { type: 'page', batch, end }
  }

  async function* parts(
    scanner: PageScanner,
    chunks: AsyncIterable<Buffer>,
  ): AsyncGenerator<PageEvent, LastEvent> {
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
        if (bytes > MAX_PAGE_BYTES || bytes - lastRecord.bytes > MAX_BARREN_BYTES)
          throw endlessBody()
        if (performance.now() - lastRecord.at > slowestMs) throw tooSlow()
      }
      return { type: 'page', batch: EMPTY, end: ended(scanner) }
    } catch (error) {
      const mayPass = error instanceof ConnectorError && error.failure === 'transient'
      if (isBegun && (mayPass || error instanceof MalformedPageError)) yield { type: 'interrupted' }
      throw mayPass ? new InterruptedPageError(error.message, { cause: error }) : error
    }
  }
}

const EMPTY = createJsonBatch([])

function scan(scanner: PageScanner, chunks: readonly Buffer[]) {
  scanner.begin()
  const batch = scanned(scanner, chunks)
  return { batch, end: ended(scanner) }
}

/** The end of a page; an empty link is none. */
function ended(scanner: PageScanner): PageEnd {
  const { nextLink, deltaLink, count } = scanner.end()
  return { count, ...(nextLink && { nextLink }), ...(deltaLink && { deltaLink }) }
}

/** The records of the next bytes; their keys are such that a warehouse can tell rows apart by them. */
function scanned(scanner: PageScanner, chunks: readonly Buffer[]): RecordBatch {
  const batch = scanner.push(...chunks)
  for (let i = 0; i < batch.count; i++) {
    if (Number.isNaN(batch.keys[i]) && !KEY.test(batch.keyText(i)))
      throw new MalformedPageError(NO_KEY)
  }
  return batch
}

/** A record by itself as the page that holds it. */
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

/** The scanner takes the mark off the beginning of a page, and refuses it elsewhere. */
function withoutMark(text: Buffer): Buffer {
  return text.subarray(0, MARK.length).equals(MARK) ? text.subarray(MARK.length) : text
}

async function collected(parts: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = []
  let size = 0
  for await (const part of parts) {
    all.push(part)
    size += part.length
    if (size > MAX_PARSED_BYTES) throw pageTooLarge(MAX_PARSED_BYTES)
  }
  return all
}
