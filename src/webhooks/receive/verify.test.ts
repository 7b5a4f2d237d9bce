import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sign, VerificationError, verify } from './verify.ts'

const KEY = 'k3y-é/+='
const BODY = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const DIGEST = 'teKv+Ux5PJfR6hmRGxCkb92E5gGcHHbs+XWBTuyWhak='
const AUTHORIZATION = `HMAC-SHA256 ${DIGEST}`

const NO_KEY_FITS = { name: 'VerificationError', reason: 'no-key-fits' }

describe('the signature of a delivery', () => {
  // spec: Events 2
  // spec: Authentication 9
  it('is what OpenSSL makes of the same bytes and key', async () => {
    await verify(Buffer.from(BODY), AUTHORIZATION, [KEY])
    await verify(BODY, AUTHORIZATION, [KEY])
  })

  it.each([
    ['a letter is another', BODY.replace('Zoë', 'Zoe')],
    ['a space follows', `${BODY} `],
    ['a newline follows', `${BODY}\n`],
    ['the members are in another order', JSON.stringify({ id: 4712, ...JSON.parse(BODY) })],
    ['it begins with a byte order mark', `\uFEFF${BODY}`],
    ['it is empty', ''],
  ])('does not cover a body of which %s', async (_, body) => {
    await expect(verify(body, AUTHORIZATION, [KEY])).rejects.toMatchObject(NO_KEY_FITS)
  })

  it.each([undefined, null, ''])('is missing where the header is %j', async (authorization) => {
    await expect(verify(BODY, authorization, [KEY])).rejects.toMatchObject({
      reason: 'no-header',
      message: expect.stringContaining('it is not signed'),
    })
  })

  // spec: Versioning 3
  it.each([
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
  ])('is of another scheme where the header is %s', async (authorization) => {
    const failure = verify(BODY, authorization, [KEY])
    await expect(failure).rejects.toBeInstanceOf(VerificationError)
    await expect(failure).rejects.toMatchObject({
      reason: 'other-scheme',
      message: expect.not.stringContaining(DIGEST.slice(0, 20)),
    })
  })

  it('is made for tests of a receiver by the same key', async () => {
    expect(await sign(BODY, KEY)).toBe(AUTHORIZATION)
    expect(await sign(Buffer.from(BODY), KEY)).toBe(AUTHORIZATION)
  })

  it('may be by any of the keys, and by no other', async () => {
    await verify(BODY, AUTHORIZATION, ['a', KEY, 'b'])
    await expect(verify(BODY, AUTHORIZATION, ['a', 'b'])).rejects.toMatchObject(NO_KEY_FITS)
    await expect(verify(BODY, AUTHORIZATION, [])).rejects.toMatchObject(NO_KEY_FITS)
  })

  it('covers each bit of any bytes, which need not be text', async () => {
    const flipped = fc.record({
      body: fc.uint8Array({ minLength: 1, maxLength: 300 }),
      key: fc.string({ minLength: 1, unit: 'grapheme' }),
      at: fc.nat(),
    })
    await fc.assert(
      fc.asyncProperty(flipped, async ({ body, key, at }) => {
        const authorization = await sign(body, key)
        await verify(body, authorization, [key])
        const other = Uint8Array.from(body)
        const index = at % body.length
        other[index] = (other[index] ?? 0) ^ (1 << (at % 8))
        await expect(verify(other, authorization, [key])).rejects.toMatchObject(NO_KEY_FITS)
      }),
    )
  })
})

describe('verify refuses', () => {
  it('a body that was parsed, and says why', async () => {
    const parsed = JSON.parse(BODY) as Uint8Array
    await expect(verify(parsed, AUTHORIZATION, [KEY])).rejects.toThrow(
      /^the body is needed as it was received.*express\.json/,
    )
  })

  it.each([KEY, [''], [undefined]])('%j as keys', async (keys) => {
    await expect(verify(BODY, AUTHORIZATION, keys as string[])).rejects.toThrow(TypeError)
  })
})
