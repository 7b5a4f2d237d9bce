import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { sign, VerificationError, verify } from './delivery.ts'
import { createNewest, parseEvent, type WebhookEvent, type WebhookEventOf } from './event.ts'

const event = (body: string) => parseEvent('clockings', Buffer.from(body))

describe('the event of a delivery', () => {
  // spec: Events 1
  // spec: Events 7
  it('is read from the record', () => {
    const body = '{"changeVersion":"00A","id":4712,"hours":7.10}'
    const { body: bytes, ...rest } = event(body)
    expect(new TextDecoder().decode(bytes)).toBe(body)
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

  it('is refused if the body is not JSON, of which nothing is quoted', () => {
    expect(() => event('{"secret"')).toThrow(/^the body of the delivery is not JSON$/)
  })
})

describe('the type of an event', () => {
  it('is that of the records of its collection, according to the schemas', () => {
    expectTypeOf<WebhookEventOf<'clockings'>['data']>().not.toEqualTypeOf<unknown>()
    type Clocking = NonNullable<WebhookEventOf<'clockings'>['data']>
    expectTypeOf<Clocking['id']>().toEqualTypeOf<number>()
    expectTypeOf<Clocking['date']>().toEqualTypeOf<string | null | undefined>()
    // @ts-expect-error there is no such member
    type _None = Clocking['dateOfBirth']
  })

  it('may be narrowed to one collection by its name', () => {
    const namesOf = (event: WebhookEvent) =>
      event.collection === 'people' ? event.data?.lastName : undefined
    expectTypeOf(namesOf).returns.toEqualTypeOf<string | null | undefined>()
    expect(namesOf(parseEvent('people', Buffer.from('{"id":1,"lastName":"Peeters"}')))).toBe(
      'Peeters',
    )
  })

  it('has the levels of an assignment as an array, or as the single object that the service may send', () => {
    type Levels = NonNullable<WebhookEventOf<'assignments'>['data']>['activityLevels']
    type Level = Exclude<Extract<Levels, readonly unknown[]>[number], null>
    expectTypeOf<Level>().toExtend<Levels>()
    expectTypeOf<NonNullable<Level>['level']>().toEqualTypeOf<number | null | undefined>()
  })

  it('names a collection that has webhooks', () => {
    // @ts-expect-error departments have none
    type _None = WebhookEventOf<'departments'>
  })
})

const person = (id: number | string, changeVersion: string) => ({
  collection: 'people',
  id,
  changeVersion,
})

describe('the newest version of a record', () => {
  // spec: Events 3
  // spec: Events 4
  it('is known whatever the order of deliveries, and only once', () => {
    const newest = createNewest()
    const delivered = ['v3', 'v1', 'v2', 'v3', 'v4']
    expect(delivered.filter((version) => newest(person(7, version)))).toEqual(['v3', 'v4'])
  })

  it('is that of one record of one collection, whose id may be a string', () => {
    const newest = createNewest()
    expect(newest(person(7, 'v2'))).toBe(true)
    expect(newest(person('7', 'v1'))).toBe(false)
    expect(newest(person(8, 'v1'))).toBe(true)
    expect(newest({ collection: 'breaks', id: 7, changeVersion: 'v1' })).toBe(true)
  })

  it('is the greatest text by code units, as the service orders them', () => {
    const versions = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 })
    fc.assert(
      fc.property(versions, (delivered) => {
        const newest = createNewest()
        const kept = delivered.filter((version) => newest(person(7, version)))
        expect(kept.at(-1)).toBe(delivered.toSorted().at(-1))
        expect(kept).toEqual([...new Set(kept)].toSorted())
      }),
    )
  })

  it('is a deletion even with the version of the last change, but not after it', () => {
    const newest = createNewest()
    expect(newest(person(7, 'v2'))).toBe(true)
    expect(newest({ ...person(7, 'v1'), deleted: true })).toBe(false)
    expect(newest({ ...person(7, 'v2'), deleted: true })).toBe(true)
    expect(newest({ ...person(7, 'v2'), deleted: true })).toBe(false)
    expect(newest({ ...person(7, 'v2'), deleted: false })).toBe(false)
    expect(newest(person(7, 'v3'))).toBe(true)
  })

  it.each([
    [{ collection: 'people', id: 7, deleted: true }],
    [{ collection: 'people', changeVersion: 'v1' }],
  ])('cannot be told of %j, which is applied', (event) => {
    const newest = createNewest()
    newest(person(7, 'v2'))
    expect([newest(event), newest(event)]).toEqual([true, true])
  })

  it('is first forgotten for the record that was not used for the longest time', () => {
    const newest = createNewest({ capacity: 2 })
    newest(person(1, 'v2'))
    newest(person(2, 'v2'))
    newest(person(1, 'v1'))
    newest(person(3, 'v2'))
    expect(newest(person(1, 'v2'))).toBe(false)
    expect(newest(person(2, 'v1'))).toBe(true)
  })

  it('needs room for one record', () => {
    expect(() => createNewest({ capacity: 0 })).toThrow(RangeError)
  })
})

const KEY = 'k3y-é/+='
const BODY = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const DIGEST = 'teKv+Ux5PJfR6hmRGxCkb92E5gGcHHbs+XWBTuyWhak='
const AUTHORIZATION = `HMAC-SHA256 ${DIGEST}`

const NO_KEY_FITS = { name: 'VerificationError', reason: 'no-key-fits' }

describe('the signature of a delivery', () => {
  // spec: Events 2
  // spec: Authentication 9
  it('equals that of OpenSSL for the same bytes and key', async () => {
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

  it('may have its scheme in lower case', async () => {
    await verify(BODY, AUTHORIZATION.replace('HMAC-SHA256', 'hmac-sha256'), [KEY])
  })

  it('can be created for tests with the same key', async () => {
    expect(await sign(BODY, KEY)).toBe(AUTHORIZATION)
    expect(await sign(Buffer.from(BODY), KEY)).toBe(AUTHORIZATION)
  })

  it('may be made with any of the keys, but with no other', async () => {
    await verify(BODY, AUTHORIZATION, ['a', KEY, 'b'])
    await expect(verify(BODY, AUTHORIZATION, ['a', 'b'])).rejects.toMatchObject(NO_KEY_FITS)
    await expect(verify(BODY, AUTHORIZATION, [])).rejects.toMatchObject(NO_KEY_FITS)
  })

  it('covers each bit of any bytes, even if they are not text', async () => {
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
  it('a parsed body, and says why', async () => {
    const parsed = JSON.parse(BODY) as Uint8Array
    await expect(verify(parsed, AUTHORIZATION, [KEY])).rejects.toThrow(
      /^the body is needed as it was received.*express\.json/,
    )
  })

  it.each([KEY, [''], [undefined]])('%j as keys', async (keys) => {
    await expect(verify(BODY, AUTHORIZATION, keys as string[])).rejects.toThrow(TypeError)
  })
})
