import { ConnectorError } from '../../ground/errors.ts'
import { CERTIFICATE, codeOf, ProxyFailure } from '../../http/network-error.ts'
import { createTransport } from '../../http/transport.ts'
import { sentence, type Trigger } from './trigger.ts'

/** One request to whoever runs syncs. */
export interface TriggerRequest {
  readonly method: 'GET' | 'POST'
  /** A user and a password in it become a header. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object | undefined
  readonly signal: AbortSignal
  /** How long the whole answer may take. */
  readonly withinMs?: number
}

export interface TriggerAnswer {
  readonly status: number
  readonly text: string
}

const WITHIN_MS = 30_000

/**
 * Sends it as the requests to the service go, through the same proxies and with the same certificate
 * authorities, and follows no redirection. Throws a ConnectorError when there is no answer, or the
 * signal's reason.
 */
export async function request(order: TriggerRequest): Promise<TriggerAnswer> {
  const { method, body, headers, signal, withinMs = WITHIN_MS } = order
  const { url, authorization } = withoutCredentials(order.url)
  const transport = createTransport(withinMs / 1000)
  const late = AbortSignal.timeout(withinMs)
  try {
    const reply = await transport.send({
      method,
      url: url.href,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...authorization,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, late]),
    })
    const parts: Buffer[] = []
    for await (const part of reply.body) parts.push(part)
    return { status: reply.status, text: Buffer.concat(parts).toString() }
  } catch (error) {
    signal.throwIfAborted()
    const why = late.aborted ? `within ${withinMs / 1000} seconds` : reasonOf(error as Error)
    if (why === undefined) throw error
    throw new ConnectorError('transient', `no answer from ${url.host} ${why}`, { cause: error })
  } finally {
    await transport.close()
  }
}

/** The code of a connection that failed; undefined where the error says itself what to do about it. */
function reasonOf({ cause }: Error): string | undefined {
  const isKnown = cause instanceof ProxyFailure || CERTIFICATE.test(codeOf(cause))
  return isKnown ? undefined : `(${codeOf(cause)})`
}

function withoutCredentials(address: string): { url: URL; authorization: object } {
  const url = new URL(address)
  const { username, password } = url
  if (username === '' && password === '') return { url, authorization: {} }
  url.username = ''
  url.password = ''
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    url,
    authorization: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
  }
}

/** Statuses by which a scheduler says that a sync is running already, or that it is asked too often. */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429])

/**
 * Posts `{streams, reason}` as JSON to a scheduler. A 2xx takes over: the end of the sync is not known here.
 */
export function createPostTrigger(url: string, withinMs?: number): Trigger {
  const limit = withinMs === undefined ? {} : { withinMs }
  return async ({ streams, reason }, signal) => {
    try {
      const { status } = await request({
        method: 'POST',
        url,
        body: { streams, reason },
        signal,
        ...limit,
      })
      const detail = `status ${status}`
      if (BUSY.has(status)) return { result: 'busy', detail }
      return { result: status >= 200 && status < 300 ? 'done' : 'failed', detail }
    } catch (error) {
      return { result: 'failed', detail: sentence(error) }
    }
  }
}
