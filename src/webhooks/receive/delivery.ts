import { claimedDigest, type VerificationReason } from './verify.ts'

/** What is known about a delivery before its body is read. */
export interface DeliveryHead {
  readonly method: string | undefined
  readonly contentEncoding: string | null | undefined
  readonly contentLength: string | null | undefined
  readonly authorization: string | null | undefined
}

/** Why a request is not accepted as a delivery. */
export type RefusalReason =
  | VerificationReason
  | 'unknown-path'
  | 'other-method'
  | 'compressed'
  | 'too-large'
  | 'not-json'

/** The status of the answer to each. */
export const STATUS = {
  'no-header': 401,
  'other-scheme': 401,
  'no-key-fits': 401,
  'unknown-path': 404,
  'other-method': 405,
  compressed: 415,
  'too-large': 413,
  'not-json': 400,
} as const satisfies Readonly<Record<RefusalReason, number>>

/**
 * Why a delivery is refused by its head alone: then the body, which anybody can send, is not read.
 */
export function headRefusal(head: DeliveryHead, maxBytes: number): RefusalReason | undefined {
  if (head.method !== 'POST') return 'other-method'
  // The signature covers the bytes before compression, which are not available here.
  if ((head.contentEncoding ?? 'identity').toLowerCase() !== 'identity') return 'compressed'
  if (Number(head.contentLength ?? 0) > maxBytes) return 'too-large'
  const claimed = claimedDigest(head.authorization)
  return 'reason' in claimed ? claimed.reason : undefined
}

/** The bytes of a body; undefined if there are more than `maxBytes`. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    parts.push(chunk)
  }
  const body = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return body
}

/** The path of a delivery is the only place that names its collection. */
export interface DeliveryPath {
  readonly collection: string
  readonly nonce: string
}

const PATH = /^\/hooks\/([a-z-]+)\/([A-Za-z0-9_-]+)$/

/** The path below the public URL for the deliveries of a webhook. */
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

/** The part of a webhook that a delivery needs. */
export interface Hook {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: string
  /** Empty while it is `creating`: the service has not sent the key yet. */
  readonly keys: readonly string[]
  /** `retiring`: it has a successor, but the service still repeats deliveries to it. */
  readonly state: 'creating' | 'live' | 'retiring'
}

/** The webhooks of a store. */
export interface Hooks {
  /** The webhook of a path `.../hooks/<collection>/<nonce>`; undefined unless both are right. */
  byNonce(collection: string, nonce: string): Hook | undefined
  /**
   * The webhook when it is no longer `creating`; undefined after this many milliseconds, or if it is given
   * up.
   */
  settled(nonce: string, ms: number): Promise<Hook | undefined>
}
