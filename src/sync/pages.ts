import type { Body, Client } from '../http/client.ts'
import type { Trouble } from '../http/exchange.ts'
import { HttpError } from '../http/http-error.ts'
import {
  createFailureCount,
  type FailureCount,
  type RetryPolicy,
  SLOWEST_BODY_MS,
  tooSlow,
  waitMs,
} from '../http/retry-policy.ts'
import { REAL_TIME } from '../http/time.ts'
import { afterRequestSent } from '../http/transport.ts'
import { lastNextLink } from '../page/last-next-link.ts'
import { MalformedPageError, RecordTooLargeError } from '../page/malformed-page.ts'
import type { PageEnd, PageScanner } from '../page/page-scanner.ts'
import { asConnectorError, ConnectorError } from '../protocol/errors.ts'
import type { Batch } from '../protocol/record-batch.ts'
import { createCircleCheck } from './circle-check.ts'
import {
  DeadLinkError,
  endlessBody,
  endlessChain,
  InterruptedPageError,
  listConflict,
  pageFailure,
} from './page-failures.ts'
import { createWaiting } from './waiting.ts'

/** What a page gives rise to, in this order: its batches, then its end. */
export interface PageHandler {
  /** `isPart` when the rest of its page has still to arrive. */
  batch(batch: Batch, isPart: boolean): Promise<void> | undefined
  /** The page broke after batches of it had been handled; it will be asked for again. */
  broken(): void
  end(end: PageEnd): Promise<void> | undefined
}

/**
 * Where a link comes from: the first of a list or the start of a delta, which are made by us; a next
 * link of the service, or its delta link.
 */
export type LinkKind = 'list' | 'start' | 'next' | 'delta'

export interface Pages {
  /**
   * Follows links from `first` to the page without a next one and returns that page's end.
   * A link that is dead is a DeadLinkError, any other refusal a HttpError: of a link that is made by us
   * every one, because it is about the request; of a `delta` link the conflict 409, which may be
   * another consumer's doing. A conflict on a `list` is asked again a few times first.
   */
  follow(first: string, kind: LinkKind, handler: PageHandler): Promise<PageEnd>
  /** How many pages were read since the last call of `restartCount`. */
  readonly count: number
  restartCount(): void
}

/** How the bodies of a stream become batches: cut by a scanner, or parsed whole. */
export type PageReader =
  | { readonly scanner: PageScanner }
  /** Throws MalformedPageError. */
  | { readonly parse: (body: Buffer) => { readonly batch: Batch; readonly end: PageEnd } }

export interface PagesSettings {
  readonly client: Client
  readonly reader: PageReader
  readonly signal: AbortSignal
  readonly patience: RetryPolicy
  readonly waits: WaitListener
}

/** Told what a stream waits for. */
export interface WaitListener {
  /** The service asks to wait. */
  rateLimited(until: Date): void
  /** Each minute; why, if that is known. */
  waiting(trouble: Trouble | undefined): void
}

/** Statuses by which the service says that a token in a link is of no use any more (api.md 3, 4). */
const DEAD: ReadonlySet<number> = new Set([400, 404, 409, 410])
/** Those among them that are about what was a good link once. */
const EXPIRED: ReadonlySet<number> = new Set([409, 410])
const CONFLICT = 409
/** Pages without records are normal, but a chain of them that never ends is not. */
const MAX_EMPTY_PAGES = 1000
/** A page that has to be parsed must fit into memory several times. */
const MAX_PARSED_BYTES = 64 * 1024 ** 2
/** No page is that large: a body that never ends. */
const MAX_PAGE_BYTES = 4 * 1024 ** 3
/** Nor so large without a record, which may have 64 MiB itself. */
const MAX_BARREN_BYTES = 72 * 1024 ** 2

/** An integer or a text: what is written in other ways could be one row under two keys. */
const KEY = /^(-[1-9]\d*|[1-9]\d*|".+")$/s
const NO_KEY = 'a record has an `id` that is neither an integer nor a text'

