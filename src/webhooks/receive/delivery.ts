/** What is known about a delivery before its body is read. */
export interface DeliveryHead {
  readonly method: string | undefined
  /** A header by its name in lower case. */
  header(name: string): string | null | undefined
}

/** Why a request is not accepted as a delivery. */
export type RefusalReason =
  | VerificationReason
  | 'unknown-path'
  | 'other-method'
  | 'compressed'
  | 'too-large'
  | 'not-json'

/** The HTTP status for each reason. */
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

/** Why a delivery is refused before its body is read, which anybody could have sent; undefined if it is not. */
export function headRefusal(
  { method, header }: DeliveryHead,
  maxBytes: number,
): RefusalReason | undefined {
  if (method !== 'POST') return 'other-method'
  // The signature covers the bytes before compression, which are not available here.
  if ((header('content-encoding') ?? 'identity').toLowerCase() !== 'identity') return 'compressed'
  if (Number(header('content-length') ?? 0) > maxBytes) return 'too-large'
  const claimed = claimedDigest(header('authorization'))
  return 'reason' in claimed ? claimed.reason : undefined
}

/** Gets a body in parts, and says at its end whether it is the signed one. */
export interface BodyVerifier {
  take(part: Uint8Array): void
  isSigned(authorization: string): boolean | Promise<boolean>
}

/** Passes on the parts of a body while `take` wants more of them; resolves to whether it took all. */
type BodyReader = (take: (part: Uint8Array) => boolean) => Promise<boolean>

/** Reads the body of a delivery, and returns why it is refused; undefined if it is genuine. */
export async function receiveBody(
  head: DeliveryHead,
  read: BodyReader,
  maxBytes: number,
  verifier: BodyVerifier,
): Promise<RefusalReason | undefined> {
  const refusal = headRefusal(head, maxBytes)
  if (refusal !== undefined) return refusal
  let bytes = 0
  const isWhole = await read((part) => {
    bytes += part.length
    if (bytes > maxBytes) return false
    verifier.take(part)
    return true
  })
  if (!isWhole) return 'too-large'
  return (await verifier.isSigned(head.header('authorization') ?? '')) ? undefined : 'no-key-fits'
}

/** The parts of a delivery's path. The collection is named nowhere else. */
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
  /** Undefined while it is `creating`: the service has not sent the key yet. */
  readonly key?: string
  /** `retiring`: it has a successor, but the service still repeats deliveries to it. */
  readonly state: 'creating' | 'live' | 'retiring'
}

/** The webhooks of a store. */
export interface Hooks {
  /** The webhook of a path `.../hooks/<collection>/<nonce>`; undefined unless both are right. */
  byNonce(collection: string, nonce: string): Hook | undefined
  /**
   * Waits until the webhook is no longer `creating`, and returns it. Resolves to undefined after `ms` milliseconds, or
   * if its creation is given up.
   */
  settled(nonce: string, ms: number): Promise<Hook | undefined>
}

/** Why a body was not accepted as signed by the service. */
export type VerificationReason = 'no-header' | 'other-scheme' | 'no-key-fits'

const MESSAGES: Readonly<Record<VerificationReason, string>> = {
  'no-header': 'The delivery has no Authorization header: it is not signed',
  'other-scheme':
    'The Authorization header of the delivery is not HMAC-SHA256 and a signature in base64: another sender, or the service signs in another way than this version knows',
  'no-key-fits':
    'No key fits the signature: the body was changed on the way, it was signed by another sender, or the keys are those of another webhook',
}

/**
 * The service has not signed the body with one of the keys. The error contains no part of the body, the header or
 * the keys.
 */
export class VerificationError extends Error {
  override name = 'VerificationError'
  readonly reason: VerificationReason

  constructor(reason: VerificationReason) {
    super(MESSAGES[reason])
    this.reason = reason
  }
}

/** The scheme, whose case does not count, and a digest of 32 bytes in standard base64. */
const AUTHORIZATION = /^HMAC-SHA256 ([A-Za-z0-9+/]{43}=)$/i
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }
const utf8 = new TextEncoder()

/** The base64 digest of an Authorization header, or the reason why there is none. */
export function claimedDigest(
  authorization: string | null | undefined,
): { readonly digest: string } | { readonly reason: VerificationReason } {
  if (authorization === null || authorization === undefined || authorization === '')
    return { reason: 'no-header' }
  const [, digest] = AUTHORIZATION.exec(authorization) ?? []
  return digest === undefined ? { reason: 'other-scheme' } : { digest }
}

/**
 * Verifies that the service has signed a body with one of the keys. Resolves if it has; otherwise rejects with a
 * VerificationError that contains the reason. `body` is the body as received, as bytes or as text, which is encoded
 * in UTF-8. `authorization` is the value of the Authorization header. Pass several keys if a webhook and its successor
 * both deliver. The duration reveals nothing about the keys. Needs only WebCrypto.
 *
 * Rejects with a TypeError if the body was already parsed, or if the keys are not keys.
 */
export async function verify(
  body: Uint8Array | string,
  authorization: string | null | undefined,
  keys: readonly string[],
): Promise<void> {
  refuseParsed(body)
  refuseNoKeys(keys)
  const claimed = claimedDigest(authorization)
  if ('reason' in claimed) throw new VerificationError(claimed.reason)
  const digest = Uint8Array.from(atob(claimed.digest), (char) => char.charCodeAt(0))
  const fits = keys.map(async (key) =>
    crypto.subtle.verify('HMAC', await imported(key), digest, bytesOf(body)),
  )
  if (!(await Promise.all(fits)).includes(true)) throw new VerificationError('no-key-fits')
}

/** Creates the Authorization header that the service sends with a body. Use it to test a receiver. */
export async function sign(body: Uint8Array | string, key: string): Promise<string> {
  refuseParsed(body)
  refuseNoKeys([key])
  const digest = await crypto.subtle.sign('HMAC', await imported(key), bytesOf(body))
  return `HMAC-SHA256 ${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

async function imported(key: string) {
  return crypto.subtle.importKey('raw', utf8.encode(key), ALGORITHM, false, ['sign', 'verify'])
}

/** Copies the bytes, because they may be shared with another thread. */
function bytesOf(body: Uint8Array | string): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? utf8.encode(body) : new Uint8Array(body)
}

function refuseParsed(body: unknown): void {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  throw new TypeError(
    'the body is needed as it was received, as text or bytes: the signature covers exactly these, and a parsed body cannot be turned back into them. Read the body before a parser such as express.json() does',
  )
}

function refuseNoKeys(keys: unknown): void {
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string' && key !== '')) return
  throw new TypeError(
    'keys are needed in a list, each the text that the service answered when the webhook was created',
  )
}
