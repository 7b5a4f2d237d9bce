import { createHmac } from 'node:crypto'
import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { createRandom } from '../generate/random.ts'
import type { Change } from '../store/store.ts'
import type { Webhook } from './webhooks.ts'

/** One POST of an event: the status of its answer, or why there was none. */
interface Attempt {
  /** Milliseconds of the virtual clock. */
  readonly at: number
  readonly status?: number
  readonly error?: string
}

/**
 * The state of a delivery. `held`: it waits for an earlier one; `purged`: its webhook ended before it was delivered;
 * `failed`: all retries failed; `lost`: a fault dropped it; `unsent`: its destination is not on this machine.
 */
export type DeliveryStatus =
  | 'waiting'
  | 'held'
  | 'delivered'
  | 'purged'
  | 'failed'
  | 'lost'
  | 'unsent'

/** An event on its way to one webhook. */
export interface Delivery {
  /** Counts all deliveries since the start, from 1. */
  readonly number: number
  readonly webhook: Webhook
  readonly change: Change
  status: DeliveryStatus
  /** The body, until the delivery has ended. */
  body: string
  readonly attempts: Attempt[]
  /** When the next attempt is due, in milliseconds of the virtual clock. */
  due: number | undefined
}

/** A delivery as the control endpoint shows it. */
export function deliveryView({ number, webhook, change, status, attempts, due }: Delivery) {
  const iso = (time: number) => new Date(time).toISOString()
  return {
    number,
    webhook: webhook.id,
    collection: webhook.collection,
    id: change.id,
    changeVersion: change.version,
    status,
    attempts: attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
    ...(due !== undefined && { nextAttempt: iso(due) }),
  }
}

/** Faults that replace the single, immediate delivery of an event. */
const eventKinds = ['lose', 'duplicate', 'delay', 'reorder'] as const

/** Faults that change one attempt, after its body has been made. */
const attemptKinds = ['tamper', 'wrong-key', 'other-scheme', 'unsigned'] as const

/** All faults of deliveries; `early` belongs to the creation of a webhook. */
export const deliveryFaultKinds = [...eventKinds, ...attemptKinds, 'early'] as const

/** A kind of fault of deliveries. */
export type DeliveryFaultKind = (typeof deliveryFaultKinds)[number]

/** Details of a fault of deliveries. */
export interface DeliveryFaultOptions {
  /** Only deliveries of this collection; left out: of all. */
  readonly collection?: string
  /** How often; left out: until it is cleared. For `reorder`: how many events are reversed. */
  readonly times?: number
  /** How many matching events pass first. */
  readonly skip?: number
  /** The share of matching events that fail, from 0 to 1. @default 1 */
  readonly share?: number
  /** How many more copies `duplicate` sends. @default 1 */
  readonly copies?: number
  /** How much later `delay` sends. @default 1 */
  readonly minutes?: number
  /** How long the answer to a creation waits for the answer to an `early` delivery. @default 1000 */
  readonly ms?: number
}

/** A fault that applies to a delivery. */
export interface DeliveryFault {
  readonly kind: DeliveryFaultKind
  readonly options: DeliveryFaultOptions
}

/** The faults that apply to later deliveries. */
export interface DeliveryFaults {
  /** Throws when the details do not fit the kind. */
  add(kind: DeliveryFaultKind, options?: DeliveryFaultOptions): void
  /** The first fault that applies to an event of this collection; this counts as one of its times. */
  ofEvent(collection: string): DeliveryFault | undefined
  ofAttempt(collection: string): DeliveryFault | undefined
  ofCreation(collection: string): DeliveryFault | undefined
  clear(): void
}

interface Waiting extends DeliveryFault {
  times: number
  skip: number
}

/** Creates an empty list of faults. With the same seed, `share` selects the same deliveries. */
export function createDeliveryFaults(seed: number): DeliveryFaults {
  const random = createRandom(seed)
  const waiting: Waiting[] = []
  const isHit = (one: Waiting, kinds: readonly DeliveryFaultKind[], collection: string) => {
    const { collection: wanted = collection, share = 1 } = one.options
    if (one.times <= 0 || !kinds.includes(one.kind) || wanted !== collection) return false
    if (one.skip > 0) {
      one.skip -= 1
      return false
    }
    return random.chance(share)
  }
  const take = (kinds: readonly DeliveryFaultKind[]) => (collection: string) => {
    const hit = waiting.find((one) => isHit(one, kinds, collection))
    if (hit) hit.times -= 1
    return hit
  }
  return {
    add(kind, options = {}) {
      const { times = Number.POSITIVE_INFINITY, skip = 0 } = options
      if (kind === 'reorder' && !(times >= 2 && times < Number.POSITIVE_INFINITY)) {
        throw new RangeError('reorder needs times: how many events are turned around, 2 or more')
      }
      waiting.push({ kind, options, times, skip })
    },
    ofEvent: take(eventKinds),
    ofAttempt: take(attemptKinds),
    ofCreation: take(['early']),
    clear: () => void waiting.splice(0),
  }
}

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
 * The address to which the deliveries of a destination are sent: the destination itself if it is on loopback,
 * otherwise its path at `deliverTo`. Undefined if that is not set, because nothing is ever sent beyond loopback.
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

/** Creates a sender without connections. */
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
        // The receiver had already closed the idle connection, so the event is sent again on a new one.
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

/** The HMAC of the body's bytes. The key is the UTF-8 text that the client was given; it is not decoded. */
function hmac(algorithm: 'sha256' | 'sha512', body: Buffer, key: string): string {
  return createHmac(algorithm, Buffer.from(key, 'utf8')).update(body).digest('base64')
}

// Changes one digit of the version, so that the body is still JSON.
function tampered(body: Buffer): Buffer {
  const changed = Buffer.from(body)
  const at = changed.indexOf('"changeVersion":"') + '"changeVersion":"'.length
  changed[at] = changed[at] === 0x30 ? 0x31 : 0x30
  return changed
}
