import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEvent, verifyDelivery } from './delivery.ts'
import { sign } from './testing/sign.ts'

const event = (body: string) => parseEvent('clockings', Buffer.from(body))

describe('the event of a delivery', () => {
  // spec: Events 1
  // spec: Events 7
  it('is read from the record', () => {
    const body = '{"changeVersion":"00A","id":4712,"hours":7.10}'
    const { body: bytes, ...rest } = event(body)
    expect(bytes.toString()).toBe(body)
    expect(rest).toEqual({
      collection: 'clockings',
      id: 4712,
      changeVersion: '00A',
      deleted: undefined,
      data: { changeVersion: '00A', id: 4712, hours: 7.1 },
    })
  })

  // spec: Events 8
  it('is read from the form of a delta, in any order of its members', () => {
    expect(event('{"data":{"id":7,"changeVersion":"00B"},"changeType":"Delete"}')).toMatchObject({
      id: 7,
      changeVersion: '00B',
      deleted: true,
      data: { id: 7 },
    })
  })

  it('is read from a record that has a changeType of its own', () => {
    const { id, deleted } = event('{"id":7,"changeVersion":"00B","changeType":"Delete"}')
    expect([id, deleted]).toEqual([7, undefined])
  })

  it.each([
    ['{"changeType":"InsertOrUpdate","data":{"id":1}}', false],
    ['{"changeType":"InsertOrUpdate","data":{"id":1,"status":"Deleted"}}', true],
    ['{"changeType":"Merge","data":{"id":1}}', undefined],
    ['{"changeType":"Delete"}', true],
    ['{"id":1,"status":"Deleted"}', true],
    ['{"id":1,"status":"Approved"}', undefined],
  ])('%s tells of a deletion: %s', (body, deleted) => {
    expect(event(body).deleted).toBe(deleted)
  })

  it.each([
    ['{"id":9007199254740993}', '9007199254740993'],
    [
      '{"f":0.12345678901234567,"t":"\\"9007199254740993","id":-123456789012345678901}',
      '-123456789012345678901',
    ],
    ['{"id":9007199254740991}', 9007199254740991],
    ['{"id":"5f0c-guid"}', '5f0c-guid'],
  ])('%s keeps all digits of its id', (body, id) => {
    expect(event(body).id).toBe(id)
  })

  it.each(['{}', '[]', 'null', '{"id":null,"changeVersion":3}'])(
    '%s has neither id nor version',
    (body) => {
      const { id, changeVersion } = event(body)
      expect([id, changeVersion]).toEqual([undefined, undefined])
    },
  )

  it('may begin with a byte order mark', () => {
    expect(event('\uFEFF{"id":1}').id).toBe(1)
  })

  it('is none of what is not JSON, of which nothing is repeated', () => {
    expect(() => event('{"secret"')).toThrow(/^the body of the delivery is not JSON$/)
  })
})

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
