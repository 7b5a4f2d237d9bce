import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { tryParseJson } from '../../ground/json.ts'
import { type WarningId, warningOf } from '../../ground/message-ids.ts'
import { REAL_TIME, type Time } from '../../http/clock.ts'
import type { Log } from '../../protocol/connector.ts'
import {
  type BodyVerifier,
  claimedDigest,
  type DeliveryPath,
  type Hook,
  type Hooks,
  headRefusal,
  parseDeliveryPath,
  type RefusalReason,
  receiveBody,
  STATUS,
} from './delivery.ts'
import { answer, boundConnections, type HttpAnswer } from './node-http.ts'

/** Warnings about events that anybody outside can cause at any rate. */
interface QuietLog {
  /**
   * `about` is the subject of a line; `text` makes the line from the number of occurrences since the last
   * one.
   */
  warn(id: WarningId, about: string, text: (count: number) => string): void
  /** Writes the pending lines. */
  close(): void
}

interface Line {
  readonly id: WarningId
  readonly text: (count: number) => string
  readonly since: number
  count: number
}

const LINE_EVERY_MS = 60_000
const LOOK_EVERY_MS = 5000

/** Writes the first of its kind at once, and each minute how many more there were. */
function createQuietLog(log: Log, time: Pick<Time, 'now' | 'every'>): QuietLog {
  const lines = new Map<string, Line>()
  const stop = time.every(LOOK_EVERY_MS, () => {
    for (const [about, line] of lines) {
      if (time.now() - line.since < LINE_EVERY_MS) continue
      if (line.count === 0) lines.delete(about)
      else say(about, line)
    }
  })
  return {
    warn(id, about, text) {
      const line = lines.get(about)
      if (line === undefined) say(about, { id, text, since: 0, count: 1 })
      else line.count++
    },
    close() {
      stop()
      for (const [about, line] of lines) if (line.count > 0) say(about, line)
    },
  }

  function say(about: string, { id, text, count }: Line): void {
    log.warn(warningOf(id, text(count)))
    lines.set(about, { id, text, since: time.now(), count: 0 })
  }
}

/**
 * The answer to a request: a refusal, a delivery, or a delivery whose key was not known in time.
 */
type Decision = RefusalReason | 'taken' | 'no-key-yet'

const WORDS: Partial<Record<Decision, string>> = {
  'no-header': 'they are not signed, so they do not come from the service',
  'other-scheme':
    'the signature is not HMAC-SHA256; unless they do not come from the service, it signs in another way than this version knows',
  'no-key-fits': 'the signature is not by a key of this webhook',
  'too-large':
    'the body is larger than any event should be; the service will disable the webhook after 72 hours of this',
  compressed:
    'the body is compressed, and the signature covers what was compressed; look for a proxy that does it',
  'no-key-yet':
    'the key of the webhook was not known in time; the service sends it again in about an hour',
}

/** An iterator would hold back a part of each body. */
function eachPart(request: IncomingMessage, take: (part: Buffer) => boolean): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = (isWhole: boolean) => {
      request.off('data', onData)
      resolve(isWhole)
    }
    const onData = (part: Buffer) => {
      if (!take(part)) end(false)
    }
    request
      .on('data', onData)
      .once('end', () => end(true))
      .once('error', reject)
      .once('close', () => reject(new Error('the sender has hung up')))
  })
}

/** This much of a body is kept to check whether it is JSON; longer bodies are not checked. */
const KEPT_BYTES = 16_384

/** Hashes a body while it arrives: it is never stored. */
function hashBody(key: string): BodyVerifier & { isBroken(): boolean } {
  const hash = createHmac('sha256', key)
  const decoder = new TextDecoder()
  let bytes = 0
  let kept = ''
  return {
    take(part) {
      bytes += part.length
      hash.update(part)
      if (bytes <= KEPT_BYTES) kept += decoder.decode(part, { stream: true })
    },
    isSigned(authorization) {
      const claimed = claimedDigest(authorization)
      const given = 'digest' in claimed ? Buffer.from(claimed.digest, 'base64') : Buffer.alloc(32)
      return timingSafeEqual(hash.digest(), given)
    },
    isBroken: () => bytes <= KEPT_BYTES && tryParseJson(kept) === undefined,
  }
}

