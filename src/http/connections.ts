import { Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { ConnectorError } from '../protocol/errors.ts'
import { ProxyFailure } from './network-error.ts'
import { loadAgent, loadAll, loadConnector } from './undici.ts'

/** Kept-alive connections to the service, through the proxy that the environment names if there is one. */
export interface Connections {
  readonly dispatcher: Dispatcher
  /** Closes all connections, those that are still being made too. */
  close(): Promise<void>
}

/** Proxies come from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, certificate authorities from NODE_EXTRA_CA_CERTS. */
export function createConnections(silenceMs: number): Connections {
  const connecting = createConnecting(Math.min(silenceMs, 30_000))
  const dispatcher = createDispatcher({
    headersTimeout: silenceMs,
    // Not counted while we read nothing, that is while our own reader blocks us.
    bodyTimeout: silenceMs,
    keepAliveTimeout: 30_000,
    connect: connecting.connect,
  })
  return {
    dispatcher,
    async close() {
      const destroyed = dispatcher.destroy()
      connecting.giveUp()
      await destroyed
    },
  }
}

/** Makes connections; undici leaves those that are still being made at the end to their time-out. */
function createConnecting(timeout: number) {
  const connector = loadConnector()({ timeout })
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

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

function createDispatcher(options: Agent.Options): Dispatcher {
  if (!PROXIES.some((name) => process.env[name])) return new (loadAgent())(options)
  try {
    const { EnvHttpProxyAgent } = loadAll()
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
  const { Pool } = loadAll()
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
