import { describe, expect, it } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
import { all, openServiceClient } from './testing/open-service-client.ts'

const BAKERS = {
  id: '7',
  name: { default: 'Bakers', translations: { nl: 'Bakkers' } },
  externalCode: 'B1',
  changeVersion: '0A',
}
const SENT = { ...BAKERS, id: 7 }
const NONE = { name: 'hr-id', value: 'B/1 é' }
const BY_VALUE = 'job-categories/B%2F1%20%C3%A9?externalReferences=(job-categories,hr-id)'

describe('a job category', () => {
  it.each([
    ['an object', SENT],
    ['an object in value', { value: SENT }],
    ['a list of one', [SENT]],
  ])('is read by its id from %s, with the version that If-Match takes', async (_, body) => {
    const { client, asked } = await openServiceClient((response) =>
      reply(response, 200, body, { etag: '"0A"' }),
    )
    const found = await client.jobCategories.get({ id: '7' })
    expect([found, asked]).toEqual([{ record: BAKERS, etag: '"0A"' }, ['GET /job-categories/7']])
  })

  // spec: Addressing: PUT
  it('is found by the value of a reference, which the query names', async () => {
    const { client, asked } = await openServiceClient((response) => reply(response, 200, SENT))
    expect(await client.jobCategories.get(NONE)).toEqual({ record: BAKERS })
    expect(asked).toEqual([`GET /${BY_VALUE}`])
  })

  it('is undefined when there is none', async () => {
    const { client } = await openServiceClient((response) => reply(response, 404))
    expect(await client.jobCategories.get({ id: '7' })).toBeUndefined()
  })

  // spec: Endpoints: PUT /job-categories/{jobCategoryReference}
  it('is put as a whole, for the version that was read', async () => {
    const { client, asked, bodies, requests } = await openServiceClient((response) =>
      reply(response, 200),
    )
    const body = { name: BAKERS.name, externalCode: 'B2' }
    await client.jobCategories.put(NONE, body, '"0A"')
    await client.jobCategories.put({ id: '7' }, body)
    expect([asked, bodies]).toEqual([
      [`PUT /${BY_VALUE}`, 'PUT /job-categories/7'],
      [body, body],
    ])
    expect(requests.slice(1).map(({ headers }) => headers['if-match'])).toEqual(['"0A"', undefined])
  })

  it.each([{ id: 'B1' }, { id: '' }, { name: '@code', value: 'B1' }])(
    'that %j cannot name is refused before a request',
    async (key) => {
      const { client, requests } = await openServiceClient((response) => reply(response, 200, SENT))
      const failure = await failureOf(client.jobCategories.get(key))
      expect([failure.name, requests]).toEqual(['ClientError', []])
    },
  )

  it.each([
    [404, 'config', /^There is no such record/],
    [409, 'transient', /reports a conflict/],
    [412, 'transient', /was changed in the meantime/],
  ])('whose PUT is answered by %d is an error', async (status, failure, message) => {
    const { client, asked } = await openServiceClient((response) => reply(response, status))
    const error = await failureOf(client.jobCategories.put(NONE, { name: { default: 'x' } }))
    expect(error).toMatchObject({ status, failure, message: expect.stringMatching(message) })
    expect([error.message.includes('B%2F1'), asked.length]).toEqual([false, 1])
  })
})

it.each([
  ['a list', [SENT]],
  ['a page', { value: [SENT] }],
  ['objects by their id', { 7: { ...SENT, id: undefined } }],
  [
    'other capitals',
    { Value: [{ Id: 7, Name: SENT.name, ExternalCode: 'B1', ChangeVersion: '0A' }] },
  ],
])('the list of job categories may be %s', async (_, body) => {
  const { client } = await openServiceClient((response) => reply(response, 200, body))
  expect(await all(client.jobCategories.list())).toEqual([BAKERS])
})

it('a job category may have no more than an id and a name', async () => {
  const { client } = await openServiceClient((response) =>
    reply(response, 200, [{ id: 7, name: { default: 'Bakers' }, externalCode: null }]),
  )
  expect(await all(client.jobCategories.list())).toEqual([{ id: '7', name: { default: 'Bakers' } }])
})
