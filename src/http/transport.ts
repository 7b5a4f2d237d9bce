import { createRequire } from 'node:module'
import { isIP, type LookupFunction, Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { ConnectorError } from '../ground/errors.ts'
import { keepNextUnoptimised, optimiseAgain } from '../ground/v8.ts'
import { assertWasm } from '../ground/webassembly.ts'
import { withoutQuery } from './endpoints.ts'
import { ProxyFailure, toNetworkError } from './network-error.ts'
import {
  assertPublicUrl,
  createPublicLookup,
  type HostRules,
  isPrivateAddress,
  publicAddressOf,
} from './public-hosts.ts'
import { type Collected, type IncomingBody, receive } from './response-body.ts'

// Importing undici loads all of its parts, including fetch, caches, mocks and WebSocket, which takes longer than
// everything else that a check loads. undici does not export its parts individually, so they are loaded from their
// files.

const require = createRequire(import.meta.url)

/** Loads one export of undici from its file below `lib`, or from the index if a newer version has moved the file. */
function part(file: string, name: 'Agent' | 'buildConnector'): unknown {
  try {
    return require(`undici/lib/${file}`)
  } catch (error) {
    if (!MOVED.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    return loadAll()[name]
  }
}

const MOVED: ReadonlySet<string> = new Set(['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'])

const loadAgent = () => part('dispatcher/agent.js', 'Agent') as typeof Agent
const loadConnector = () => part('core/connect.js', 'buildConnector') as typeof buildConnector
/** Loads all of undici. Proxies need it, because the index connects undici's parts. */
const loadAll = () => require('undici') as typeof import('undici')

/** Kept-alive connections to the service, through a proxy if the environment names one. */
interface Connections {
  readonly dispatcher: Dispatcher
  /** Whether connections to this host lead into a private network. */
  isPrivate(hostname: string): boolean
  /** Closes all connections, also those that are still being opened. */
  close(): Promise<void>
}

/**
 * Creates the connections. Proxies come from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, certificate authorities from
 * NODE_EXTRA_CA_CERTS.
 */
function createConnections(
  silenceMs: number,
  { isPublicOnly, lookup, isPrivate = isPrivateAddress }: HostRules,
): Connections {
  assertWasm()
  const publicLookup = isPublicOnly === true ? createPublicLookup(lookup) : undefined
  const privateHosts = new Set<string>()
  const connecting = createConnecting(
    Math.min(silenceMs, 30_000),
    publicLookup,
    (host, address) => {
      if (isPrivate(address)) privateHosts.add(host)
    },
  )
  const options = {
    headersTimeout: silenceMs,
    // This timeout stops while the body is paused, that is while the reader of our output is slow.
    bodyTimeout: silenceMs,
    keepAliveTimeout: 30_000,
    connect: connecting.connect,
  }
  const dispatcher = createDispatcher(options, publicLookup)
  return {
    dispatcher,
    isPrivate: (hostname) => privateHosts.has(hostname),
    async close() {
      const destroyed = dispatcher.destroy()
      connecting.giveUp()
      await destroyed
    },
  }
}

/** Opens connections, and can abort those that are still being opened, which undici leaves to their timeout. */
function createConnecting(
  timeout: number,
  lookup: LookupFunction | undefined,
  onConnect: (hostname: string, address: string) => void,
) {
  const connector = loadConnector()({ timeout, ...(lookup && { lookup }) })
  const sockets = new Set<Socket>()
  return {
    connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
      // Not in the types of undici: the connector returns the socket.
      const socket: unknown = connector(options, callback)
      if (!(socket instanceof Socket)) return
      sockets.add(socket)
      socket.once('connect', () => onConnect(options.hostname, socket.remoteAddress ?? ''))
      socket.once('close', () => sockets.delete(socket))
    },
    giveUp(): void {
      for (const socket of sockets) socket.destroy()
    },
  }
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

function createDispatcher(options: Agent.Options, lookup: LookupFunction | undefined): Dispatcher {
  const proxies = PROXIES.flatMap((name) => process.env[name] || [])
  if (proxies.length === 0) return new (loadAgent())(options)
  try {
    // undici also supports SOCKS, but such a proxy looks up names itself and bypasses `lookup`.
    const other = proxies.find((address) => !/^https?:$/.test(new URL(address).protocol))
    if (other !== undefined) throw new Error('its protocol is neither http nor https')
    const { EnvHttpProxyAgent } = loadAll()
    const clientFactory = (origin: URL, given: object) => proxyConnections(origin, given, lookup)
    return new EnvHttpProxyAgent({ ...options, clientFactory })
  } catch (error) {
    throw new ConnectorError(
      'config',
      'proxy-not-an-address',
      'The proxy cannot be used: the value of HTTPS_PROXY or HTTP_PROXY is not an address such as http://proxy:3128.',
      { cause: error },
    )
  }
}

type Dial = (call: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>

/**
 * Connections through a proxy. Failures are reported as those of the proxy. With a `lookup`, the proxy gets the
 * address of a host instead of its name.
 */
function proxyConnections(
  origin: URL,
  options: object,
  lookup: LookupFunction | undefined,
): Dispatcher {
  const { Pool } = loadAll()
  const pool = new Pool(origin, options)
  const ask: Dial = pool.connect.bind(pool)
  const connect: Dial = async (call) => {
    const path = lookup === undefined ? call.path : await addressed(call.path, lookup)
    const answer = await ask({ ...call, path }).catch((cause) => {
      throw new ProxyFailure(origin.host, { cause })
    })
    const { statusCode: status, socket } = answer
    if (status === 200) return answer
    socket.on('error', () => {}).destroy()
    throw new ProxyFailure(origin.host, { status })
  }
  return Object.assign(pool, { connect })
}

/** Replaces the host of `host:port` by its address. */
async function addressed(hostAndPort: string, lookup: LookupFunction): Promise<string> {
  const { hostname, port } = new URL(`tcp://${hostAndPort}`)
  const address = await publicAddressOf(hostname.replace(/^\[|\]$/g, ''), lookup)
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** One request as it is sent. */
export interface Call {
  /** Sent unchanged, with its dot segments and escapes. */
  readonly url: string
  /** Replaces a URL with personal data in logs and messages. */
  readonly loggedUrl?: string | undefined
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal: AbortSignal
}

/** One answer. Its body must be read to the end or discarded, otherwise its connection stays occupied. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  /** The decompressed body, or what `collect` has left of it. Throws a ConnectorError if it breaks. */
  readonly body: AsyncIterable<Buffer>
  /** See `ReceivedBody.collect`; throws as `body` does. */
  collect(most: number, until: number): Promise<Collected>
  discard(): void
  /** Whether the host is in a private network; unknown, thus false, if a proxy connects to it. */
  isPrivate(): boolean
}

/** Sends requests over kept-alive connections, without tokens and retries. */
export interface Transport {
  /** Throws a ConnectorError: transient if repeating the request may help, otherwise config or system. */
  send(call: Call): Promise<Reply>
  close(): Promise<void>
}

/** Creates a transport. A request fails if the service is silent for `silenceSeconds`. */
export function createTransport(silenceSeconds: number, hosts: HostRules = {}): Transport {
  const connections = createConnections(silenceSeconds * 1000, hosts)
  return {
    close: connections.close,
    send: (call) =>
      new Promise((resolve, reject) => {
        if (hosts.isPublicOnly) assertPublicUrl(call.url)
        if (call.signal.aborted) reject(call.signal.reason)
        else new PendingRequest(call, connections, resolve, reject).dispatch()
      }),
  }
}

/** Splits a URL into scheme and host, and the rest. */
const PARTS = /^(\w+:\/\/[^/?]*)(.*)$/s

/**
 * One request on undici's lowest level, where a page costs a fraction of a stream: its body is received by events,
 * without a promise per part.
 */
class PendingRequest implements Dispatcher.DispatchHandler {
  readonly #call: Call
  readonly #connections: Connections
  readonly #resolve: (reply: Reply) => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #received: IncomingBody | undefined
  #announcements = 0

  constructor(
    call: Call,
    connections: Connections,
    resolve: (reply: Reply) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call
    this.#connections = connections
    this.#resolve = resolve
    this.#reject = reject
  }

  dispatch(): void {
    const { url, method, headers, body, signal } = this.#call
    const [, origin = '', path] = PARTS.exec(url) ?? []
    keepNextUnoptimised()
    signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#connections.dispatcher.dispatch(
      { origin, path: path || '/', method, headers, ...(body !== undefined && { body }) },
      this,
    )
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    const { signal } = this.#call
    if (signal.aborted) controller.abort(signal.reason)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    optimiseAgain()
    if (status < 200) {
      this.#onAnnouncement()
      return
    }
    const header = (name: string) => {
      const value = headers[name]
      return Array.isArray(value) ? value[0] : value
    }
    const received = receive(header('content-encoding'), controller, this.#toFailure)
    const { body } = received
    const connections = this.#connections
    const { url } = this.#call
    this.#received = received
    this.#resolve({
      status,
      header,
      body,
      collect: (most, until) => body.collect(most, until),
      discard: () => body.discard(new Error('it was discarded')),
      // A method, not a getter: with a getter each reply would get a shape of its own, which keeps it and the bytes
      // of its page in memory for long.
      isPrivate: () => connections.isPrivate(new URL(url).hostname),
    })
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#received?.sink.push(chunk)
  }

  onResponseEnd(): void {
    this.#forgetSignal()
    this.#received?.sink.end()
  }

  onResponseError(_: unknown, error: Error): void {
    this.#forgetSignal()
    if (this.#received === undefined) this.#reject(this.#toFailure(error))
    else this.#received.sink.fail(error)
  }

  /** Rejects at once, because undici ignores the signal while a connection is being opened. */
  readonly #onAbort = () => {
    const { reason } = this.#call.signal
    this.#reject(reason)
    this.#controller?.abort(reason)
  }

  #forgetSignal(): void {
    this.#call.signal.removeEventListener('abort', this.#onAbort)
  }

  readonly #toFailure = (error: Error) => toNetworkError(error, this.#host)

  get #host(): string {
    return new URL(this.#call.url).host
  }

  /** Counts interim responses (1xx), each of which restarts the timeout. */
  #onAnnouncement(): void {
    if (++this.#announcements <= MAX_ANNOUNCEMENTS) return
    throw new ConnectorError(
      'transient',
      'no-final-response',
      `${this.#host} sends interim responses (1xx), but no final one. Try again later.`,
    )
  }
}

const MAX_ANNOUNCEMENTS = 16

/**
 * Resolves when a request that was just made has been sent: undici waits two turns of the event loop before it reuses
 * a connection. Blocking work has to wait for this, otherwise it delays the request.
 */
export async function afterRequestSent(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
}

/**
 * A transport that logs each request: its method, its URL without the query, or `loggedUrl`, its status, and the
 * milliseconds until its headers. The query is left out because it may contain a token.
 */
export function loggedTransport(transport: Transport, tell: (line: string) => void): Transport {
  return {
    close: () => transport.close(),
    async send(call) {
      const address = call.loggedUrl ?? withoutQuery(call.url)
      const startedAt = performance.now()
      const told = (outcome: string | number) =>
        tell(
          `${call.method} ${address}: ${outcome}, ${Math.round(performance.now() - startedAt)} ms`,
        )
      try {
        const reply = await transport.send(call)
        told(reply.status)
        return reply
      } catch (error) {
        told(error instanceof Error ? error.message : String(error))
        throw error
      }
    },
  }
}
