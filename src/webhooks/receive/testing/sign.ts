import { createHmac } from 'node:crypto'

/** The header by which the service signs a body. */
export function sign(body: Uint8Array | string, key: string): string {
  const digest = createHmac('sha256', Buffer.from(key, 'utf8')).update(Buffer.from(body))
  return `HMAC-SHA256 ${digest.digest('base64')}`
}
