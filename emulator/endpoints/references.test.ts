import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'

let emulator: Emulator
let client: TestClient
beforeEach(async () => {
  const clients = [{ id: 'writer', secret: 'b', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 5, months: 0, clients })
  client = await connect(emulator)
})
afterEach(() => emulator.close())

const at = (...path: string[]) => `/external-references/${path.map(encodeURIComponent).join('/')}`
const put = (collection: string, name: string, value: string, id: unknown) =>
  client.send('PUT', at(collection, name, value), { internalReference: id })
const drop = (collection: string, name: string, value: string) =>
  client.send('DELETE', at(collection, name, value))
const values = (collection: string, name: string) =>
  emulator
    .references(collection)
    .filter(({ referenceName }) => referenceName === name)
    .map((one) => [one.externalReference, one.internalReference])

/** Sends a path as it is: fetch resolves dots, encoded ones too. */
function sendRaw(method: string, path: string, id: string): Promise<number | undefined> {
  const target = `/connector/protimeapi/api/v1${path}`
  const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
  return new Promise((resolve, reject) => {
    request(emulator.url, { method, path: target, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end(JSON.stringify({ internalReference: id }))
  })
}

describe('a reference', () => {
  // spec: External reference management: PUT
  // spec: External references 4
  it('that is put is in every answer immediately', async () => {
    expect(await put('people', 'hr', 'A1', '2')).toMatchObject({ status: 200, body: '' })
    emulator.insert('clockings', { date: '2026-11-01', person: { id: 2 } })
    const wanted = 'externalReferences=(people,hr)'
    const answers = await Promise.all([
      client.get(at('people', 'hr', 'A1')),
      client.get(at('people', 'hr')),
      client.get(`/people/A1?${wanted}`),
      client.walk(`/clockings?filter=date ge '2026-10-20' and person eq 2&${wanted}`),
    ])
    const [single, list, person, clockings] = answers
    const one = { referenceName: 'hr', externalReference: 'A1', internalReference: '2' }
    expect([single.body, list.body.value, person.body.id]).toEqual([one, [one], 2])
    const embedded = clockings.items.map((item) => item.person.externalReferences)
    expect(new Set(embedded.map((references) => references['hr']))).toEqual(new Set(['A1']))
  })

  it('that is put again changes nothing', async () => {
    await put('people', 'hr', 'A1', '2')
    expect([(await put('people', 'hr', 'A1', '2')).status, values('people', 'hr')]).toEqual([
      200,
      [['A1', '2']],
    ])
  })

  // spec: External reference management: DELETE
  it('that is deleted no longer exists, and its value is free', async () => {
    await put('people', 'hr', 'A1', '2')
    const { status, body } = await drop('people', 'hr', 'A1')
    const after = [await client.get(at('people', 'hr', 'A1')), await put('people', 'hr', 'A1', '3')]
    expect([status, body, ...after.map((one) => one.status)]).toEqual([204, '', 404, 200])
  })

  // spec: External references 1
  it.each([
    ['replaces', 200, [['A2', '2']]],
    ['conflict', 400, [['A1', '2']]],
  ] as const)('%s the other value of its record', async (secondValue, status, expected) => {
    emulator.options.secondValue = secondValue
    await put('people', 'hr', 'A1', '2')
    expect([(await put('people', 'hr', 'A2', '2')).status, values('people', 'hr')]).toEqual([
      status,
      expected,
    ])
  })

  // spec: Errors: 400 external reference management
  it('is refused for a value of another record, which keeps it', async () => {
    await put('people', 'hr', 'A1', '2')
    const { status, body } = await put('people', 'hr', 'A1', '3')
    expect([status, body.error.reasons, values('people', 'hr')]).toEqual([
      400,
      ['hr A1 is linked to 2: delete that reference first'],
      [['A1', '2']],
    ])
  })

  // spec: Errors: 400 external reference management
  it.each([
    [400, 'clockings', 'hr', '1'],
    [400, 'nothing', 'hr', '1'],
    [400, 'people', '@badge-number', '1'],
    [400, 'people', 'hr', 'one'],
    [400, 'people', 'hr', ''],
    [400, 'people', 'hr', '1.5'],
    [400, 'activity-definitions', 'hr', '1'],
    [200, 'terminals', 'hr', '1'],
    [404, 'terminals', 'hr', '99999'],
    [200, 'circles', 'hr', '99999'],
    [200, 'groups', 'hr', '7'],
  ])('is answered by %i for %s %s and the id %j', async (status, collection, name, id) => {
    expect(await put(collection, name, 'A1', id)).toMatchObject({ status })
  })

  it('of an activity definition takes its GUID', async () => {
    const id = String(emulator.all('activity-definitions')[0]?.['id'])
    expect(await put('activity-definitions', 'hr', 'X', id.toUpperCase())).toMatchObject({
      status: 200,
    })
    expect(values('activity-definitions', 'hr')).toEqual([['X', id]])
  })

  // spec: Errors: 400 external reference management
  it.each(['', '{', '[]', 'null', '{}', '{"internalReference":1}', '{"internalReference":null}'])(
    'is refused for the body %j, in the form of body validation',
    async (body) => {
      const answer = await client.send('PUT', at('people', 'hr', 'A1'), body)
      expect(answer).toMatchObject({
        status: 400,
        body: { validationErrors: [{ message: expect.any(String) }] },
      })
    },
  )

  it.each([
    ['@badge-number', 'people', 400],
    ['hr', 'nothing', 400],
    ['hr', 'people', 404],
  ])('%s of %s that does not exist is deleted with %i', async (name, collection, status) => {
    expect(await drop(collection, name, 'A1')).toMatchObject({ status })
  })

  it('with two errors is refused for its path, not for its body', async () => {
    const answer = await client.send('PUT', at('people', '@x', 'A1'), 'no JSON')
    expect(answer.body.error.reasons).toEqual(['@x is no custom reference: it is predefined'])
  })
})

describe('a value', () => {
  it.each(['a/b', '100%', '%2F', 'a+b c', `"'`, 'é€😀', '?x#y', '(1,2)', '...', 'a\tb'])(
    '%j is decoded once',
    async (value) => {
      await put('people', 'hr', value, '1')
      const listed = values('people', 'hr')
      const found = await client.get(at('people', 'hr', value))
      await drop('people', 'hr', value)
      expect([listed, found.status, values('people', 'hr')]).toEqual([[[value, '1']], 200, []])
    },
  )

  it.each(['/people/hr/', '/people//A1', '//hr/A1', '/people/hr/A1/'])(
    'or another part of %s that is empty is a 404',
    async (path) => {
      const answer = await client.send('PUT', `/external-references${path}`, {})
      expect(answer).toMatchObject({ status: 404 })
    },
  )

  it.each([
    ['%2E%2E', '..', 200],
    ['%2e', '.', 200],
    ['..', '..', 404],
    ['.', '.', 404],
  ])('of dots is taken when they are encoded (%s)', async (sent, value, status) => {
    const answer = await sendRaw('PUT', `/external-references/people/hr/${sent}`, '2')
    const expected = status === 200 ? [[value, '2']] : []
    expect([answer, values('people', 'hr')]).toEqual([status, expected])
  })

  // spec: External references 2
  it('is free under another name and in another collection', async () => {
    const answers = [
      await put('people', 'hr', 'A1', '1'),
      await put('people', 'payroll', 'A1', '2'),
      await put('departments', 'hr', 'A1', '3'),
      await put('people', 'hr', 'a1', '2'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
})

describe('a record that is forbidden', () => {
  it('answers 403 for its references, and for no others', async () => {
    await put('people', 'hr', 'A1', '1')
    emulator.forbid('people', 1)
    const answers = [
      await put('people', 'hr', 'A2', '1'),
      await drop('people', 'hr', 'A1'),
      await client.get('/people/1'),
      await client.get('/people/A1?externalReferences=(people,hr)'),
      await put('people', 'hr', 'B1', '2'),
      await client.get('/people/2'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 200, 200])
    expect(values('people', 'hr')).toEqual([
      ['A1', '1'],
      ['B1', '2'],
    ])
    emulator.clearFaults()
    expect(await put('people', 'hr', 'A2', '1')).toMatchObject({ status: 200 })
  })
})

describe('an option', () => {
  it.each([
    ['accepted', 200],
    ['not-valid', 400],
    ['not-found', 404],
  ] as const)('has an unknown id %s (%i)', async (unknownRecord, status) => {
    emulator.options.unknownRecord = unknownRecord
    expect(await put('people', 'hr', 'A1', '99999')).toMatchObject({ status })
  })

  it.each([
    ['keeps', 400],
    ['frees', 200],
  ] as const)('%s the values of a record that is deleted', async (deletedRecord, status) => {
    emulator.options.deletedRecord = deletedRecord
    await put('people', 'hr', 'A1', '2')
    emulator.remove('people', 2)
    expect(await put('people', 'hr', 'A1', '3')).toMatchObject({ status })
  })

  it.each([
    ['page', { value: [{ referenceName: 'hr' }] }],
    ['array', [{ referenceName: 'hr' }]],
    ['map', { hr: { A1: '2' } }],
  ] as const)('writes a list as a %s', async (referenceList, body) => {
    emulator.options.referenceList = referenceList
    await put('people', 'hr', 'A1', '2')
    expect((await client.get(at('people', 'hr'))).body).toMatchObject(body)
  })

  it('treats values that differ only in case as equal', async () => {
    emulator.options.referenceCase = 'insensitive'
    await put('people', 'hr', 'A1', '2')
    const answers = [
      await put('people', 'hr', 'a1', '3'),
      await client.get(at('people', 'hr', 'a1')),
      await put('people', 'hr', 'a1', '2'),
      await drop('people', 'hr', 'A1'),
    ]
    expect([answers.map(({ status }) => status), values('people', 'hr')]).toEqual([
      [400, 200, 200, 204],
      [],
    ])
  })
})