function deliveries(count: number, collection?: string): string {
  const what = count === 1 ? '1 delivery' : `${count} deliveries`
  const of = collection === undefined ? what : `${what} of ${collection}`
  return `${of} ${count === 1 ? 'was' : 'were'}`
}

/** A page for GET and HEAD beside the deliveries, such as `/healthz`. */
export type Page = () => PageContent | Promise<PageContent>

/** The answer of a page. */
interface PageContent {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** Options of a receiver; `limits` and `time` have defaults. */
export interface ReceiverSettings {
  readonly hooks: Hooks
  /**
   * Called once for each verified delivery, before it is answered. If it throws, the answer is 503.
   */
  onDelivery(collection: string): void
  readonly log: Log
  /** By path, such as `/healthz`; pages are not below the public URL. */
  readonly pages?: ReadonlyMap<string, Page>
  /** The path of the public URL, such as `/protime`; a proxy may pass it on or remove it. */
  readonly prefix?: string
  readonly limits?: Partial<ReceiverLimits>
  readonly time?: Time
}

/** Times in milliseconds. */
interface ReceiverLimits {
  readonly bodyBytes: number
  readonly headerBytes: number
  readonly connections: number
  readonly headersMs: number
  /** From the first byte of a request to its last. */
  readonly requestMs: number
  /** How long a connection may be silent: without a request, or without reading its answers. */
  readonly idleMs: number
  /** How long a delivery waits for the key of a webhook that is being created. */
  readonly keyMs: number
  /** How long open requests may take after `close` is called. */
  readonly closeMs: number
}

/** A server for deliveries. */
export interface Receiver {
  /** Resolves when it listens; rejects with the system's error, such as EADDRINUSE. */
  listen(port: number, host: string): Promise<AddressInfo>
  /** Accepts no new requests, and resolves when the open ones are answered. */
  close(): Promise<void>
  /** Number of answers by status code since the start, without pages. */
  readonly counts: ReadonlyMap<number, number>
}

const LIMITS: ReceiverLimits = {
  bodyBytes: 1_048_576,
  headerBytes: 16_384,
  connections: 2000,
  headersMs: 10_000,
  requestMs: 20_000,
  // Longer than proxies keep idle connections (nginx: 60 seconds), so that no proxy sends into a connection
  // that is being closed.
  idleMs: 65_000,
  keyMs: 10_000,
  closeMs: 15_000,
}
/** By default, Node checks for slow requests every 30 seconds. */
const CHECK_SLOW_MS = 1000

/**
 * A server for the deliveries of webhooks: it verifies them, reports their collection, and discards their
 * bodies.
 */
export function createReceiver(settings: ReceiverSettings): Receiver {
  const { hooks, onDelivery, log, pages = new Map<string, Page>(), time = REAL_TIME } = settings
  const limits = { ...LIMITS, ...settings.limits }
  const prefix = (settings.prefix ?? '').replace(/\/+$/, '')
  const counts = new Map<number, number>()
  const quietLog = createQuietLog(log, time)
  const { bodyBytes, keyMs } = limits
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: CHECK_SLOW_MS,
    keepAliveTimeout: limits.idleMs,
    maxHeaderSize: limits.headerBytes,
  })
  server.timeout = limits.idleMs
  server.on('request', respond).on('checkContinue', respond)
  server.on('clientError', (error, socket) => count(answerFault(error, socket)))
  boundConnections(server, limits.connections, () =>
    quietLog.warn(
      'connections-closed',
      'connections',
      (closed) =>
        `${closed === 1 ? '1 connection was' : `${closed} connections were`} closed before it had sent a request: ${limits.connections} are open`,
    ),
  )
  return {
    counts,
    async listen(port, host) {
      server.listen(port, host)
      await once(server, 'listening')
      return server.address() as AddressInfo
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      const patience = new AbortController()
      time.sleep(limits.closeMs, patience.signal).then(
        () => server.closeAllConnections(),
        () => {},
      )
      await closed
      patience.abort()
      quietLog.close()
    },
  }

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const page = pages.get(request.url?.split('?', 1)[0] ?? '')
    const done = page === undefined ? deliver(request, response) : show(page, request, response)
    done.catch((error: unknown) => {
      // The sender has closed the connection, or was too slow and has its answer.
      if (request.destroyed && !request.complete) return
      quietLog.warn(
        'request-not-served',
        'fault',
        (faults) =>
          `${faults === 1 ? '1 request' : `${faults} requests`} could not be served, refused with 503: ${String(error)}`,
      )
      if (page === undefined) count(503)
      send(request, response, { status: 503 })
    })
  }

  async function deliver(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = await receive(request, () => {
      if (request.headers.expect !== undefined) response.writeContinue()
    })
    count(status)
    send(request, response, { status, headers: status === 405 ? { allow: 'POST' } : {} })
  }

  /**
   * Decides the status of the answer to a request, and reports it if it is a delivery. `askForBody` is called when the
   * body is needed: its sender may wait until then.
   */
  async function receive(request: IncomingMessage, askForBody: () => void): Promise<number> {
    const path = parseDeliveryPath(request.url ?? '', prefix)
    const hook = path && hooks.byNonce(path.collection, path.nonce)
    if (path === undefined || hook === undefined) {
      quietLog.warn(
        'delivery-unknown',
        'unknown',
        (count) =>
          `${deliveries(count)} refused with 404: their paths belong to no webhook of the store`,
      )
      return STATUS['unknown-path']
    }
    const decision = await decided(request, path, hook, askForBody)
    if (decision === 'taken') return 200
    const status = decision === 'no-key-yet' ? 503 : STATUS[decision]
    const why = WORDS[decision]
    if (why !== undefined)
      quietLog.warn(
        'delivery-refused',
        `${path.nonce} ${decision}`,
        (count) => `${deliveries(count, path.collection)} refused with ${status}: ${why}`,
      )
    return status
  }

  /**
   * The body is hashed while it arrives and never stored. A signed body that is not JSON is a delivery, too: it is
   * genuine, and refusals would disable the webhook in the end.
   */
  async function decided(
    request: IncomingMessage,
    { collection, nonce }: DeliveryPath,
    hook: Hook,
    askForBody: () => void,
  ): Promise<Decision> {
    const { method, headers } = request
    const head = { method, header: (name: string) => headers[name] as string | undefined }
    const refusal = headRefusal(head, bodyBytes)
    if (refusal !== undefined) return refusal
    // Until the key is known, the sender keeps the body.
    const known = hook.state === 'creating' ? await hooks.settled(nonce, keyMs) : hook
    if (known === undefined || known.state === 'creating') return 'no-key-yet'
    if (known.key === undefined) return 'no-key-fits'
    askForBody()
    const body = hashBody(known.key)
    const reason = await receiveBody(head, (take) => eachPart(request, take), bodyBytes, body)
    if (reason !== undefined) return reason
    onDelivery(collection)
    if (body.isBroken()) {
      const what = 'with a valid signature but no JSON: it leads to a sync all the same'
      quietLog.warn(
        'delivery-not-json',
        `${nonce} JSON`,
        (count) => `${deliveries(count, collection)} ${what}`,
      )
    }
    return 'taken'
  }

  async function show(page: Page, request: IncomingMessage, response: ServerResponse) {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead) return send(request, response, { status: 405, headers: { allow: 'GET, HEAD' } })
    const { status, contentType, body } = await page()
    send(request, response, { status, headers: { 'content-type': contentType }, body })
  }

  function send(request: IncomingMessage, response: ServerResponse, content: HttpAnswer): void {
    if (!server.listening) response.setHeader('connection', 'close')
    answer(request, response, content)
  }

  function count(status: number | undefined): void {
    if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1)
  }
}

const STATUSES = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
])

/**
 * Answers an incomplete request, and closes its connection. Returns the status, or undefined if the sender is
 * gone.
 */
function answerFault(error: NodeJS.ErrnoException, socket: Duplex): number | undefined {
  const status = STATUSES.get(error.code ?? '') ?? 400
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return undefined
  }
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`, () =>
    socket.destroy(),
  )
  return status
}
