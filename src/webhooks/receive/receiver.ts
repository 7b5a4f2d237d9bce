import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { REAL_TIME, type Time } from '../../http/clock.ts'
import type { Log } from '../../protocol/connector.ts'
import { type Answer, answer, answerFault } from './answer.ts'
import {
  type DeliveryPath,
  type Hook,
  type Hooks,
  headRefusal,
  isJson,
  parseDeliveryPath,
  readBody,
  verifyDelivery,
} from './delivery.ts'

/** Warnings about what anybody outside can cause as often as they like. */
interface QuietLog {
  /** `about` is what a line is about; `text` makes it from the number of times since the last one. */
  warn(about: string, text: (count: number) => string): void
  /** Says what is left to say. */
  close(): void
}

interface Line {
  readonly text: (count: number) => string
  readonly since: number
  count: number
}

const LINE_EVERY_MS = 60_000
const LOOK_EVERY_MS = 5000

/** Says the first of its kind at once, and each minute how many more there were. */
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
    warn(about, text) {
      const line = lines.get(about)
      if (line === undefined) say(about, { text, since: 0, count: 1 })
      else line.count++
    },
    close() {
      stop()
      for (const [about, line] of lines) if (line.count > 0) say(about, line)
    },
  }

  function say(about: string, { text, count }: Line): void {
    log.warn(text(count))
    lines.set(about, { text, since: time.now(), count: 0 })
  }
}

/** What a delivery is received with; `bodyBytes` and `keyMs` as in `ReceiverLimits`. */
interface ReceiveTools {
  readonly hooks: Hooks
  onDelivery(collection: string): void
  readonly quietLog: QuietLog
  readonly prefix: string
  readonly bodyBytes: number
  readonly keyMs: number
  /** Called when the body is wanted: its sender may wait to be asked for it. */
  askForBody(): void
}

type Status = 200 | 401 | 404 | 405 | 413 | 415 | 503

/**
 * Decides how a request is answered, and tells of it if it is a delivery. Its body is gone afterwards. A signed
 * body that is not JSON is one, too: it is genuine, and a refusal would disable the webhook in the end.
 */
async function receive(request: IncomingMessage, tools: ReceiveTools): Promise<Status> {
  const path = parseDeliveryPath(request.url ?? '', tools.prefix)
  const hook = path && tools.hooks.byNonce(path.collection, path.nonce)
  if (path === undefined) return 404
  if (hook === undefined) return unknownPath(tools)
  const status = await received(request, path, hook, tools)
  const why = REASONS[status]
  if (why !== undefined)
    tools.quietLog.warn(
      `${path.nonce} ${status}`,
      (count) => `${deliveries(count, path.collection)} answered ${status}: ${why}`,
    )
  return status
}

const REASONS: Partial<Record<Status, string>> = {
  401: 'the signature is missing, or not by a key of this webhook',
  413: 'the body is larger than any event should be; the service will disable the webhook after 72 hours of this',
  415: 'the body is compressed, and the signature covers what was compressed; look for a proxy that does it',
  503: 'the key of the webhook was not known in time; the service sends it again in about an hour',
}

async function received(
  request: IncomingMessage,
  { nonce }: DeliveryPath,
  hook: Hook,
  { hooks, onDelivery, quietLog, bodyBytes, keyMs, askForBody }: ReceiveTools,
): Promise<Status> {
  const refusal = headRefusal(headOf(request), bodyBytes)
  if (refusal !== undefined) return refusal
  askForBody()
  const body = await readBody(request.iterator({ destroyOnReturn: false }), bodyBytes)
  if (body === undefined) return 413
  const known = hook.state === 'creating' ? await hooks.settled(nonce, keyMs) : hook
  if (known === undefined || known.state === 'creating') return 503
  if (!verifyDelivery(body, request.headers.authorization, known.keys)) return 401
  onDelivery(known.collection)
  if (!isJson(body))
    quietLog.warn(
      `${nonce} JSON`,
      (count) =>
        `${deliveries(count, known.collection)} rightly signed but not JSON: it leads to a sync all the same`,
    )
  return 200
}

function unknownPath({ quietLog }: ReceiveTools): 404 {
  quietLog.warn(
    'unknown',
    (count) => `${deliveries(count)} answered 404: their paths belong to no webhook of the store`,
  )
  return 404
}

