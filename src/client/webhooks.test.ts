import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
import { all, openServiceClient, PREFIX } from './testing/open-service-client.ts'

const WANTED = { collectionName: 'people', destinationUrl: 'https://acme.test/hook' }
const KEY = 'c2VjcmV0LW9mLXdlYmhvb2s='
const RECORD = { ...WANTED, id: 'w1', status: 'enabled', validUntil: '2026-08-01T02:00:00+02:00' }
const WEBHOOK = {
  ...WANTED,
  id: 'w1',
  status: 'Enabled',
  validUntil: new Date('2026-08-01T00:00:00Z'),
  externalReferences: undefined,
}
const LOCATION = { location: `${PREFIX}/webhooks/w1` }

describe('a webhook', () => {
  it.each([
    ['the whole record', { ...RECORD, privateKey: KEY }, {}],
    ['the key and the date alone', { webhookKey: KEY, validUntil: RECORD.validUntil }, LOCATION],
    ['a secret', { ...RECORD, Secret: KEY }, LOCATION],
    ['a record in an object', { ...RECORD, webhook: { key: KEY } }, LOCATION],
  ])('is created, and its answer may be %s', async (_, body, headers) => {
    const { client, asked, bodies } = await openServiceClient((response) =>
      reply(response, 201, body, headers),
    )
    expect(await client.webhooks.create(WANTED)).toEqual({ ...WEBHOOK, key: KEY })
    expect([asked, bodies]).toEqual([['POST /webhooks'], [WANTED]])
  })

  it.each([
    ['the algorithm', { keyAlgorithm: 'HMAC-SHA256', webhookPrivateKey: KEY }],
    ['the id', { keyId: 'k-1', privateWebhookKey: KEY }],
    ['the type', { keyType: 'shared', signing_key: KEY }],
    ['a public key', { publicKey: 'abc', key: KEY }],
    ['a less telling name', { secret: 'abc', privateKey: KEY }],
    ['what belongs to a public key', { publicKey: { key: 'abc' }, webhook: { secret: KEY } }],
  ])('has the key that its name says, and not %s', async (_, members) => {
    const { client } = await openServiceClient((response) =>
      reply(response, 201, { ...RECORD, ...members }),
    )
    expect((await client.webhooks.create(WANTED)).key).toBe(KEY)
  })

  it.each([
    ['two secrets', { secret: 'a', webhookSecret: 'b' }],
    ['a key and a secret', { key: 'a', secret: 'b' }],
    ['two private keys', { privateKey: 'a', webhook: { privateKey: 'b' } }],
    ['the algorithm of a key alone', { keyAlgorithm: 'HMAC-SHA256' }],
  ])('has no key that is known where there are %s', async (_, members) => {
    const { client } = await openServiceClient((response) =>
      reply(response, 201, { ...RECORD, ...members }),
    )
    expect(await failureOf(client.webhooks.create(WANTED))).toMatchObject({
      mayHaveHappened: true,
      message: expect.stringContaining('without its key'),
    })
  })

  it.each([
    ['has one of another URL', { destinationUrl: 'https://x' }],
    ['has the URL for another collection', { collectionName: 'clockings' }],
  ])('is requested again with a wider token after a 403, if the list %s', async (_, other) => {
    const { client, asked, requests } = await openServiceClient(
      (response, { method }, index) => {
        if (index === 0) reply(response, 403)
        else if (method === 'GET') reply(response, 200, [{ ...RECORD, ...other }])
        else reply(response, 201, { ...RECORD, privateKey: KEY })
      },
      { scopes: ['webhooks.write', 'people.read'] },
    )
    expect((await client.webhooks.create(WANTED)).key).toBe(KEY)
    expect(asked).toEqual(['POST /webhooks', 'GET /webhooks', 'POST /webhooks'])
    const forms = requests.filter(({ url }) => url === '/connect/token').map(({ body }) => body)
    expect(forms.map((form) => new URLSearchParams(form).has('scope'))).toEqual([true, false])
  })

  it.each([
    ['has it', (response: ServerResponse) => reply(response, 200, [RECORD])],
    [
      'has its URL and no collection',
      (response: ServerResponse) =>
        reply(response, 200, [{ ...RECORD, collectionName: undefined }]),
    ],
    ['is refused as well', (response: ServerResponse) => reply(response, 403)],
  ])('is not asked for once more after a 403 when the list %s', async (_, list) => {
    const { client, asked } = await openServiceClient((response, { method }) =>
      method === 'GET' ? list(response) : reply(response, 403),
    )
    expect(await failureOf(client.webhooks.create(WANTED))).toMatchObject({ status: 403 })
    expect(asked.filter((one) => one.startsWith('POST'))).toHaveLength(1)
  })

  it('is created with references, which it keeps', async () => {
    const externalReferences = { people: ['@badge-number'] }
    const { client, asked } = await openServiceClient((response) =>
      reply(response, 201, { ...RECORD, externalReferences, key: KEY }, LOCATION),
    )
    const references = [{ collection: 'people', names: ['@badge-number', 'hr-id'] }]
    expect(await client.webhooks.create({ ...WANTED, references })).toMatchObject({
      externalReferences,
    })
    expect(asked).toEqual([
      'POST /webhooks?externalReferences=(people,%40badge-number)(people,hr-id)',
    ])
  })

  it.each([
    ['key', RECORD, /created the webhook w1 without its key.*id, status, validUntil\.$/],
    ['id', { key: KEY }, /without saying which/],
  ])(
    'that was created without a known %s is an error that shows no value',
    async (_, body, message) => {
      const { client } = await openServiceClient((response) => reply(response, 201, body))
      expect(await failureOf(client.webhooks.create(WANTED))).toMatchObject({
        mayHaveHappened: true,
        message: expect.stringMatching(message),
      })
    },
  )

  it.each([
    [500, {}],
    [503, {}],
    [503, { 'retry-after': '0' }],
    [503, { 'retry-after': '1' }],
    [408, {}],
    [524, {}],
  ])('that may have been created before a %i (%j) is not sent again', async (status, headers) => {
    const { client, asked } = await openServiceClient((response) =>
      reply(response, status, {}, headers),
    )
    const failure = await failureOf(client.webhooks.create(WANTED))
    expect([failure, asked.length]).toEqual([expect.objectContaining({ mayHaveHappened: true }), 1])
  })

  it('that may have been created is not sent again', async () => {
    const { client, asked } = await openServiceClient((response) => response.destroy())
    const failure = await failureOf(client.webhooks.create(WANTED))
    expect([failure, asked.length]).toEqual([expect.objectContaining({ mayHaveHappened: true }), 1])
  })

  it.each([
    ['2026-08-01T00:00:00Z', WEBHOOK.validUntil],
    ['2026-08-01T00:00:00', WEBHOOK.validUntil],
    ['2026-08-01T00:00:00.0000000+00:00', WEBHOOK.validUntil],
    ['some day', undefined],
    [undefined, undefined],
  ])('is valid until %j', async (validUntil, expected) => {
    const { client } = await openServiceClient((response) =>
      reply(response, 200, { ...RECORD, validUntil }),
    )
    expect((await client.webhooks.get('w1'))?.validUntil).toEqual(expected)
  })

  it.each([
    ['Disabled', { status: 'DISABLED' }],
    ['Deleted', { status: 'Enabled', isDeleted: true }],
    ['Paused', { status: 'Paused' }],
    ['Unknown', { status: null }],
  ])('has the status %s when the service says %j', async (expected, status) => {
    const { client } = await openServiceClient((response) =>
      reply(response, 200, { ...RECORD, ...status }),
    )
    expect((await client.webhooks.get('w1'))?.status).toBe(expected)
  })

  it('that does not exist is undefined, and reported as absent', async () => {
    const { client, asked } = await openServiceClient((response) => reply(response, 404))
    expect([await client.webhooks.get('a/b'), await client.webhooks.remove('w1')]).toEqual([
      undefined,
      'absent',
    ])
    expect(asked).toEqual(['GET /webhooks/a%2Fb', 'DELETE /webhooks/w1'])
  })

  it.each([200, 202, 204])('is deleted when the answer is %d', async (status) => {
    const { client } = await openServiceClient((response) => reply(response, status, '{}'))
    expect(await client.webhooks.remove('w1')).toBe('deleted')
  })
})

