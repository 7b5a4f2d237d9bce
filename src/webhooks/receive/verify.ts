/** Why a body does not count as sent by the service. */
export type VerificationReason = 'no-header' | 'other-scheme' | 'no-key-fits'

const MESSAGES: Readonly<Record<VerificationReason, string>> = {
  'no-header': 'The delivery has no Authorization header: it is not signed',
  'other-scheme':
    'The Authorization header of the delivery is not HMAC-SHA256 and a signature in base64: another sender, or the service signs in another way than this version knows',
  'no-key-fits':
    'No key fits the signature: the body was changed on the way, it was signed by another sender, or the keys are those of another webhook',
}

/**
 * The service has not signed a body with these keys. The error contains nothing of the body, the header or
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

/** A digest of 32 bytes, in standard base64. */
const AUTHORIZATION = /^HMAC-SHA256 ([A-Za-z0-9+/]{43}=)$/
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }
const utf8 = new TextEncoder()

/** The digest in an Authorization header, in base64, or why there is none. */
export function claimedDigest(
  authorization: string | null | undefined,
): { readonly digest: string } | { readonly reason: VerificationReason } {
  if (authorization === null || authorization === undefined || authorization === '')
    return { reason: 'no-header' }
  const [, digest] = AUTHORIZATION.exec(authorization) ?? []
  return digest === undefined ? { reason: 'other-scheme' } : { digest }
}

/**
 * Resolves when the service has signed this body with one of the keys, and rejects with a VerificationError
 * that has the reason when it has not. `body` is the body as it was received, bytes or text (which stands for
 * its UTF-8 bytes); `authorization` is the header of that name. Several keys are those of a webhook and its
 * successor. The time it takes tells nothing of the keys. Needs WebCrypto and nothing else.
 * Rejects with a TypeError for a body that a parser has been at, and for keys that cannot be any.
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

/** The Authorization header with which the service signs a body: for tests of a receiver. */
export async function sign(body: Uint8Array | string, key: string): Promise<string> {
  refuseParsed(body)
  refuseNoKeys([key])
  const digest = await crypto.subtle.sign('HMAC', await imported(key), bytesOf(body))
  return `HMAC-SHA256 ${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

async function imported(key: string) {
  return crypto.subtle.importKey('raw', utf8.encode(key), ALGORITHM, false, ['sign', 'verify'])
}

/** A copy: the given bytes may be shared with another thread. */
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
