import { ConnectorError } from '../errors.ts'

const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT)/

/** What may have passed the next time, but tells where to look when it has not. */
const TROUBLES: readonly (readonly [codes: RegExp, what: string])[] = [
  [/^UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT$/, 'HOST was silent for too long'],
  // undici's parser has no codes, but sentences.
  [
    /^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT|Response does not match the HTTP)/,
    'The answer of HOST is not valid HTTP',
  ],
  // Of gzip and of brotli; Z_BUF_ERROR is an answer that was cut off.
  [/^(Z_DATA_ERROR|Z_NEED_DICT|ERR__ERROR_FORMAT)/, 'The answer of HOST cannot be decompressed'],
]

/** A network failure in words, by the code that Node, undici or zlib gives it. */
export function broken(error: unknown, host: string): ConnectorError {
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
  const what = TROUBLES.find(([codes]) => codes.test(code))?.[1]
  const message = what?.replace('HOST', host) ?? `The connection to ${host} broke`
  return new ConnectorError('transient', `${message} (${code}).`, cause)
}

function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as Error & { code?: unknown }
    if (typeof code === 'string' && code !== '') return code
  }
  return error instanceof Error ? error.message : String(error)
}
