import { createHmac } from 'node:crypto'
import type { DeliveryFaultKind } from './delivery-faults.ts'

/** The bytes of a delivery and the header `Authorization` that goes with them, if there is one. */
export interface Signed {
  readonly body: Buffer
  readonly authorization: string | undefined
}

/** Signs the body of a delivery, or does so wrongly in the way of a fault. */
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
