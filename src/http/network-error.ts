import { ConnectorError } from '../ground/errors.ts'

/** Codes for certificates that are not trusted. */
export const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT)/

/** Codes for a connection that was never made. Other failures may have happened after the request was sent. */
const UNREACHABLE =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/

/** Failures that a retry may solve; the message says where to look if it does not. */
const TROUBLES: readonly (readonly [codes: RegExp, what: string])[] = [
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, 'HOST was silent for too long'],
  // undici's parser has messages instead of codes.
  [
    /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT|Response does not match the HTTP)/,
    'The response of HOST is not valid HTTP',
  ],
  // Codes of gzip and Brotli. Z_BUF_ERROR is not among them: it means that the answer was cut off.
  [/^(Z_DATA_ERROR|Z_NEED_DICT|ERR__ERROR_FORMAT)/, 'The response of HOST cannot be decompressed'],
]

/** A failure before the request was sent: the service has not received it. */
export class NotConnected extends ConnectorError {
  override name = 'NotConnected'
}

/** A proxy failed to open a connection. */
export class ProxyFailure extends Error {
  override name = 'ProxyFailure'
  /** Host and port. */
  readonly proxy: string
  /** The status of the proxy's answer, if there was one. */
  readonly status: number | undefined

  constructor(proxy: string, { status, cause }: { status?: number; cause?: unknown }) {
    super(`the proxy ${proxy} did not connect`, { cause })
    this.proxy = proxy
    this.status = status
  }
}

/** Converts a network failure to an error with a message, by the code of Node, undici or zlib. */
export function toNetworkError(error: unknown, host: string): ConnectorError {
  if (error instanceof ConnectorError) return error
  return error instanceof ProxyFailure ? brokenProxy(error, host) : brokenHost(error, host)
}

function brokenProxy(error: ProxyFailure, host: string): ConnectorError {
  const { proxy, status, cause } = error
  const hint = `Check HTTPS_PROXY and HTTP_PROXY, or name ${host} in NO_PROXY.`
  const failed = (what: string) =>
    new NotConnected('transient', 'proxy-failed', `${what} ${hint}`, { cause: error })
  if (status !== undefined && status >= 400 && status < 500)
    return new NotConnected(
      'config',
      'proxy-refuses',
      `The proxy ${proxy} refuses to connect to ${host} (${status}). ${hint}`,
      { cause: error },
    )
  if (status !== undefined)
    return failed(`The proxy ${proxy} could not connect to ${host} (${status}).`)
  const code = codeOf(cause)
  if (CERTIFICATE.test(code)) return untrusted(`the proxy ${proxy}`, code, error)
  return UNREACHABLE.test(code) || code === 'ENOTFOUND'
    ? failed(`The proxy ${proxy} could not be reached (${code}).`)
    : failed(`The connection to the proxy ${proxy} broke (${code}).`)
}

function brokenHost(error: unknown, host: string): ConnectorError {
  const code = codeOf(error)
  const cause = { cause: error }
  if (CERTIFICATE.test(code)) return untrusted(host, code, error)
  if (code.startsWith('ERR_SSL')) {
    return new ConnectorError(
      'config',
      'no-secure-connection',
      `No secure connection to ${host} can be made (${code}). Check its address and port, and the proxy if there is one.`,
      cause,
    )
  }
  if (code === 'ENOTFOUND') {
    return new NotConnected(
      'transient',
      'unknown-host',
      `The host ${host} is not known (${code}). Check tenant and environment in the configuration.`,
      cause,
    )
  }
  if (UNREACHABLE.test(code)) {
    return new NotConnected(
      'transient',
      'host-not-reached',
      `${host} could not be reached (${code}). Check the addresses in the configuration, and whether the network lets this machine connect.`,
      cause,
    )
  }
  const what = TROUBLES.find(([codes]) => codes.test(code))?.[1]
  const message = what?.replace('HOST', host) ?? `The connection to ${host} broke`
  return new ConnectorError('transient', 'connection-broke', `${message} (${code}).`, cause)
}

function untrusted(whose: string, code: string, cause: unknown): ConnectorError {
  return new ConnectorError(
    'config',
    'certificate-not-trusted',
    `The certificate of ${whose} is not trusted (${code}). If your network has its own certificate authority, name its file in NODE_EXTRA_CA_CERTS.`,
    { cause },
  )
}

/** The code that Node, undici or zlib gives a failure, otherwise its message. */
export function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as Error & { code?: unknown }
    if (typeof code === 'string' && code !== '') return code
  }
  return error instanceof Error ? error.message : String(error)
}