export function createPages(settings: PagesSettings): Pages {
  const { client, reader, signal, patience, waits } = settings
  const { bodyMs: slowestMs = SLOWEST_BODY_MS, time = REAL_TIME } = patience
  let count = 0
  /** The next page, requested before the present one is worked on. */
  let ahead: { readonly link: string; readonly body: Promise<Body> } | undefined
  /** Ends the requests of the present chain. */
  let stop = new AbortController()
  /** Why the latest request has to wait. */
  let trouble: Trouble | undefined
  return {
    follow,
    get count() {
      return count
    },
    restartCount() {
      count = 0
    },
  }

  async function follow(first: string, kind: LinkKind, handler: PageHandler): Promise<PageEnd> {
    const onAbort = () => stop.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await chain(first, kind, handler)
    } finally {
      signal.removeEventListener('abort', onAbort)
      dropAhead()
    }
  }

  async function chain(first: string, kind: LinkKind, handler: PageHandler): Promise<PageEnd> {
    const isCircle = createCircleCheck(first)
    let link = first
    if (kind === 'next' || kind === 'delta') acceptStored(first)
    for (let empty = 0; ; ) {
      const end = await page(link, link === first ? kind : 'next', handler)
      count++
      empty = end.count === 0 ? empty + 1 : 0
      // Before the bookmark moves to a link: one that cannot be followed would stop every later sync.
      for (const next of [end.nextLink, end.deltaLink])
        if (next !== undefined) client.assertFollowable(next)
      if (end.nextLink !== undefined) {
        if (isCircle(end.nextLink)) throw endlessChain(true)
        if (empty > MAX_EMPTY_PAGES) throw endlessChain(false)
      }
      await handler.end(end)
      if (end.nextLink === undefined) return end
      link = end.nextLink
    }
  }

  function acceptStored(link: string): void {
    try {
      client.assertFollowable(link)
    } catch (error) {
      throw new DeadLinkError('unusable', error instanceof Error ? error.message : String(error))
    }
  }

  /** One page, asked for until it arrives whole. */
  async function page(link: string, kind: LinkKind, handler: PageHandler): Promise<PageEnd> {
    const failures = createFailureCount(time)
    const waiting = createWaiting(time, () => waits.waiting(trouble ?? client.trouble))
    let conflicts = 0
    let isRepeat = false
    try {
      for (;;) {
        try {
          return await handed(await waiting.during(request(link, isRepeat)), handler)
        } catch (error) {
          signal.throwIfAborted()
          const conflict = kind === 'list' ? conflictOf(error) : undefined
          const pause = conflict ? patience.conflictMs[conflicts++] : pauseAfter(error, failures)
          if (pause === undefined)
            throw conflict ? listConflict(conflict, conflicts) : failure(error, kind)
          isRepeat = true
          client.traffic.retries++
          trouble = { reason: asConnectorError(pageFailure(error)).message }
          await waiting.during(time.sleep(pause, signal))
        }
      }
    } finally {
      waiting.end()
    }
  }

  /** The wait before a page is asked for again; undefined when that would not help. */
  function pauseAfter(error: unknown, failures: FailureCount): number | undefined {
    const isDamaged = error instanceof MalformedPageError && !(error instanceof RecordTooLargeError)
    if (!isDamaged && !(error instanceof InterruptedPageError)) return undefined
    const pause = waitMs(failures.now(), patience)
    failures.add()
    return pause
  }

  function request(link: string, isRepeat: boolean): Promise<Body> {
    if (ahead?.link !== link) return start(link, isRepeat)
    const { body } = ahead
    ahead = undefined
    return body
  }

  function start(link: string, isRepeat: boolean): Promise<Body> {
    trouble = undefined
    return client.get(link, {
      isRepeat,
      signal: stop.signal,
      onTrouble(latest) {
        trouble = latest
        if (latest.until !== undefined) waits.rateLimited(latest.until)
      },
    })
  }

  /** Ends when the request is on the wire, so that the work after it does not hold it back. */
  async function requestAhead(link: string | undefined): Promise<void> {
    if (link === undefined || ahead?.link === link) return
    if (ahead !== undefined) dropAhead()
    ahead = { link, body: start(link, false) }
    // Whoever awaits it later sees its failure; until then it must not count as unhandled.
    ahead.body.catch(() => {})
    await afterRequestSent()
  }

  /** A page that was requested, and that nobody wants any more, would keep a connection and its bytes. */
  function dropAhead(): void {
    ahead = undefined
    stop.abort()
    stop = new AbortController()
  }

  async function handed(body: Body, handler: PageHandler): Promise<PageEnd> {
    if ('whole' in body) return whole(body.whole, handler)
    if ('parse' in reader) return whole(await collected(body.parts), handler)
    return stream(reader.scanner, body.parts, handler)
  }

  async function whole(chunks: readonly Buffer[], handler: PageHandler): Promise<PageEnd> {
    await requestAhead(lastNextLink(chunks))
    const { batch, end } =
      'parse' in reader ? reader.parse(Buffer.concat(chunks)) : scan(reader.scanner, chunks)
    await requestAhead(end.nextLink)
    await handler.batch(batch, false)
    return end
  }

  async function stream(
    scanner: PageScanner,
    parts: AsyncIterable<Buffer>,
    handler: PageHandler,
  ): Promise<PageEnd> {
    scanner.begin()
    let isHanded = false
    let bytes = 0
    let lastRecord = { bytes, at: performance.now() }
    try {
      for await (const part of parts) {
        bytes += part.length
        const batch = scanned(scanner, [part])
        if (batch.count > 0) {
          isHanded = true
          await handler.batch(batch, true)
          lastRecord = { bytes, at: performance.now() }
        }
        if (bytes > MAX_PAGE_BYTES || bytes - lastRecord.bytes > MAX_BARREN_BYTES)
          throw endlessBody()
        if (performance.now() - lastRecord.at > slowestMs) throw tooSlow()
      }
      return ended(scanner)
    } catch (error) {
      const mayPass = error instanceof ConnectorError && error.failure === 'transient'
      if (isHanded && (mayPass || error instanceof MalformedPageError)) handler.broken()
      throw mayPass ? new InterruptedPageError(error.message, { cause: error }) : error
    }
  }
}

function conflictOf(error: unknown): HttpError | undefined {
  return error instanceof HttpError && error.status === CONFLICT ? error : undefined
}

/** What a page failed with, as the reading of the stream is to see it. */
function failure(error: unknown, kind: LinkKind): unknown {
  if (!(error instanceof HttpError)) return pageFailure(error)
  const isOurs = kind === 'list' || kind === 'start'
  const isDead =
    DEAD.has(error.status) && !isOurs && !(kind === 'delta' && error.status === CONFLICT)
  if (!isDead) return error
  return new DeadLinkError(EXPIRED.has(error.status) ? 'expired' : 'unusable', error.message)
}

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
function scanned(scanner: PageScanner, chunks: readonly Buffer[]): Batch {
  const batch = scanner.push(...chunks)
  for (let i = 0; i < batch.count; i++) {
    if (Number.isNaN(batch.keys[i]) && !KEY.test(batch.keyText(i)))
      throw new MalformedPageError(NO_KEY)
  }
  return batch
}

async function collected(parts: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = []
  let size = 0
  for await (const part of parts) {
    all.push(part)
    size += part.length
    if (size > MAX_PARSED_BYTES) throw endlessBody()
  }
  return all
}
