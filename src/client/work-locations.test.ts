import { describe, expect, it } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
import { all, openServiceClient, PREFIX } from './testing/open-service-client.ts'

const BODY = { name: { default: 'Ghent' }, description: 'at the docks' }

describe('a work location', () => {
  // spec: Endpoints: POST /work-locations
  // spec: Work locations: POST
  it.each([
    ['a relative Location', '', { location: `${PREFIX}/work-locations/31` }, '31'],
    ['an absolute one', '', { location: `https://x.test${PREFIX}/work-locations/31/` }, '31'],
    ['the body', '{"id":31}', {}, '31'],
    ['nothing', '', {}, undefined],
  ])('is created, and its id is told by %s', async (_, body, headers, id) => {
    const { client, asked, bodies } = await openServiceClient((response) =>
      reply(response, 201, body, headers),
    )
    expect(await client.workLocations.create(BODY)).toEqual({ id })
    expect([asked, bodies]).toEqual([['POST /work-locations'], [BODY]])
  })

  it('that may have been created is not sent again, and the error says so', async () => {
    const { client, asked } = await openServiceClient((response) => response.destroy())
    const failure = await failureOf(client.workLocations.create(BODY))
    expect([failure, asked.length]).toEqual([
      expect.objectContaining({ name: 'ClientError', mayHaveHappened: true, status: undefined }),
      1,
    ])
  })

  it('that was refused for now is sent again', async () => {
    const { client, asked } = await openServiceClient((response, _, index) =>
      index === 0
        ? reply(response, 429, '', { 'retry-after': '1' })
        : reply(response, 201, '', { location: `${PREFIX}/work-locations/31` }),
    )
    await client.workLocations.create(BODY)
    expect(asked).toHaveLength(2)
  })
})

it('the list of work locations is read over all pages', async () => {
  const record = { id: 31, name: { default: 'Ghent', translations: { fr: 'Gand' } } }
  const { client } = await openServiceClient((response, { url }) =>
    url.endsWith('=2')
      ? reply(response, 200, { value: [{ ...record, id: 32, description: 'x' }], nextLink: null })
      : reply(response, 200, { value: [record], nextLink: `${url}?continuationToken=2` }),
  )
  expect(await all(client.workLocations.list())).toEqual([
    { ...record, id: '31' },
    { ...record, id: '32', description: 'x' },
  ])
})
