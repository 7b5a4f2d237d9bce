import { afterEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect, type TestClient } from '../test-client.ts'
import { addressOf, destinationFault, sign } from './delivery.ts'

let emulator: Emulator
let client: TestClient
afterEach(() => emulator.close())

async function begin(options: EmulatorOptions = {}, scopes: 'all' | string[] = 'all') {
  const clients = [{ id: 'hooks', secret: 'secret', scopes }]
  emulator = await startEmulator({ people: 0, months: 0, clients, ...options })
  client = await connect(emulator)
}

const destinationUrl = 'https://hooks.example/people/1'
const wanted = { destinationUrl, collectionName: 'people' }
const create = async (given: object = {}, query = '') => {
  const { status, headers, body } = await client.send('POST', `/webhooks${query}`, {
    ...wanted,
    ...given,
  })
  return { status, location: headers.get('location'), body: body as unknown as Webhook }
}
type Webhook = { readonly id: string } & Readonly<Record<string, unknown>>
const read = async (path: string) => {
  const { status, body } = await client.get(path)
  return { status, body: body as unknown as { value: Webhook[] } & Record<string, string | null> }
}
const idsOf = async (filter: string) =>
  (await read(`/webhooks?filter=${encodeURIComponent(filter)}`)).body.value.map(({ id }) => id)

describe('the creation of a webhook', () => {
  // spec: Endpoints: POST /webhooks
  // spec: Resources: Webhook
  it('returns its address, its validity, and a key that is never shown again', async () => {
    await begin()
    const { status, location, body } = await create({}, '?externalReferences=(people,erp)')
    const { privateKey, ...record } = body
    expect({ status, location, record, key: typeof privateKey }).toEqual({
      status: 201,
      location: `/connector/protimeapi/api/v1/webhooks/${body.id}`,
      record: {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        validUntil: expect.stringMatching(/^2026-12-20T05:00:0\d\+02:00$/),
        status: 'Enabled',
        externalReferences: { people: ['erp'] },
        destinationUrl,
        collectionName: 'people',
      },
      key: 'string',
    })
    expect(await read(`/webhooks/${body.id}`)).toEqual({ status: 200, body: record })
    expect((await read('/webhooks')).body).toEqual({ value: [record] })
  })

  it('has the undocumented parts of its answer in every form', async () => {
    await begin({ createdBody: 'key', location: 'absolute' })
    Object.assign(emulator.options, { webhookKeyName: 'webhookKey', validUntil: 'seven-digits' })
    const validUntil = expect.stringMatching(/^2026-12-20T05:00:0\d\.0{7}\+02:00$/)
    expect(await create()).toEqual({
      ...{ status: 201, location: expect.stringMatching(/^http:.*\/webhooks\/[^/]+$/) },
      body: { validUntil, webhookKey: expect.any(String) },
    })
  })

  // spec: Webhook endpoints: POST
  it.each([
    [{ collectionName: 'departments' }, ''],
    [{ collectionName: 'people ' }, ''],
    [{ collectionName: undefined }, ''],
    [{ destinationUrl: 'http://hooks.example/' }, ''],
    [{ destinationUrl: '/hooks' }, ''],
    [{ destinationUrl: 7 }, ''],
    [{}, '?externalReferences=(departments,erp)'],
    [{ collectionName: 'absence-groups' }, '?externalReferences=(absence-groups,erp)'],
  ])('refuses %j%s', async (given, query) => {
    await begin()
    expect((await create(given, query)).status).toBe(400)
    expect(emulator.webhooks()).toEqual([])
  })

  it('accepts 18 collections, and a second webhook for one', async () => {
    await begin()
    const answers = []
    for (const collectionName of ['assignments', 'paid-presences', 'people', 'people']) {
      answers.push((await create({ collectionName })).status)
    }
    expect(answers).toEqual([201, 201, 201, 201])
  })

  it('is refused beyond the limit of a collection, for which expired ones count', async () => {
    await begin({ webhookLimit: 2 })
    const { id } = (await create()).body
    await create()
    emulator.disableWebhooks({ id })
    emulator.expireWebhooks()
    const statuses = [(await create()).status, (await create({ collectionName: 'breaks' })).status]
    await client.send('DELETE', `/webhooks/${id}`)
    expect([...statuses, (await create()).status]).toEqual([409, 201, 201])
  })

  it('has its key under another name on request', async () => {
    await begin({ webhookKeyName: 'webhookPrivateKey' })
    expect(Object.keys((await create()).body).at(-1)).toBe('webhookPrivateKey')
  })

  it.each([
    [['webhooks.write', 'people.read'], 201],
    [['webhooks.write'], 403],
    [['webhooks.read', 'people.read'], 403],
  ])('needs the scopes of both collections: %j', async (scopes, status) => {
    await begin({}, scopes)
    expect((await create()).status).toBe(status)
  })
})

describe('the list of webhooks', () => {
  // spec: Endpoints: GET /webhooks
  // spec: Conventions: list page
  it('goes from page to page, with the links of the specification', async () => {
    await begin({ dialect: 'specification', pageSize: 2 })
    const made = []
    for (let count = 0; count < 3; count += 1) made.push((await create()).body.id)
    const first = await read('/webhooks')
    const second = await read(String(first.body['NextLink']))
    const ids = [...first.body.value, ...second.body.value].map(({ id }) => id)
    expect([ids, second.body['NextLink']]).toEqual([made.toSorted(), null])
  })

  // spec: Webhook endpoints: GET
  it('is filtered by collection and status', async () => {
    await begin()
    const { id: people } = (await create()).body
    const { id: breaks } = (await create({ collectionName: 'breaks' })).body
    emulator.disableWebhooks({ collection: 'breaks' })
    expect(await idsOf("collection-name in ('people','jobs')")).toEqual([people])
    expect(await idsOf("status eq 'Disabled'")).toEqual([breaks])
    expect(await idsOf("status eq 'Disabled' and collection-name eq 'people'")).toEqual([])
    expect(await idsOf("status eq 'Disabled' or collection-name eq 'people'")).toHaveLength(2)
    expect((await read("/webhooks?filter=key eq 'x'")).status).toBe(400)
  })
})

