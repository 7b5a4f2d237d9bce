import { ConnectorError } from '../../ground/errors.ts'
import { CERTIFICATE, codeOf, ProxyFailure } from '../../http/network-error.ts'
import { createTransport, type Reply } from '../../http/transport.ts'
import { sentence, type Trigger } from './trigger.ts'

/** One request to whoever runs syncs. */
export interface TriggerRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object | undefined
  /** JSON, sent as it is. */
  readonly text?: string | undefined
  readonly signal: AbortSignal
  /** How long the whole answer may take. */
  readonly withinMs?: number
  /** How much of an answer's body is read; nothing if left out. */
  readonly maxBytes?: number
}

export interface TriggerAnswer {
  readonly status: number
  /** Empty where the body is not read. */
  readonly text: string
}

const WITHIN_MS = 30_000

/**
 * Sends it as the requests to the service go, through the same proxies and with the same certificate
 * authorities, and follows no redirection. Throws a ConnectorError when there is no answer, or one that is
 * too large, or the signal's reason.
 */
export async function request(order: TriggerRequest): Promise<TriggerAnswer> {
  const { method, body, headers, signal, withinMs = WITHIN_MS, maxBytes } = order
  const url = new URL(order.url)
  const { text = body === undefined ? undefined : JSON.stringify(body) } = order
  const transport = createTransport(withinMs / 1000)
  const late = AbortSignal.timeout(withinMs)
  try {
    const reply = await transport.send({
      method,
      url: url.href,
      headers: {
        accept: 'application/json',
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
      signal: AbortSignal.any([signal, late]),
    })
    const { status } = reply
    if (maxBytes !== undefined) return { status, text: await textOf(reply, url, maxBytes) }
    reply.discard()
    return { status, text: '' }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof TooLarge) throw error
    const why = late.aborted ? `within ${withinMs / 1000} seconds` : reasonOf(error as Error)
    if (why === undefined) throw error
    throw new ConnectorError(
      'transient',
      'no-answer-from-scheduler',
      `no answer from ${url.host} ${why}`,
      { cause: error },
    )
  } finally {
    await transport.close()
  }
}

/** The code of a connection that failed; undefined where the error says itself what to do about it. */
function reasonOf({ cause }: Error): string | undefined {
  const isKnown = cause instanceof ProxyFailure || CERTIFICATE.test(codeOf(cause))
  return isKnown ? undefined : `(${codeOf(cause)})`
}

async function textOf({ body }: Reply, { host }: URL, maxBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > maxBytes) throw new TooLarge(host, maxBytes)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** An answer of which no more is read. */
class TooLarge extends ConnectorError {
  constructor(host: string, maxBytes: number) {
    super(
      'system',
      'scheduler-answer-too-large',
      `the answer of ${host} is larger than ${maxBytes / 1_048_576} MiB`,
    )
  }
}

/** Statuses by which a scheduler says that a sync is running already, or that it is asked too often. */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429])

/** Where syncs are ordered. */
export interface PostSettings {
  /** A user in it signs in with the password. */
  readonly url: string
  readonly password?: string | undefined
  /** How long an answer may take; 30 seconds if left out. */
  readonly withinMs?: number
}

/**
 * Posts `{streams, reason}` as JSON to a scheduler. A 2xx takes over: the end of the sync is not known here.
 */
export function createPostTrigger({ password, withinMs, ...settings }: PostSettings): Trigger {
  const { url, headers } = signedIn(settings.url, password)
  const limit = withinMs === undefined ? {} : { withinMs }
  return async ({ streams, reason }, signal) => {
    const body = { streams, reason }
    try {
      const { status } = await request({ method: 'POST', url, headers, body, signal, ...limit })
      const detail = `status ${status}`
      if (BUSY.has(status)) return { result: 'busy', detail }
      return { result: status >= 200 && status < 300 ? 'done' : 'failed', detail }
    } catch (error) {
      return { result: 'failed', detail: sentence(error) }
    }
  }
}

/** An address without its user, which stands in a header. */
function signedIn(address: string, password = ''): Pick<TriggerRequest, 'url'> & Headed {
  const url = new URL(address)
  const user = decodeURIComponent(url.username)
  url.username = ''
  if (user === '' && password === '') return { url: url.href, headers: {} }
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return { url: url.href, headers: { authorization } }
}

type Headed = Required<Pick<TriggerRequest, 'headers'>>
