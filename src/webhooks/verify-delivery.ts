import { createHmac, timingSafeEqual } from 'node:crypto'

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
