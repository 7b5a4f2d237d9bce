import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici'
import { ConnectorError } from '../errors.ts'

/** One request as it goes to the wire. */
export interface Call {
  readonly url: string
  readonly method: 'GET' | 'POST'
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
  const options = {
    headersTimeout: silence,
    // Not counted while we read nothing, that is while our own reader blocks us.
    bodyTimeout: silence,
    connectTimeout: Math.min(silence, 30_000),
    keepAliveTimeout: 30_000,
  }
  const dispatcher = createDispatcher(options)
  return {
    async send({ url, signal, ...call }) {
      try {
        const reply = await request(url, { ...call, signal, dispatcher })
        return toReply(reply)
      } catch (error) {
        signal.throwIfAborted()
        throw broken(error, new URL(url).host)
      }
    },
    close: () => dispatcher.destroy(),
  }

  function toReply({ statusCode, headers, body }: Dispatcher.ResponseData): Reply {
    const header = (name: string) => {
      const value = headers[name]
      return Array.isArray(value) ? value[0] : value
    }
    // An error nobody waits for any more (a discarded body, an aborted sync) must not end the process.
    body.on('error', () => {})
    return {
      status: statusCode,
      header,
      body: decoded(body, header('content-encoding')),
      discard: () => void body.destroy(),
    }
  }
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

function createDispatcher(options: Agent.Options): Dispatcher {
  if (!PROXIES.some((name) => process.env[name])) return new Agent(options)
  try {
    return new EnvHttpProxyAgent(options)
  } catch (error) {
    throw new ConnectorError(
      'config',
      'The proxy cannot be used: the value of HTTPS_PROXY or HTTP_PROXY is not an address such as http://proxy:3128.',
      { cause: error },
    )
  }
}

async function* decoded(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
): AsyncGenerator<Buffer> {
  try {
    const decoder = decoderOf(encoding?.trim().toLowerCase())
    if (decoder !== undefined) {
      body.on('error', (error) => decoder.destroy(error))
      body.pipe(decoder)
    }
    yield* (decoder ?? body) as AsyncIterable<Buffer>
  } catch (error) {
    throw broken(error)
  } finally {
    body.destroy()
  }
}

function decoderOf(encoding: string | undefined) {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return undefined
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip()
  if (encoding === 'br') return createBrotliDecompress()
  throw new ConnectorError(
    'system',
    `The service answered in the encoding "${encoding.slice(0, 20)}", which was not asked for.`,
  )
}

const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT)/

/** A network failure in words, by the code that Node, undici or zlib gives it. */
function broken(error: unknown, host = 'the service'): ConnectorError {
  if (error instanceof ConnectorError) return error
  const code = codeOf(error)
  const cause = { cause: error }
  if (CERTIFICATE.test(code)) {
    return new ConnectorError(
      'config',
      `The certificate of ${host} is not trusted (${code}). If your network has its own certificate authority, name its file in NODE_EXTRA_CA_CERTS.`,
      cause,
    )
  }
  if (code.startsWith('ERR_SSL')) {
    return new ConnectorError(
      'config',
      `No secure connection to ${host} can be made (${code}). Check its address and port, and the proxy if there is one.`,
      cause,
    )
  }
  const refusedBy = /Proxy response \((4\d\d)\)/.exec(String(error))
  if (refusedBy !== null) {
    return new ConnectorError(
      'config',
      `The proxy refuses to connect to ${host} (${refusedBy[1]}). Check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY.`,
      cause,
    )
  }
  if (code === 'ENOTFOUND') {
    const hint = 'check tenant and environment in the configuration'
    return new ConnectorError('transient', `The host ${host} is not known; ${hint}.`, cause)
  }
  return new ConnectorError('transient', `The connection to ${host} broke (${code}).`, cause)
}

function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as Error & { code?: unknown }
    if (typeof code === 'string' && code !== '') return code
  }
  return error instanceof Error ? error.message : String(error)
}
