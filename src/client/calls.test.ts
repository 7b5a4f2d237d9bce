import { expect, expectTypeOf, it } from 'vitest'
import { reply } from '../http/testing/http-service.ts'
import { failureOf } from '../http/testing/open-client.ts'
import type { ConnectOptions, Scope } from './create-service-client.ts'
import { all, openServiceClient } from './testing/open-service-client.ts'

it('a call is ended by its own signal, without ending others', async () => {
  const { client, asked } = await openServiceClient((response, request) => {
    if (request.url.includes('work-locations')) reply(response, 200, [])
  })
  const stop = new AbortController()
  const { signal } = stop
  const calls = [
    client.webhooks.get('w1', { signal }),
    client.webhooks.remove('w1', { signal }),
    all(client.webhooks.list({}, { signal })),
    all(client.references.list('people', 'erp', { signal })),
    client.jobCategories.put({ id: '1' }, { name: { default: 'Baker' } }, undefined, { signal }),
  ].map(failureOf)
  await expect.poll(() => asked.length).toBe(5)
  stop.abort(new Error('enough'))
  for (const failure of await Promise.all(calls))
    expect(failure).toMatchObject({ message: 'enough' })
  expect(await all(client.workLocations.list())).toEqual([])
})

it('a call with an aborted signal makes no request', async () => {
  const { client, requests } = await openServiceClient((response) => reply(response, 200, []))
  const signal = AbortSignal.abort(new Error('too late'))
  const failure = await failureOf(client.webhooks.get('w1', { signal }))
  expect([failure, requests.length]).toEqual([expect.objectContaining({ message: 'too late' }), 0])
})

it.each([
  [429, '7200', 7200],
  [503, '90000', 90_000],
  [404, undefined, undefined],
])(
  'a failure with status %i says for how long the service asks to be left alone (%s)',
  async (status, header, seconds) => {
    const { client } = await openServiceClient((response) =>
      reply(response, status, {}, header === undefined ? {} : { 'retry-after': header }),
    )
    const put = client.jobCategories.put({ id: '1' }, { name: { default: 'Baker' } })
    expect(await failureOf(put)).toMatchObject({ retryAfter: seconds })
  },
)

it('a client closes itself at the end of its block', async () => {
  const { client } = await openServiceClient((response) => reply(response, 200, []))
  await all(client.workLocations.list())
  await client[Symbol.asyncDispose]()
  await expect(all(client.workLocations.list())).rejects.toThrow()
})

it('scopes are those of the service, in its spelling', () => {
  expectTypeOf<'job-categories.write'>().toExtend<Scope>()
  expectTypeOf<'access-clockings.read'>().toExtend<Scope>()
  expectTypeOf<ConnectOptions['scopes'][number]>().toEqualTypeOf<Scope>()
  // @ts-expect-error a collection that is misspelled
  const misspelled: Scope = 'job-categorys.write'
  expect(misspelled).toBeDefined()
})

it('a read has no effect, whatever became of it', async () => {
  const { client } = await openServiceClient((response, _, index) =>
    reply(response, index === 0 ? 504 : 403, {}, { 'retry-after': '0' }),
  )
  const failure = await failureOf(client.references.get('people', 'hr-id', 'E-12'))
  expect(failure).toMatchObject({ status: 403, mayHaveHappened: false })
})

it.each([{ id: 31 }, { id: 31, name: null }, { id: 31, title: 'Ghent' }])(
  'the list of work locations is not readable if one has no name: it may be the one that is looked for (%j)',
  async (record) => {
    const { client } = await openServiceClient((response) => reply(response, 200, [record]))
    expect(await failureOf(all(client.workLocations.list()))).toMatchObject({
      id: 'response-not-understood',
    })
  },
)