function headOf({ method, headers }: IncomingMessage) {
  return {
    method,
    contentEncoding: headers['content-encoding'],
    contentLength: headers['content-length'],
  }
}

function deliveries(count: number, collection?: string): string {
  const what = count === 1 ? '1 delivery' : `${count} deliveries`
  const of = collection === undefined ? what : `${what} of ${collection}`
  return `${of} ${count === 1 ? 'was' : 'were'}`
}

/** A page for GET and HEAD beside the deliveries, such as `/healthz`. */
export type Page = () => PageContent | Promise<PageContent>

/** What a page answers. */
interface PageContent {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** What a receiver is made of; for `limits` and `time` there are defaults. */
export interface ReceiverSettings {
  readonly hooks: Hooks
  /** Called once for each verified delivery, before it is answered. What it throws is answered 503. */
  onDelivery(collection: string): void
  readonly log: Log
  /** By path, such as `/healthz`; they are no part of the public URL. */
  readonly pages?: ReadonlyMap<string, Page>
  /** The path of the public URL, such as `/protime`; a proxy may pass it on or cut it off. */
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
  /** How long a connection may be silent: without a request, or without its answers being read. */
  readonly idleMs: number
  /** How long a delivery waits for the key of a webhook that is being created. */
  readonly keyMs: number
  /** How long requests under way may take once `close` is called. */
  readonly closeMs: number
}

/** A server of deliveries. */
export interface Receiver {
  /** Resolves when it listens; rejects with the system's error, such as EADDRINUSE. */
  listen(port: number, host: string): Promise<AddressInfo>
  /** Accepts nothing more and resolves when the requests under way are answered. */
  close(): Promise<void>
  /** Answers to everything but pages, by status code, since the start. */
  readonly counts: ReadonlyMap<number, number>
}

const LIMITS: ReceiverLimits = {
  bodyBytes: 1_048_576,
  headerBytes: 16_384,
  connections: 2000,
  headersMs: 10_000,
  requestMs: 20_000,
  // Longer than proxies keep idle connections (nginx: 60 seconds), so that none sends into one that closes.
  idleMs: 65_000,
  keyMs: 10_000,
  closeMs: 15_000,
}
/** Node looks every 30 seconds for slow requests unless told otherwise. */
const CHECK_SLOW_MS = 1000

/** A server for the deliveries of webhooks: it verifies them, says of which collection they are, and forgets their bodies. */
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
  server.maxConnections = limits.connections
  server.timeout = limits.idleMs
  server.on('request', respond).on('checkContinue', respond)
  server.on('clientError', (error, socket) => count(answerFault(error, socket)))
  server.on('drop', () =>
    quietLog.warn(
      'dropped',
      (dropped) =>
        `${dropped === 1 ? '1 connection was' : `${dropped} connections were`} refused: ${limits.connections} are open`,
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
      // The sender has hung up, or was too slow and has its answer.
      if (request.destroyed && !request.complete) return
      quietLog.warn(
        'fault',
        (faults) =>
          `${faults === 1 ? '1 request' : `${faults} requests`} could not be served, answered 503: ${String(error)}`,
      )
      if (page === undefined) count(503)
      send(request, response, { status: 503 })
    })
  }

  async function deliver(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const askForBody = () => {
      if (request.headers.expect !== undefined) response.writeContinue()
    }
    const tools = { hooks, onDelivery, quietLog, prefix, bodyBytes, keyMs, askForBody }
    const status = await receive(request, tools)
    count(status)
    send(request, response, { status, headers: status === 405 ? { allow: 'POST' } : {} })
  }

  async function show(page: Page, request: IncomingMessage, response: ServerResponse) {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead) return send(request, response, { status: 405, headers: { allow: 'GET, HEAD' } })
    const { status, contentType, body } = await page()
    send(request, response, { status, headers: { 'content-type': contentType }, body })
  }

  function send(request: IncomingMessage, response: ServerResponse, content: Answer): void {
    if (!server.listening) response.setHeader('connection', 'close')
    answer(request, response, content)
  }

  function count(status: number | undefined): void {
    if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1)
  }
}
