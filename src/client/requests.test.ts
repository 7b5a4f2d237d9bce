import { describe, expect, it } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
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
