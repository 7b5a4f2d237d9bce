import querystring from 'node:querystring'
import { ConnectorError } from '../../ground/errors.ts'
import { CERTIFICATE, codeOf, ProxyFailure } from '../../http/network-error.ts'
import { createTransport, type Reply } from '../../http/transport.ts'
import type { Trigger } from '../serve/sync-scheduler.ts'

/** One request to a scheduler. */
export interface TriggerRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object | undefined
  /** JSON, sent unchanged. */
  readonly text?: string | undefined
  readonly signal: AbortSignal
  /** How long the whole answer may take. */
  readonly withinMs?: number
  /** How much of the body of an answer to read; by default nothing. */
  readonly maxBytes?: number
}

export interface TriggerAnswer {
  readonly status: number
  /** Empty if the body is not read. */
  readonly text: string
}

const WITHIN_MS = 30_000

/**
 * Sends it like the requests to the service, through the same proxies and with the same certificate
 * authorities, and follows no redirect. Throws a ConnectorError if there is no answer or it is too large, or
 * the signal's reason.
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
      'no-response-from-scheduler',
      `no response from ${url.host} ${why}`,
      { cause: error },
    )
  } finally {
    await transport.close()
  }
}

/** The code of a failed connection; undefined if the error itself says what to do about it. */
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

/** An answer whose rest is not read. */
class TooLarge extends ConnectorError {
  constructor(host: string, maxBytes: number) {
    super(
      'system',
      'scheduler-response-too-large',
      `the response of ${host} is larger than ${maxBytes / 1_048_576} MiB`,
    )
  }
}

/**
 * Statuses with which a scheduler says that a sync is already running, or that there are too many requests.
 */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429])

/** The address that starts syncs. */
export interface PostSettings {
  /** The password for a user name in the address. */
  readonly url: string
  readonly password?: string | undefined
  /** How long an answer may take; by default 30 seconds. */
  readonly withinMs?: number
}

/**
 * Posts `{streams, reason}` as JSON to a scheduler. With a 2xx the scheduler accepts the sync; how the sync
 * ends is not known here.
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

/** An address without its user name, which goes into a header. */
function signedIn(address: string, password = ''): Pick<TriggerRequest, 'url'> & Headed {
  const url = new URL(address)
  const user = querystring.unescape(url.username)
  url.username = ''
  if (user === '' && password === '') return { url: url.href, headers: {} }
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return { url: url.href, headers: { authorization } }
}

type Headed = Required<Pick<TriggerRequest, 'headers'>>

/** What a request failed with, in words, without a full stop. */
export function sentence(error: unknown): string {
  return (error as Error).message.replace(/\.$/, '')
}
