import { createRequire } from 'node:module'
import { isIP, type LookupFunction, Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { ConnectorError } from '../ground/errors.ts'
import { withoutQuery } from './links.ts'
import { ProxyFailure, toNetworkError } from './network-error.ts'
import { keepNextUnoptimised, optimiseAgain } from './parser-tier.ts'
import {
  assertPublicUrl,
  createPublicLookup,
  type HostRules,
  isPrivateAddress,
  publicAddressOf,
} from './public-hosts.ts'
import { type Collected, type IncomingBody, receive } from './response-body.ts'

// undici's index loads everything it has, fetch, caches, mocks and WebSocket too, which takes longer than
// all else that a check loads. It exports no parts by name, so they are taken from their files.

const require = createRequire(import.meta.url)

/** What `undici` exports as `name`, from its file below `lib`, or from the index where it has moved. */
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
/** What a proxy needs works only once the index has put undici's parts together. */
const loadAll = () => require('undici') as typeof import('undici')

/** Kept-alive connections to the service, through the proxy that the environment names if there is one. */
interface Connections {
  readonly dispatcher: Dispatcher
  /** Whether connections to this host lead into a private network. */
  isPrivate(hostname: string): boolean
  /** Closes all connections, those that are still being made too. */
  close(): Promise<void>
}

/** Proxies come from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, certificate authorities from NODE_EXTRA_CA_CERTS. */
function createConnections(
  silenceMs: number,
  { isPublicOnly, lookup, isPrivate = isPrivateAddress }: HostRules,
): Connections {
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
    // Not counted while we read nothing, that is while our own reader blocks us.
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

/** Makes connections; undici leaves those that are still being made at the end to their time-out. */
function createConnecting(
  timeout: number,
  lookup: LookupFunction | undefined,
  onConnect: (hostname: string, address: string) => void,
) {
  const connector = loadConnector()({ timeout, ...(lookup && { lookup }) })
  const sockets = new Set<Socket>()
  return {
    connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
      // What its types do not tell: it answers with the socket.
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
    // undici knows SOCKS too; such a proxy would look names up itself, whatever `lookup` says of them.
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
 * Connections to a proxy; what it fails with tells that it was the proxy, and which. With a `lookup` it is
 * asked for the address of a host and not for its name.
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

/** Host and port with the address of the host. */
async function addressed(hostAndPort: string, lookup: LookupFunction): Promise<string> {
  const { hostname, port } = new URL(`tcp://${hostAndPort}`)
  const address = await publicAddressOf(hostname.replace(/^\[|\]$/g, ''), lookup)
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** One request as it goes to the wire. */
export interface Call {
  /** Sent as it is: dot segments and what is encoded in it are not touched. */
  readonly url: string
  /** What logs and messages have in place of an address that holds personal data. */
  readonly loggedUrl?: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** One answer; its body must be read to the end or discarded, else its connection stays taken. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  /** The body, decompressed, or what `collect` has left of it. Throws a ConnectorError when it breaks. */
  readonly body: AsyncIterable<Buffer>
  /** See ReceivedBody; throws as `body` does. */
  collect(most: number, until: number): Promise<Collected>
  discard(): void
  /** Whether the host is one of a private network, as far as we connect to it ourselves. */
  isPrivate(): boolean
}

/** Sends requests over kept-alive connections; knows nothing of tokens and retries. */
export interface Transport {
  /** Throws a ConnectorError: transient when a repetition may help, else config or system. */
  send(call: Call): Promise<Reply>
  close(): Promise<void>
}

/** Over the connections of `createConnections`; gives up a service that is silent for so long. */
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

/** Scheme and host of an address, and what follows. */
const PARTS = /^(\w+:\/\/[^/?]*)(.*)$/s

/**
 * One request on undici's lowest level, where a page costs a fraction of what it costs as a stream: its
 * body is taken by events, without a promise per part.
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
      // As a getter it would give each reply a shape of its own, which the garbage collector keeps for long, with
      // the bytes of the page.
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

  /** Ends at once: undici does not look at the signal while a connection is being made. */
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

  /** An answer 1xx before the real one; each resets the clock that waits for it. */
  #onAnnouncement(): void {
    if (++this.#announcements <= MAX_ANNOUNCEMENTS) return
    throw new ConnectorError(
      'transient',
      'answer-never-comes',
      `${this.#host} sends interim responses (1xx), but no final one.`,
    )
  }
}

const MAX_ANNOUNCEMENTS = 16

/**
 * Ends when a request that was just made has been sent: undici lets two turns of the event loop
 * pass before it uses a connection again. Work that blocks must wait for it, or it delays the request.
 */
export async function afterRequestSent(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
}

/**
 * A transport that tells each exchange: its method, its address without the query, which may hold a
 * token, or what is logged in its place, its status and its milliseconds until the headers.
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
