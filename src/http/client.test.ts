import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { HttpError } from './http-error.ts'
import { reply } from './testing/http-service.ts'
import { failureOf, openClient, PREFIX, SECRET, textOf } from './testing/open-client.ts'

const PEOPLE = `${PREFIX}/people`

describe('a request', () => {
  // spec: Service 7
  // spec: Authentication 3
  it('has the token, the user agent and the accepted types', async () => {
    const { client, calls } = await openClient({ api: (response) => reply(response, 200, '{}') })
    await client.get(`${PEOPLE}?filter=date ge '2026-01-01'`)
    expect(calls).toEqual([
      expect.objectContaining({
        method: 'GET',
        url: `${PEOPLE}?filter=date%20ge%20%272026-01-01%27`,
        headers: expect.objectContaining({
          authorization: 'Bearer token-1',
          'user-agent': 'source-protime/1.2.3 (Acme NV)',
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
        }),
      }),
    ])
  })

  // spec: Token endpoint: form
  it('for a token is a form with a user agent and without a token', async () => {
    const { client, tokenCalls } = await openClient({ api: () => {} })
    await client.token()
    expect(tokenCalls).toEqual([
      expect.objectContaining({
        method: 'POST',
        headers: expect.not.objectContaining({ authorization: expect.anything() }),
        body: expect.stringContaining('grant_type=client_credentials'),
      }),
    ])
  })

  // spec: Authentication 4
  it('reuses the token of the previous one', async () => {
    const { client, tokenCalls } = await openClient({
      api: (response) => reply(response, 200, '{}'),
    })
    await Promise.all([client.get(PEOPLE), client.get(PEOPLE)])
    await client.get(PEOPLE)
    expect(tokenCalls).toHaveLength(1)
  })

  // spec: Authentication 2
  it('is never sent to a link that leads elsewhere', async () => {
    const { client, service } = await openClient({ api: () => {} })
    await failureOf(client.get(`https://evil.test${PEOPLE}`))
    expect(service.requests).toEqual([])
  })

  it('discards the body if it only probes', async () => {
    const { client } = await openClient({ api: (response) => reply(response, 200, ' {"value":') })
    expect(await client.probe(PEOPLE)).toBe(true)
  })

  it.each(['<html>', 'OK', '', ' '])(
    'does not accept %j as the API if it only probes',
    async (body) => {
      const { client } = await openClient({ api: (response) => reply(response, 200, body) })
      expect(await client.probe(PEOPLE)).toBe(false)
    },
  )

  it('ends at once when it is aborted', async () => {
    const { client, stop } = await openClient({ api: () => stop.abort(new Error('stopped')) })
    expect((await failureOf(client.get(PEOPLE))).message).toBe('stopped')
  })

  it('sets the clock by the answer with the token', async () => {
    const { client, clock } = await openClient({
      api: () => {},
      token: (response) =>
        reply(response, 200, { access_token: 't' }, { date: 'Wed, 15 Jul 2037 08:30:00 GMT' }),
    })
    await client.token()
    expect(clock.now().toISOString()).toMatch(/^2037-07-15T08:30:0/)
  })
})

