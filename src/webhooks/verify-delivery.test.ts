import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sign } from './testing/sign.ts'
import { verifyDelivery } from './verify-delivery.ts'

const KEY = 'k3y-é/+='
const BODY = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const DIGEST = 'teKv+Ux5PJfR6hmRGxCkb92E5gGcHHbs+XWBTuyWhak='
const AUTHORIZATION = `HMAC-SHA256 ${DIGEST}`

describe('the signature of a delivery', () => {
  // spec: Events 2
  // spec: Authentication 9
  it('is what OpenSSL makes of the same bytes and key', () => {
    expect(verifyDelivery(Buffer.from(BODY), AUTHORIZATION, [KEY])).toBe(true)
    expect(verifyDelivery(BODY, AUTHORIZATION, [KEY])).toBe(true)
  })

  it.each([
    ['a letter is another', BODY.replace('Zoë', 'Zoe')],
    ['a space follows', `${BODY} `],
    ['a newline follows', `${BODY}\n`],
    ['the members are in another order', JSON.stringify({ id: 4712, ...JSON.parse(BODY) })],
    ['it begins with a byte order mark', `\uFEFF${BODY}`],
    ['it is empty', ''],
  ])('does not cover a body of which %s', (_, body) => {
    expect(verifyDelivery(body, AUTHORIZATION, [KEY])).toBe(false)
  })

  // spec: Versioning 3
  it.each([
    undefined,
    null,
    '',
    DIGEST,
    `Bearer ${DIGEST}`,
    `HMAC-SHA512 ${DIGEST}`,
    `hmac-sha256 ${DIGEST}`,
    `HMAC-SHA256  ${DIGEST}`,
    `HMAC-SHA256 ${DIGEST} `,
    `HMAC-SHA256 ${DIGEST}, HMAC-SHA256 ${DIGEST}`,
    `HMAC-SHA256 ${Buffer.from(DIGEST, 'base64').toString('hex')}`,
    `HMAC-SHA256 ${Buffer.from(DIGEST, 'base64').toString('base64url')}`,
    `HMAC-SHA256 ${DIGEST.slice(0, -1)}`,
    `HMAC-SHA256 ${DIGEST.slice(0, 20)}`,
  ])('is not %s', (authorization) => {
    expect(verifyDelivery(BODY, authorization, [KEY])).toBe(false)
  })

  it('may be by any of the keys, and by no other', () => {
    expect(verifyDelivery(BODY, AUTHORIZATION, ['a', KEY, 'b'])).toBe(true)
    expect(verifyDelivery(BODY, AUTHORIZATION, ['a', 'b'])).toBe(false)
    expect(verifyDelivery(BODY, AUTHORIZATION, [])).toBe(false)
  })

  it('covers each bit of any bytes, which need not be text', () => {
    const flipped = fc.record({
      body: fc.uint8Array({ minLength: 1, maxLength: 300 }),
      key: fc.string({ minLength: 1, unit: 'grapheme' }),
      at: fc.nat(),
    })
    fc.assert(
      fc.property(flipped, ({ body, key, at }) => {
        const authorization = sign(body, key)
        expect(verifyDelivery(body, authorization, [key])).toBe(true)
        const other = Uint8Array.from(body)
        const index = at % body.length
        other[index] = (other[index] ?? 0) ^ (1 << (at % 8))
        expect(verifyDelivery(other, authorization, [key])).toBe(false)
      }),
    )
  })
})

describe('verifyDelivery refuses', () => {
  it('a body that was parsed, and says why', () => {
    const parsed = JSON.parse(BODY) as Uint8Array
    expect(() => verifyDelivery(parsed, AUTHORIZATION, [KEY])).toThrow(
      /^verifyDelivery needs the body as it was received.*express\.json/,
    )
  })

  it.each([KEY, [''], [undefined]])('%j as keys', (keys) => {
    expect(() => verifyDelivery(BODY, AUTHORIZATION, keys as string[])).toThrow(TypeError)
  })
})