describe('the list of webhooks', () => {
  it.each([
    ['NextLink', null],
    ['nextLink', undefined],
  ])('is read over all pages (%s, %j at the end)', async (name, end) => {
    const { client } = await openServiceClient((response, _, index) =>
      reply(response, 200, {
        value: [{ ...RECORD, id: `w${index + 1}` }],
        [name]: index === 0 ? `${PREFIX}/webhooks?continuationToken=a b` : end,
      }),
    )
    expect(await all(client.webhooks.list())).toEqual([WEBHOOK, { ...WEBHOOK, id: 'w2' }])
  })

  it('is not readable if a webhook has no status, which would count as one that cannot be used', async () => {
    const { client } = await openServiceClient((response) =>
      reply(response, 200, { value: [{ ...RECORD, status: undefined }] }),
    )
    expect(await failureOf(all(client.webhooks.list()))).toMatchObject({
      id: 'response-not-understood',
    })
  })

  it('is filtered by collections and status', async () => {
    const { client, asked } = await openServiceClient((response) => reply(response, 200, []))
    await all(client.webhooks.list({ collections: ['people', 'breaks'], status: 'Disabled' }))
    await all(client.webhooks.list({ collections: ['people'] }))
    expect(asked.map(decodeURIComponent)).toEqual([
      "GET /webhooks?filter=collection-name in ('people','breaks') and status eq 'Disabled'",
      "GET /webhooks?filter=collection-name in ('people')",
    ])
  })
})

it.each(['webhooks.write', 'webhooks.read'])(
  'the scope %s is named when the service refuses, and not missed before',
  async (scope) => {
    const { client, asked } = await openServiceClient((response) => reply(response, 401), {
      scopes: [scope],
      granted: 'connector-svcapi-people.read',
    })
    const work =
      scope === 'webhooks.read' ? client.webhooks.get('w1') : client.webhooks.remove('w1')
    const failure = await failureOf(work)
    expect([failure, asked.length > 0]).toEqual([
      expect.objectContaining({ missingScope: `connector-svcapi-${scope}` }),
      true,
    ])
  },
)

it('the time is that of the last answer', async () => {
  const { client } = await openServiceClient((response) =>
    reply(response, 200, [], { date: 'Wed, 15 Jul 2037 08:30:00 GMT' }),
  )
  await all(client.webhooks.list())
  expect(client.now().toISOString()).toMatch(/^2037-07-15T08:30:0/)
})