describe('a token that the service refuses', () => {
  // spec: Authentication 5
  // spec: Errors: 401
  it('is renewed once', async () => {
    const { client, calls, tokenCalls } = await openClient({
      api: (response, { headers }) =>
        reply(response, headers.authorization === 'Bearer token-1' ? 401 : 200, 'done'),
    })
    await client.get(PEOPLE)
    expect([calls.length, tokenCalls.length]).toEqual([2, 2])
  })

  // spec: Errors: 401
  it('is an error if the new one is refused, too', async () => {
    const { client, tokenCalls } = await openClient({ api: (response) => reply(response, 401) })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure, tokenCalls.length]).toEqual([
      expect.objectContaining({ failure: 'config', status: 401 }),
      2,
    ])
  })

  // spec: Authentication 8
  it('is widened after it was renewed, if it was requested with scopes', async () => {
    const { client, tokenCalls } = await openClient({
      scopes: ['people.read'],
      api: (response, { headers }) =>
        reply(response, headers.authorization === 'Bearer token-3' ? 200 : 401, 'done'),
    })
    await client.get(PEOPLE)
    expect(tokenCalls.map(({ body }) => body.includes('scope='))).toEqual([true, true, false])
  })

  // spec: Authentication 8
  // spec: Errors: 403
  it('is widened at once if it lacks a permission', async () => {
    const { client, tokenCalls } = await openClient({
      scopes: ['people.read'],
      api: (response, { headers }) =>
        reply(response, headers.authorization === 'Bearer token-2' ? 200 : 403, 'done'),
    })
    await client.get(PEOPLE)
    expect(tokenCalls.map(({ body }) => body.includes('scope='))).toEqual([true, false])
  })

  it('is not requested again for a missing permission if it has all scopes', async () => {
    const { client, tokenCalls } = await openClient({ api: (response) => reply(response, 403) })
    await failureOf(client.get(PEOPLE))
    expect(tokenCalls).toHaveLength(1)
  })

  it('and cannot be renewed is not reported as a refusal of the link', async () => {
    const { client } = await openClient({
      api: (response) => reply(response, 401),
      token: (response, _, index) =>
        index === 0
          ? reply(response, 200, { access_token: 'first' })
          : reply(response, 400, { error: 'invalid_client' }),
    })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure instanceof ConnectorError, failure instanceof HttpError]).toEqual([true, false])
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('inside the API is followed (%d)', async (status) => {
    const { client, calls } = await openClient({
      api: (response, _, index) =>
        index === 0
          ? reply(response, status, '', { location: `${PREFIX}/people/` })
          : reply(response, 200, 'done'),
    })
    const text = await textOf(await client.get(PEOPLE))
    expect([text, calls[1]?.url, calls[1]?.headers.authorization]).toEqual([
      'done',
      `${PREFIX}/people/`,
      'Bearer token-1',
    ])
  })

  it('is relative to the URL that answers with it', async () => {
    const { client, calls } = await openClient({
      api: (response, { url }) =>
        url.endsWith('?page=2')
          ? reply(response, 200, 'done')
          : reply(response, 302, '', { location: 'people?page=2' }),
    })
    await client.get(`${PEOPLE}?page=1`)
    expect(calls.map(({ url }) => url)).toEqual([`${PEOPLE}?page=1`, `${PEOPLE}?page=2`])
  })

  it.each([`https://evil.test${PEOPLE}`, `//evil.test${PEOPLE}`, '/login'])(
    'elsewhere (%s) is refused',
    async (location) => {
      const { client, calls } = await openClient({
        api: (response) => reply(response, 302, '', { location }),
      })
      const failure = await failureOf(client.get(PEOPLE))
      expect([failure.message, calls.length]).toEqual([
        expect.stringMatching(/is not followed, because the access token must not go there/),
        1,
      ])
    },
  )

  it('to another collection is refused, because its records would be treated as those of this one', async () => {
    const { client, calls } = await openClient({
      api: (response) => reply(response, 302, '', { location: `${PREFIX}/departments` }),
    })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure.message, calls.length]).toEqual([
      expect.stringMatching(/leads from people to another collection/),
      1,
    ])
  })

  it('in circles ends', async () => {
    const { client, calls } = await openClient({
      api: (response) => reply(response, 302, '', { location: PEOPLE }),
    })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure, calls.length]).toEqual([
      expect.objectContaining({ status: 302, failure: 'system' }),
      4,
    ])
  })

  it('of the token endpoint is not followed with the secret', async () => {
    const { client, service } = await openClient({
      api: () => {},
      token: (response) => reply(response, 307, '', { location: '/elsewhere' }),
    })
    await failureOf(client.token())
    expect(service.requests).toHaveLength(1)
  })
})

describe('a body', () => {
  const MIB = 1024 * 1024

  it('of a few MiB arrives complete', async () => {
    const { client } = await openClient({
      api: (response) => reply(response, 200, 'x'.repeat(3 * MIB)),
    })
    const body = await client.get(PEOPLE)
    expect(body).toHaveProperty('whole')
    expect(await textOf(body)).toHaveLength(3 * MIB)
  })

  // spec: Limits: page size
  it('that is larger arrives completely, in parts', async () => {
    const { client } = await openClient({
      api: (response) => reply(response, 200, '0123456789'.repeat(MIB)),
    })
    const body = await client.get(PEOPLE)
    expect(['parts' in body, await textOf(body)]).toEqual([true, '0123456789'.repeat(MIB)])
  })

  it('that breaks after its first part is a transient failure', async () => {
    const { client, service } = await openClient({
      api: (response) => response.writeHead(200).write('x'.repeat(6 * MIB)),
    })
    const body = await client.get(PEOPLE)
    service.breakOff()
    expect(await failureOf(textOf(body))).toMatchObject({ failure: 'transient' })
  })

  it('that is abandoned in the middle releases its connection', async () => {
    const closed = { isIt: false }
    const { client } = await openClient({
      api: (response) => {
        response.on('close', () => {
          closed.isIt = true
        })
        response.writeHead(200).write('x'.repeat(6 * MIB))
      },
    })
    const body = await client.get(PEOPLE)
    if (!('parts' in body)) throw new Error('it arrived whole')
    for await (const _ of body.parts) break
    await expect.poll(() => closed.isIt).toBe(true)
  })
})

describe('a secret that the service sends back', () => {
  it.each([
    ['the token', 'token-1'],
    ['the secret', SECRET],
    ['the secret as it stood in the form', encodeURIComponent(SECRET)],
  ])('is not in the message of a refusal (%s)', async (_, secret) => {
    const { client } = await openClient({
      api: (response) => reply(response, 400, { error: { message: `no: ${secret}` } }),
    })
    expect((await failureOf(client.get(PEOPLE))).message).toMatch(/: no: \*\*\*\*\.$/)
  })

  it('is not in the message of a token request that fails, and neither is any other text', async () => {
    const { client } = await openClient({
      api: () => {},
      token: (response) =>
        reply(response, 400, {
          error: 'invalid_request',
          error_description: [...SECRET].join(' '),
          message: `cannot take ${[...SECRET].reverse().join('')}`,
        }),
    })
    const { message } = await failureOf(client.token())
    expect(message).toMatch(/\/connect\/token\): invalid_request\./)
  })
})
