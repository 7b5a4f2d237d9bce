import { createHmac } from 'node:crypto'
import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { DeliveryFaultKind } from './delivery.ts'

/** Where a delivery is sent: an address on this machine, and the host that its header names. */
export interface Address {
  readonly url: URL
  readonly host: string
}

/** Why a text is not a valid destination of a webhook; undefined if it is. */
export function destinationFault(text: string): string | undefined {
  const url = read(text)
  if (!url) return 'is no absolute URL'
  return url.protocol === 'https:' || isLoopback(url) ? undefined : 'is not https'
}

/**
 * The address that gets the deliveries of a destination: its own on loopback, otherwise `deliverTo` with its
 * path. Undefined without one: nothing is ever sent beyond loopback.
 */
export function addressOf(destination: string, deliverTo: string | undefined): Address | undefined {
  const wanted = new URL(destination)
  if (isLoopback(wanted)) return { url: wanted, host: wanted.host }
  if (!isLoopbackOrigin(deliverTo)) return undefined
  return { url: new URL(wanted.pathname + wanted.search, deliverTo), host: wanted.host }
}

/** Whether a value is the address of a server on this machine, such as `http://127.0.0.1:8080`. */
export function isLoopbackOrigin(value: unknown): boolean {
  const url = typeof value === 'string' ? read(value) : undefined
  return url !== undefined && isLoopback(url)
}

function read(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

function isLoopback({ hostname }: URL): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname)
}

/** One POST to a receiver. */
interface EventPost {
  readonly address: Address
  readonly body: Buffer
  /** The header of the signature, if there is one. */
  readonly authorization: string | undefined
  /** Timeout for the answer, in real milliseconds. */
  readonly timeoutMs: number
}

/** The answer of a receiver, or why there is none. */
type PostResult = { readonly status: number } | { readonly error: string }

/** Sends events; connections are kept open between them. */
export interface EventSender {
  /** Never rejects. Redirects are not followed. */
  post(event: EventPost): Promise<PostResult>
  close(): void
}

/** Starts without connections. */
export function createEventSender(): EventSender {
  const http = new HttpAgent({ keepAlive: true })
  const https = new HttpsAgent({ keepAlive: true })
  const open = new Set<ClientRequest>()

  const post = (event: EventPost): Promise<PostResult> =>
    new Promise((resolve) => {
      const { address, body, authorization, timeoutMs } = event
      const isHttps = address.url.protocol === 'https:'
      const options = {
        method: 'POST',
        agent: isHttps ? https : http,
        headers: {
          host: address.host,
          'content-type': 'application/json; charset=utf-8',
          'content-length': body.length,
          ...(authorization !== undefined && { authorization }),
        },
      }
      const request = isHttps
        ? httpsRequest(address.url, options)
        : httpRequest(address.url, options)
      const timeout = new Error(`no answer within ${timeoutMs} ms`)
      const timer = setTimeout(() => request.destroy(timeout), timeoutMs)
      const end = (result: PostResult | Promise<PostResult>) => {
        clearTimeout(timer)
        open.delete(request)
        resolve(result)
      }
      let isAnswered = false
      open.add(request)
      request.on('response', (response) => {
        isAnswered = true
        const { statusCode: status = 0 } = response
        response.on('error', (error) => end({ error: error.message }))
        response.on('end', () => end({ status })).resume()
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver had closed the idle connection when the request was written to it.
        const isStale = request.reusedSocket && !isAnswered && error.code === 'ECONNRESET'
        end(isStale ? post(event) : { error: error.message })
      })
      request.end(body)
    })

  return {
    post,
    close() {
      http.destroy()
      https.destroy()
      for (const request of open) request.destroy(new Error('the emulator was closed'))
    },
  }
}

/** The bytes of a delivery and the header `Authorization` that goes with them, if there is one. */
export interface Signed {
  readonly body: Buffer
  readonly authorization: string | undefined
}

/** Signs the body of a delivery, or signs it wrongly for a fault. */
export function sign(text: string, key: string, fault?: DeliveryFaultKind): Signed {
  const body = Buffer.from(text)
  if (fault === 'unsigned') return { body, authorization: undefined }
  if (fault === 'other-scheme') {
    return { body, authorization: `HMAC-SHA512 ${hmac('sha512', body, key)}` }
  }
  const usedKey = fault === 'wrong-key' ? `${key}x` : key
  const authorization = `HMAC-SHA256 ${hmac('sha256', body, usedKey)}`
  return { body: fault === 'tamper' ? tampered(body) : body, authorization }
}

/** Over the bytes of the body; the key is the text as it was given out, in UTF-8, not decoded. */
function hmac(algorithm: 'sha256' | 'sha512', body: Buffer, key: string): string {
  return createHmac(algorithm, Buffer.from(key, 'utf8')).update(body).digest('base64')
}

// One digit of the version, so that the body stays JSON.
function tampered(body: Buffer): Buffer {
  const changed = Buffer.from(body)
  const at = changed.indexOf('"changeVersion":"') + '"changeVersion":"'.length
  changed[at] = changed[at] === 0x30 ? 0x31 : 0x30
  return changed
}
