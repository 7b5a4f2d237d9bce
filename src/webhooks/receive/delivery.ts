import { createHmac, timingSafeEqual } from 'node:crypto'
import { tryParseJson } from '../../ground/json.ts'

/** What a delivery says. */
export interface WebhookEvent {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: string
  /** The body as it was received: all digits of its numbers are here. */
  readonly body: Buffer
  /** The record's; text when it has more digits than a number keeps. */
  readonly id?: number | string
  /** Orders the versions of a record, compared as text. */
  readonly changeVersion?: string
  /** Undefined when the event does not tell: the service does not document deletions in every form. */
  readonly deleted: boolean | undefined
  /** The record, as JSON.parse reads it; undefined when the event has none. */
  readonly data?: unknown
}

const DELETES = new Map([
  ['delete', true],
  ['insertorupdate', false],
  ['insert', false],
  ['update', false],
])
/** A text, or a whole number that may have more digits than JSON.parse keeps. */
const TEXT_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

/**
 * Reads a body in either form: the record itself, or `{changeType, data}` as a delta has it. Throws a
 * SyntaxError, which repeats nothing of the body, if it is not JSON.
 */
export function parseEvent(collection: string, body: Buffer): WebhookEvent {
  const text = new TextDecoder().decode(body)
  const json = parse(text)
  const data = recordOf(json)
  const { id, changeVersion } = members(data)
  return {
    collection,
    body,
    ...(isId(id) && { id: isExact(id) ? id : longId(text) }),
    ...(typeof changeVersion === 'string' && { changeVersion }),
    deleted: deletedBy(json),
    ...(data !== undefined && { data }),
  }
}

/** Whether a body is JSON. */
export function isJson(body: Buffer): boolean {
  return tryParseJson(new TextDecoder().decode(body)) !== undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('the body of the delivery is not JSON')
  }
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** A record has a changeVersion of its own; around a record there is none. */
function isEnvelope(json: unknown): boolean {
  const { changeType, changeVersion, data } = members(json)
  return typeof changeType === 'string' && (data !== undefined || changeVersion === undefined)
}

function recordOf(json: unknown): unknown {
  return isEnvelope(json) ? members(json)['data'] : json
}

function deletedBy(json: unknown): boolean | undefined {
  if (members(recordOf(json))['status'] === 'Deleted') return true
  return isEnvelope(json)
    ? DELETES.get(String(members(json)['changeType']).toLowerCase())
    : undefined
}

function isId(id: unknown): id is number | string {
  return typeof id === 'number' || typeof id === 'string'
}

function isExact(id: number | string): boolean {
  return typeof id === 'string' || !Number.isInteger(id) || Number.isSafeInteger(id)
}

/** All digits of the record's id. */
function longId(text: string): string {
  const quoted = text.replace(TEXT_OR_LONG_NUMBER, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
  return String(members(recordOf(JSON.parse(quoted)))['id'])
}

/** A digest of 32 bytes, in standard base64. */
const AUTHORIZATION = /^HMAC-SHA256 ([A-Za-z0-9+/]{43}=)$/

/**
 * Whether the service has signed this body with one of the keys. `body` is the body as it was received,
 * bytes or text (which stands for its UTF-8 bytes); `authorization` is the header of that name. Several
 * keys are those of a webhook and its successor. The time it takes tells nothing of the keys.
 * Throws a TypeError for a body that a parser has been at, and for keys that cannot be any.
 */
export function verifyDelivery(
  body: Uint8Array | string,
  authorization: string | null | undefined,
  keys: readonly string[],
): boolean {
  refuseParsed(body)
  refuseNoKeys(keys)
  const [, digest] = AUTHORIZATION.exec(authorization ?? '') ?? []
  if (digest === undefined) return false
  const given = Buffer.from(digest, 'base64')
  return keys
    .map((key) => createHmac('sha256', key).update(body).digest())
    .map((expected) => timingSafeEqual(expected, given))
    .includes(true)
}

function refuseParsed(body: unknown): void {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  throw new TypeError(
    'verifyDelivery needs the body as it was received, as text or bytes: the signature covers exactly these, and a parsed body cannot be turned back into them. Read the body before a parser such as express.json() does',
  )
}

function refuseNoKeys(keys: unknown): void {
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string' && key !== '')) return
  throw new TypeError(
    'verifyDelivery needs a list of keys, each the text that the service answered when the webhook was created',
  )
}

/** What is known of a delivery before its body is read. */
export interface DeliveryHead {
  readonly method: string | undefined
  readonly contentEncoding: string | null | undefined
  readonly contentLength: string | null | undefined
}

/** The status that refuses a delivery by its head alone, or undefined. */
export function headRefusal(
  { method, contentEncoding, contentLength }: DeliveryHead,
  maxBytes: number,
): 405 | 413 | 415 | undefined {
  if (method !== 'POST') return 405
  // The signature covers the bytes as sent, which nobody has seen once they are unpacked.
  if ((contentEncoding ?? 'identity').toLowerCase() !== 'identity') return 415
  if (Number(contentLength ?? 0) > maxBytes) return 413
  return undefined
}

/** The bytes of a body, or undefined as soon as they are more than `maxBytes`. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    parts.push(chunk)
  }
  return Buffer.concat(parts, bytes)
}

/** What the path of a delivery tells: nothing else of a delivery names its collection. */
export interface DeliveryPath {
  readonly collection: string
  readonly nonce: string
}

const PATH = /^\/hooks\/([a-z-]+)\/([A-Za-z0-9_-]+)$/

/** The path below the public URL to which the deliveries of a webhook go. */
export function deliveryPath({ collection, nonce }: DeliveryPath): string {
  return `/hooks/${collection}/${nonce}`
}

/** Reads the path of a request, with or without the prefix of the public URL and a query. */
export function parseDeliveryPath(target: string, prefix = ''): DeliveryPath | undefined {
  const [path = ''] = target.split('?', 1)
  const below = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  const [, collection, nonce] = PATH.exec(below) ?? []
  return collection === undefined || nonce === undefined ? undefined : { collection, nonce }
}

/** A webhook of ours, as far as a delivery needs to know it. */
export interface Hook {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: string
  /** Empty while it is `creating`: the service has not told the key yet. */
  readonly keys: readonly string[]
  /** `retiring`: it has a successor, but the service still repeats deliveries to it. */
  readonly state: 'creating' | 'live' | 'retiring'
}

/** The webhooks of a store. */
export interface Hooks {
  /** The webhook of a path `.../hooks/<collection>/<nonce>`; undefined unless both are right. */
  byNonce(collection: string, nonce: string): Hook | undefined
  /** The webhook once it is no longer `creating`; undefined after so many milliseconds, or if it is given up. */
  settled(nonce: string, ms: number): Promise<Hook | undefined>
}
