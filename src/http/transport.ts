import { Socket } from 'node:net'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { ConnectorError } from '../protocol/errors.ts'
import { ProxyFailure, toNetworkError } from './network-error.ts'

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** One request as it goes to the wire. */
export interface Call {
  /** Sent as it is: dot segments and what is encoded in it are not touched. */
  readonly url: string
  /** What logs show in place of an address that holds personal data. */
  readonly shown?: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** One answer; its body must be read to the end or discarded, else its connection stays taken. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  /** The body, decompressed. Throws a ConnectorError when it breaks. */
  readonly body: AsyncIterable<Buffer>
  discard(): void
}

/** Sends requests over kept-alive connections; knows nothing of tokens and retries. */
export interface Transport {
  /** Throws a ConnectorError: transient when a repetition may help, else config or system. */
  send(call: Call): Promise<Reply>
  close(): Promise<void>
}

/** Proxies come from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, certificate authorities from NODE_EXTRA_CA_CERTS. */
export function createTransport(silenceSeconds: number): Transport {
  const silence = silenceSeconds * 1000
  const connections = createConnections(Math.min(silence, 30_000))
  const options = {
    headersTimeout: silence,
    // Not counted while we read nothing, that is while our own reader blocks us.
    bodyTimeout: silence,
    keepAliveTimeout: 30_000,
    connect: connections.connect,
  }
  const dispatcher = createDispatcher(options)
  return {
    async send({ url, signal, ...call }) {
      const { host, origin } = new URL(url)
      const path = url.replace(/^\w+:\/\/[^/?]*/, '') || '/'
      try {
        const onInfo = announcements(host)
        const asked = dispatcher.request({ ...call, origin, path, signal, onInfo })
        return toReply(await untilAborted(asked, signal), host)
      } catch (error) {
        signal.throwIfAborted()
        throw toNetworkError(error, host)
      }
    },
    async close() {
      const destroyed = dispatcher.destroy()
      connections.giveUp()
      await destroyed
    },
  }

  function toReply({ statusCode, headers, body }: Dispatcher.ResponseData, host: string): Reply {
    const header = (name: string) => {
      const value = headers[name]
      return Array.isArray(value) ? value[0] : value
    }
    // An error nobody waits for any more (a discarded body, an aborted sync) must not end the process.
    body.on('error', () => {})
    return {
      status: statusCode,
      header,
      body: decoded(body, header('content-encoding'), host),
      discard: () => void body.destroy(),
    }
  }
}

/**
 * Ends when a request that was just made has been sent: undici lets two turns of the event loop
 * pass before it uses a connection again. Work that blocks must wait for it, or it delays the request.
 */
export async function afterRequestSent(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
}

/** Makes connections; undici leaves those that are still being made at the end to their time-out. */
function createConnections(timeout: number) {
  const connector = buildConnector({ timeout })
  const sockets = new Set<Socket>()
  return {
    connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
      // What its types do not tell: it answers with the socket.
      const socket: unknown = connector(options, callback)
      if (!(socket instanceof Socket)) return
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    },
    giveUp(): void {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Ends with the signal at once: undici does not look at it while a connection is being made. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

function createDispatcher(options: Agent.Options): Dispatcher {
  if (!PROXIES.some((name) => process.env[name])) return new Agent(options)
  try {
    return new EnvHttpProxyAgent({ ...options, clientFactory: proxyConnections })
  } catch (error) {
    throw new ConnectorError(
      'config',
      'The proxy cannot be used: the value of HTTPS_PROXY or HTTP_PROXY is not an address such as http://proxy:3128.',
      { cause: error },
    )
  }
}

type Dial = (call: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>

/** Connections to a proxy; what it fails with tells that it was the proxy, and which. */
function proxyConnections(origin: URL, options: object): Dispatcher {
  const pool = new Pool(origin, options)
  const ask: Dial = pool.connect.bind(pool)
  const connect: Dial = async (call) => {
    const answer = await ask(call).catch((cause) => {
      throw new ProxyFailure(origin.host, { cause })
    })
    const { statusCode: status, socket } = answer
    if (status === 200) return answer
    socket.on('error', () => {}).destroy()
    throw new ProxyFailure(origin.host, { status })
  }
  return Object.assign(pool, { connect })
}

async function* decoded(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
  host: string,
): AsyncGenerator<Buffer> {
  try {
    const decoder = decoderOf(encoding?.trim().toLowerCase())
    if (decoder !== undefined) {
      body.on('error', (error) => decoder.destroy(error))
      body.pipe(decoder)
    }
    yield* (decoder ?? body) as AsyncIterable<Buffer>
  } catch (error) {
    throw toNetworkError(error, host)
  } finally {
    body.destroy()
  }
}

/** Each chunk is a trip to another thread and back: at zlib's default of 16 KiB they cost more than the work. */
const DECODER = { chunkSize: 256 * 1024 }

function decoderOf(encoding: string | undefined) {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return undefined
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(DECODER)
  if (encoding === 'br') return createBrotliDecompress(DECODER)
  // What is cut off could hide a secret from the mask: a long name is not shown at all.
  const name = encoding.length <= 20 ? `the encoding "${encoding}"` : 'an encoding'
  throw new ConnectorError('system', `The service answered in ${name}, which was not asked for.`)
}

/** Answers 1xx before the real one; each resets the clock that waits for it. */
const MAX_ANNOUNCEMENTS = 16

function announcements(host: string): () => void {
  let count = 0
  return () => {
    if (++count > MAX_ANNOUNCEMENTS) {
      throw new ConnectorError('transient', `${host} announces an answer that never comes.`)
    }
  }
}
