import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { REAL_TIME, type Time } from '../http/time.ts'
import type { Log } from '../protocol/connector.ts'
import { type Answer, answer } from './answer.ts'
import { answerFault } from './answer-fault.ts'
import type { Hooks } from './hooks.ts'
import { createQuietLog } from './quiet-log.ts'
import { receive } from './receive.ts'

/** A page for GET and HEAD beside the deliveries, such as `/healthz`. */
export type Page = () => PageContent | Promise<PageContent>

/** What a page answers. */
export interface PageContent {
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
export interface ReceiverLimits {
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
