import { describe, expect, it, vi } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
import type { ServiceClient } from './service-client.ts'
import { all, openServiceClient, PREFIX } from './testing/open-service-client.ts'

describe('a list that never ends', () => {
  it.each([
    ['empty pages', []],
    ['the same page', [{ id: 1, name: { default: 'North' } }]],
  ])('with %s under new links is refused', async (_, value) => {
    const { client, asked } = await openServiceClient((response, _request, index) =>
      reply(response, 200, { value, nextLink: `${PREFIX}/work-locations?page=${index}` }),
    )
    const error = await failureOf(all(client.workLocations.list()))
    expect(error.message).toContain('page after page without anything new')
    expect(asked.length).toBeLessThan(1100)
  })
})

it('the answer with another job category than was asked for is not read', async () => {
  const { client } = await openServiceClient((response) =>
    reply(response, 200, { id: 2, name: { default: 'Two' } }),
  )
  const error = await failureOf(client.jobCategories.get({ id: '1' }))
  expect(error.message).toContain('another job category')
})

it('a job category has the fields that this version does not know, because a PUT without them would empty them', async () => {
  const stored = { id: '1', name: { default: 'Bakers', short: { nl: 'B' } }, colour: { hue: 7 } }
  const { client } = await openServiceClient((response) =>
    reply(response, 200, { ...stored, externalReferences: { erp: 'B1' } }),
  )
  expect(await client.jobCategories.get({ id: '1' })).toEqual({ record: stored })
})

it('an answer in another encoding is not read, because a PUT would write it back damaged', async () => {
  const latin = Buffer.from('{"id":1,"name":{"default":"Caf\xe9"}}', 'latin1')
  const { client } = await openServiceClient((response) => response.end(latin))
  expect(await failureOf(client.jobCategories.get({ id: '1' }))).toMatchObject({
    name: 'ClientError',
    failure: 'system',
    id: 'response-not-understood',
    message: expect.stringMatching(/that is not UTF-8 text \(\S+job-categories\/1\)\. Tell/),
  })
})

describe('a success that says something else', () => {
  const WRITES = [
    (client: ServiceClient) => client.references.put(LINK),
    (client: ServiceClient) => client.references.remove('people', 'hr', 'A'),
    (client: ServiceClient) => client.jobCategories.put({ id: '1' }, BODY),
    (client: ServiceClient) => client.workLocations.create(BODY),
    (client: ServiceClient) => client.webhooks.remove('w'),
  ]
  const DONE = { location: `${PREFIX}/work-locations/31` }

  it.each([
    ['a page, so it is not the service', '\n<!DOCTYPE html><title>Maintenance</title>'],
    ['an error', '{"error":{"code":"Linked","message":"Anna has it"}}'],
    ['an error', '{"Error":"invalid"}'],
    ['an error', '{"error":{"toString":1,"valueOf":1}}'],
    ['an error', '{"validationErrors":[{"field":"name"}]}'],
  ])('confirms no write: %s: %s', async (what, body) => {
    for (const write of WRITES) {
      const { client } = await openServiceClient((response) => reply(response, 201, body, DONE))
      const error = await failureOf(write(client))
      expect(error).toMatchObject({
        failure: 'system',
        id: 'response-not-understood',
        mayHaveHappened: true,
      })
      expect(error.message).toContain(`The service responded with ${what}`)
      expect(error.message).not.toContain('Anna')
    }
  })

  it('takes nothing for missing because of the page of a proxy', async () => {
    const page = '<html><title>404 Web site not found</title></html>'
    const { client } = await openServiceClient((response) => reply(response, 404, page))
    const { references, jobCategories, webhooks } = client
    for (const ask of [
      () => references.get('people', 'hr', 'A'),
      () => references.find('people', '@employee-number', 'A'),
      () => references.remove('people', 'hr', 'A'),
      () => jobCategories.get({ id: '1' }),
      () => webhooks.get('w'),
      () => webhooks.remove('w'),
    ])
      expect(await failureOf(ask())).toMatchObject({
        id: 'response-not-understood',
        message: expect.stringContaining('responded with a page, so it is not the service'),
        mayHaveHappened: false,
      })
  })

  it.each([
    [true, 'a request that is accepted for later', 202, ''],
    [true, 'a text that may be of anybody', 200, 'Down for maintenance'],
    [true, 'an object that breaks off', 200, '{"error":{'],
    [false, 'nothing', 204, ''],
    [false, 'spaces', 200, ' \r\n'],
    [false, 'a record', 200, '{"id":1,"error":null}'],
    [false, 'a list of no errors', 200, '{"error":false,"validationErrors":[]}'],
    [false, 'a text as JSON', 200, '"OK"'],
  ])('is uncertain (%s), so that it is read back: %s', async (expected, _, status, body) => {
    const { client } = await openServiceClient((response) => reply(response, status, body))
    const onUncertain = vi.fn()
    await client.references.put(LINK, { onUncertain })
    await client.references.remove('people', 'hr', 'A', { onUncertain })
    expect(onUncertain).toHaveBeenCalledTimes(expected ? 2 : 0)
  })
})

describe('an id with more digits than a number keeps', () => {
  const ID = '9007199254740993'
  const answer = (text: string) =>
    openServiceClient((response) => reply(response, 200, text, { 'content-type': 'a/json' }))

  it('is that of the job category with a reference', async () => {
    const { client } = await answer(`{"id":${ID},"name":{"default":"One"}}`)
    const found = await client.jobCategories.get({ name: 'erp', value: 'A' })
    expect(found?.record.id).toBe(ID)
  })

  it('is that of the person whom an employee number names', async () => {
    const { client } = await answer(`{"id":${ID}}`)
    expect(await client.references.find('people', '@employee-number', 'A')).toBe(ID)
  })

  it('is that of a listed work location', async () => {
    const { client } = await answer(`{"value":[{"id":${ID},"name":{"default":"North"}}]}`)
    expect(await all(client.workLocations.list())).toMatchObject([{ id: ID }])
  })
})

const LINK = { collection: 'people', name: 'hr', value: 'A', internalReference: '1' }
const BODY = { name: { default: 'One' } }
