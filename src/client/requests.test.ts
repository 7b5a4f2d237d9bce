import { describe, expect, it } from 'vitest'
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

describe('a page with the status of a success', () => {
  const page = '\n<!DOCTYPE html><title>Maintenance</title>'
  it.each([
    ['PUT', (client: ServiceClient) => client.references.put(LINK)],
    ['DELETE', (client: ServiceClient) => client.references.remove('people', 'hr', 'A')],
    [
      'PUT of a job category',
      (client: ServiceClient) => client.jobCategories.put({ id: '1' }, BODY),
    ],
    ['DELETE of a webhook', (client: ServiceClient) => client.webhooks.remove('w')],
  ])('does not confirm a %s', async (_, request) => {
    const { client } = await openServiceClient((response) => reply(response, 200, page))
    const error = await failureOf(request(client))
    expect(error).toMatchObject({
      failure: 'system',
      id: 'response-not-understood',
      mayHaveHappened: true,
    })
    expect(error.message).toContain('a page, so it is not the service that responded')
  })
})

it('an answer that only accepts a request for later does not confirm it', async () => {
  const { client } = await openServiceClient((response) => reply(response, 202))
  let uncertain = 0
  await client.references.put(LINK, { onUncertain: () => uncertain++ })
  expect(uncertain).toBe(1)
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