describe('a webhook', () => {
  // spec: Endpoints: GET /webhooks/{id}
  // spec: Endpoints: DELETE /webhooks/{id}
  // spec: States: DELETE
  it.each([
    ['hidden', [404, []]],
    ['readable', [200, []]],
    ['listed', [200, [true]]],
  ] as const)('that was deleted is %s', async (deletedWebhook, seen) => {
    await begin({ deletedWebhook })
    const { id } = (await create()).body
    const remove = async () => (await client.send('DELETE', `/webhooks/${id}`)).status
    expect([await remove(), await remove()]).toEqual([204, 404])
    const listed = (await read('/webhooks')).body.value.map(({ isDeleted }) => isDeleted)
    expect([(await read(`/webhooks/${id}`)).status, listed]).toEqual(seen)
  })

  it('that was deleted stays as a Disabled one without a mark, and can be deleted again', async () => {
    await begin({ deletedWebhook: 'disabled' })
    const { id } = (await create()).body
    const remove = async () => (await client.send('DELETE', `/webhooks/${id}`)).status
    const statuses = [await remove(), await remove()]
    emulator.insert('people')
    const [listed] = (await read('/webhooks')).body.value
    expect([statuses, listed?.['status'], listed?.['isDeleted'], emulator.deliveries()]).toEqual([
      [204, 204],
      'Disabled',
      undefined,
      [],
    ])
    expect(await idsOf("status eq 'Disabled'")).toEqual([id])
    expect(emulator.webhooks()).toMatchObject([{ isDeleted: true }])
  })

  it('cannot be changed', async () => {
    await begin()
    const { id } = (await create()).body
    const { status, headers } = await client.send('PUT', `/webhooks/${id}`, wanted)
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE'])
  })

  // spec: States: validUntil
  // spec: Events 6
  it.each([
    ['disabled', 'Disabled'],
    ['unchanged', 'Enabled'],
  ] as const)('that has expired has no events and is %s', async (expiredWebhook, status) => {
    await begin({ expiredWebhook, webhookDays: 2 })
    const { id } = (await create()).body
    emulator.advance({ hours: 47 })
    emulator.insert('people')
    emulator.advance({ hours: 2 })
    emulator.insert('people')
    client = await connect(emulator)
    expect((await read(`/webhooks/${id}`)).body['status']).toBe(status)
    expect(emulator.deliveries()).toHaveLength(1)
  })

  // spec: Events 10
  it('gets no events while it is Uninitialized', async () => {
    await begin({ uninitializedMinutes: 10 })
    expect((await create()).body['status']).toBe('Uninitialized')
    emulator.insert('people')
    emulator.advance({ minutes: 11 })
    emulator.insert('people')
    expect([emulator.deliveries().length, emulator.webhooks()]).toMatchObject([
      1,
      [{ status: 'Enabled' }],
    ])
  })
})

it.each([
  'http://127.0.0.1:8080/a?b',
  'http://127.9.9.9/',
  'http://localhost:1/',
  'http://[::1]:1/',
  'https://127.0.0.1/',
])('sends to %s', (destination) => {
  const url = new URL(destination)
  expect([destinationFault(destination), addressOf(destination, undefined)]).toEqual([
    undefined,
    { url, host: url.host },
  ])
})

it.each([
  'https://hooks.example/',
  'https://127.0.0.1.hooks.example/',
  'https://localhost.hooks.example/',
  'https://127.0.0.1@hooks.example/',
  'https://[::ffff:192.0.2.1]/',
])('takes %s, and sends nothing there', (destination) => {
  const reached = [undefined, 'http://192.0.2.1', 'http://127.0.0.1@192.0.2.1', 'ftp://127.0.0.1']
  expect([
    destinationFault(destination),
    reached.map((deliverTo) => addressOf(destination, deliverTo)),
  ]).toEqual([undefined, [undefined, undefined, undefined, undefined]])
})

it.each(['http://hooks.example/', 'ftp://127.0.0.1/', '//127.0.0.1/', 'hooks', ''])(
  'refuses "%s"',
  (destination) => expect(destinationFault(destination)).toMatch(/^is no/),
)

const text = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const key = 'k3y-é/+='

// spec: Authentication 9
// spec: Events 2
it('signs the UTF-8 bytes of the body with those of the key as it was returned', () => {
  expect(sign(text, key)).toEqual({
    body: Buffer.from(text),
    authorization: 'HMAC-SHA256 teKv+Ux5PJfR6hmRGxCkb92E5gGcHHbs+XWBTuyWhak=',
  })
})

it('changes a byte after signing, so that the body is still JSON', () => {
  const { body, authorization } = sign(text, key, 'tamper')
  expect([JSON.parse(body.toString()).changeVersion, authorization]).toEqual([
    '10000A1000005C200020',
    sign(text, key).authorization,
  ])
})

it.each([
  ['wrong-key', /^HMAC-SHA256 (?!teKv)[\w+/]{43}=$/],
  ['other-scheme', /^HMAC-SHA512 [\w+/]{86}==$/],
  ['unsigned', /^undefined$/],
] as const)('signs wrongly by the fault %s', (fault, pattern) => {
  expect(String(sign(text, key, fault).authorization)).toMatch(pattern)
})
