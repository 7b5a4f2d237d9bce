import { describe, expect, it } from 'vitest'
import { reply } from './testing/http-service.ts'
import { failureOf, openClient, PREFIX, textOf } from './testing/open-client.ts'

const PEOPLE = `${PREFIX}/people`

describe('a failure that may pass', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('such as %d is tried again', async (status) => {
    const { client, calls } = await openClient({
      api: (response, _, index) => reply(response, index === 0 ? status : 200, 'done'),
    })
    expect([await textOf(await client.get(PEOPLE)), calls.length]).toEqual(['done', 2])
  })

  it('such as a connection that is reset is tried again', async () => {
    const { client } = await openClient({
      api: (response, _, index) =>
        index === 0 ? response.socket?.resetAndDestroy() : reply(response, 200, 'done'),
    })
    expect(await textOf(await client.get(PEOPLE))).toBe('done')
  })

  it.each([
    ['of a known length', { 'content-length': '1000' }],
    ['sent in chunks', {}],
    ['sent in chunks over a connection that is not kept', { connection: 'close' }],
  ])('such as a body %s that breaks off is tried again', async (_, headers) => {
    const { client } = await openClient({
      api: (response, _request, index) => {
        if (index > 0) return reply(response, 200, 'done')
        response.writeHead(200, headers).write('half')
        setTimeout(() => response.destroy(), 20)
      },
    })
    expect(await textOf(await client.get(PEOPLE))).toBe('done')
  })

  it('such as a service that stays silent is tried again', async () => {
    const { client } = await openClient({
      silenceSeconds: 0.2,
      api: (response, _, index) => index > 0 && reply(response, 200, 'done'),
    })
    expect(await textOf(await client.get(PEOPLE))).toBe('done')
  })

  it('such as a body that stops coming is tried again', async () => {
    const { client } = await openClient({
      silenceSeconds: 0.2,
      api: (response, _, index) =>
        index > 0 ? reply(response, 200, 'done') : response.writeHead(200).write('half'),
    })
    expect(await textOf(await client.get(PEOPLE))).toBe('done')
  })

  it('is tried again for a token too', async () => {
    const { client, tokenCalls } = await openClient({
      api: () => {},
      token: (response, _, index) =>
        index === 0 ? reply(response, 500) : reply(response, 200, { access_token: 'second' }),
    })
    expect([(await client.token()).value, tokenCalls.length]).toEqual(['second', 2])
  })

  it('is an error when it does not pass', async () => {
    const { client, calls } = await openClient({ api: (response) => reply(response, 503) })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure, calls.length]).toEqual([
      expect.objectContaining({ failure: 'transient', status: 503 }),
      3,
    ])
  })

  it('counts into the traffic', async () => {
    const { client } = await openClient({
      api: (response, _, index) => reply(response, [500, 429, 200][index] ?? 200, 'done'),
    })
    await client.get(PEOPLE)
    const bytes = client.traffic.bytes - 'done'.length
    expect({ ...client.traffic, bytes: bytes > 0 }).toEqual({
      answerMs: 0,
      requests: 4,
      retries: 2,
      refusals: 1,
      bytes: true,
    })
  })
})

describe('a refusal that does not pass', () => {
  it.each([400, 403, 404, 405, 409, 410, 414, 501])(
    'such as %d is not tried again',
    async (status) => {
      const { client, calls } = await openClient({ api: (response) => reply(response, status) })
      const failure = await failureOf(client.get(PEOPLE))
      expect([failure, calls.length]).toEqual([expect.objectContaining({ status }), 1])
    },
  )

  it.each([
    ['a connection that broke', (index: number) => (index === 0 ? undefined : 410)],
    ['a gateway that lost the answer', (index: number) => (index === 0 ? 504 : 410)],
    ['one that broke, and a new token', (index: number) => [undefined, 401, 410][index]],
  ])('after %s is marked, because the first request may have arrived', async (_, statusOf) => {
    const { client } = await openClient({
      api: (response, _request, index) => {
        const status = statusOf(index)
        if (status === undefined) response.destroy()
        else reply(response, status)
      },
    })
    expect(await failureOf(client.get(PEOPLE))).toMatchObject({ status: 410, isRepeat: true })
  })

  it.each([429, 503])('after a %d is not marked: the first was not taken', async (status) => {
    const { client } = await openClient({
      api: (response, _, index) => reply(response, index === 0 ? status : 410),
    })
    expect(await failureOf(client.get(PEOPLE))).toMatchObject({ status: 410, isRepeat: false })
  })
})
