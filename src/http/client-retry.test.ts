import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import type { ServiceRequest } from './client.ts'
import { pathOf } from './endpoints.ts'
import { reply } from './testing/http-service.ts'
import {
  type ClientScenario,
  failureOf,
  type OpenClient,
  openClient,
  PREFIX,
  textOf,
} from './testing/open-client.ts'
import { createTransport, loggedTransport } from './transport.ts'

const PEOPLE = `${PREFIX}/people`

describe('a transient failure', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('such as %d is retried', async (status) => {
    const { client, calls } = await openClient({
      api: (response, _, index) => reply(response, index === 0 ? status : 200, 'done'),
    })
    expect([await textOf(await client.get(PEOPLE)), calls.length]).toEqual(['done', 2])
  })

  it('such as a connection that is reset is retried', async () => {
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

  it('such as a service that stays silent is retried', async () => {
    const { client } = await openClient({
      silenceSeconds: 0.2,
      api: (response, _, index) => index > 0 && reply(response, 200, 'done'),
    })
    expect(await textOf(await client.get(PEOPLE))).toBe('done')
  })

  it('such as a body that stops is retried', async () => {
    const { client } = await openClient({
      silenceSeconds: 0.2,
      api: (response, _, index) =>
        index > 0 ? reply(response, 200, 'done') : response.writeHead(200).write('half'),
    })
    expect(await textOf(await client.get(PEOPLE))).toBe('done')
  })

  it.each([
    ['a failure', (response: ServerResponse) => reply(response, 500)],
    ['a page of a proxy', (response: ServerResponse) => reply(response, 200, '<h1>Soon</h1>')],
  ])('is retried for a token, too: %s', async (_, first) => {
    const { client, tokenCalls } = await openClient({
      api: () => {},
      token: (response, _, index) =>
        index === 0 ? first(response) : reply(response, 200, { access_token: 'second' }),
    })
    expect([(await client.token()).value, tokenCalls.length]).toEqual(['second', 2])
  })

  it('is an error if it persists', async () => {
    const { client, calls } = await openClient({ api: (response) => reply(response, 503) })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure, calls.length]).toEqual([
      expect.objectContaining({ failure: 'transient', status: 503 }),
      3,
    ])
  })

  it('is counted in the traffic', async () => {
    const { client } = await openClient({
      api: (response, _, index) => reply(response, [500, 429, 200][index] ?? 200, 'done'),
    })
    await client.get(PEOPLE)
    const bytes = client.traffic.bytes - 'done'.length
    expect({ ...client.traffic, bytes: bytes > 0 }).toEqual({
      responseMs: 0,
      requests: 4,
      retries: 2,
      throttled: 1,
      bytes: true,
    })
  })
})

describe('a permanent refusal', () => {
  it.each([400, 403, 404, 405, 409, 410, 414, 501])('such as %d is not retried', async (status) => {
    const { client, calls } = await openClient({ api: (response) => reply(response, status) })
    const failure = await failureOf(client.get(PEOPLE))
    expect([failure, calls.length]).toEqual([expect.objectContaining({ status }), 1])
  })

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

/** A client, and a function that sends a request for a path of its service. */
async function open(scenario: ClientScenario) {
  const opened: OpenClient = await openClient(scenario)
  const send = (request: Partial<ServiceRequest> & Pick<ServiceRequest, 'method'>) =>
    opened.client.send({
      url: `${opened.service.origin}${PREFIX}/references/E-12`,
      loggedUrl: 'references/****',
      ...request,
    })
  return { ...opened, send }
}

describe('a request that writes', () => {
  it('sends its body as JSON, and the version that it applies to', async () => {
    const { send, calls } = await open({ api: (response) => reply(response, 204) })
    const answer = await send({ method: 'PUT', body: { name: 'é' }, ifMatch: '"7"' })
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(calls).toEqual([
      expect.objectContaining({
        method: 'PUT',
        url: `${PREFIX}/references/E-12`,
        body: '{"name":"é"}',
        headers: expect.objectContaining({
          authorization: 'Bearer token-1',
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          'if-match': '"7"',
        }),
      }),
    ])
  })

  it('has no content type without a body', async () => {
    const { send, calls } = await open({ api: (response) => reply(response, 204) })
    await send({ method: 'DELETE' })
    expect(calls[0]?.headers).not.toHaveProperty('content-type')
  })

  it('has a path whose segments of dots arrive as they were sent', async () => {
    const { send, calls, service } = await open({ api: (response) => reply(response, 200) })
    const path = PREFIX + pathOf(['a/b?#%é', '..', '.', "(')"])
    await send({ method: 'GET', url: service.origin + path })
    expect(calls[0]?.url).toBe(`${PREFIX}/a%2Fb%3F%23%25%C3%A9/%2E%2E/%2E/%28%27%29`)
  })

  const broken: ClientScenario['api'] = (response, _, index) =>
    index === 0 ? response.destroy() : reply(response, 200)
  const failing: ClientScenario['api'] = (response, _, index) =>
    reply(response, index === 0 ? 500 : 200)
  const refusing: ClientScenario['api'] = (response, _, index) =>
    index === 0 ? reply(response, 429, '', { 'retry-after': '1' }) : reply(response, 200)
  const maintained: ClientScenario['api'] = (response, _, index) =>
    index === 0 ? reply(response, 503, '', { 'retry-after': '1' }) : reply(response, 200)

  const answering =
    (status: number, headers = {}): ClientScenario['api'] =>
    (response, _, index) =>
      index === 0 ? reply(response, status, '', headers) : reply(response, 200)
  const [unauthorised, forbidden] = [answering(401), answering(403)]
  const moved = answering(307, { location: `${PREFIX}/references/E-12?again=1` })

  it.each([
    ['PUT', 'again', 'a connection that broke', broken],
    ['DELETE', 'again', 'a connection that broke', broken],
    ['PUT', 'again', 'a failure of the service', failing],
    ['POST', 'again', 'a refusal for now', refusing],
    ['POST', 'once', 'a connection that broke', broken],
    ['POST', 'once', 'a failure of the service', failing],
    ['PUT', 'again', 'maintenance that has a Retry-After', maintained],
    ['POST', 'once', 'maintenance that has a Retry-After', maintained],
    ['PUT', 'again', 'a token that is refused', unauthorised],
    ['DELETE', 'again', 'a token that is refused', unauthorised],
    ['POST', 'again', 'a token that is refused', unauthorised],
    ['PUT', 'again', 'a token that covers too little', forbidden],
    ['POST', 'once', 'a token that covers too little', forbidden],
    ['PUT', 'again', 'an answer that sends it elsewhere', moved],
    ['POST', 'once', 'an answer that sends it elsewhere', moved],
  ] as const)('by %s is sent %s after %s', async (method, times, _, api) => {
    const { send, calls } = await open({ api, scopes: ['people.write'] })
    const isSent = await send({ method, body: {} }).then(
      () => true,
      () => false,
    )
    expect([isSent, calls.length]).toEqual(times === 'again' ? [true, 2] : [false, 1])
  })

  it.each([
    [true, 'a connection that broke', broken],
    [true, 'a failure of the service', failing],
    [true, 'maintenance that has a Retry-After', maintained],
    [false, 'a refusal for now', refusing],
    [false, 'a refusal', answering(400)],
    [false, 'a token that is refused', unauthorised],
    [false, 'a token that covers too little', forbidden],
    [true, 'an answer that sends it elsewhere', moved],
    [true, 'an answer that it is elsewhere', answering(303, { location: `${PREFIX}/references` })],
    [true, 'a conflict, which may be one with itself', answering(409)],
    [true, 'a status that is not documented', answering(418)],
    [true, 'a failure that says that it offers no such thing', answering(501)],
  ] as const)('may have been done (%s) after %s', async (expected, _, api) => {
    const { send } = await open({ api })
    const onUncertain = vi.fn()
    await send({ method: 'POST', body: {}, onUncertain }).catch(() => {})
    expect(onUncertain.mock.calls.length > 0).toBe(expected)
  })

  it('was not carried out if no connection could be made', async () => {
    const { send, service } = await open({ api: () => {}, attempts: 2 })
    const onUncertain = vi.fn()
    const url = 'http://127.0.0.1:9/never'
    const failure = await failureOf(send({ method: 'POST', body: {}, url, onUncertain }))
    expect([failure.name, onUncertain.mock.calls, service.requests.length]).toEqual([
      'NotConnected',
      [],
      1,
    ])
  })
})

describe('the personal part of a request', () => {
  it('is not in the message of a refusal, even if the service repeats it', async () => {
    const { send } = await open({
      api: (response) =>
        reply(response, 400, {
          error: { code: 'Taken', message: 'E-12 is linked', reasons: ['see /e-12', 'E-123'] },
        }),
    })
    const failure = await failureOf(send({ method: 'PUT', body: {}, redactedValues: ['E-12'] }))
    expect(failure).toMatchObject({
      message:
        'The service does not accept the request (400 for references/****): Taken; **** is linked; see /****; E-123.',
      code: 'Taken',
      reasons: ['**** is linked', 'see /****', 'E-123'],
    })
  })

  it('is not in the log', async () => {
    const { service } = await open({ api: (response) => reply(response, 200) })
    const lines: string[] = []
    const transport = loggedTransport(createTransport(5), (line) => lines.push(line))
    const signal = new AbortController().signal
    const url = `${service.origin}${PREFIX}/references/E-12`
    const call = { url, loggedUrl: 'references/****', method: 'PUT', headers: {}, signal } as const
    for await (const _ of (await transport.send(call)).body);
    await transport.close()
    expect(lines).toEqual([expect.stringMatching(/^PUT references\/\*\*\*\*: 200, \d+ ms$/)])
  })
})

it('the texts of a validation error are found, whatever its members are called', async () => {
  const { send } = await open({
    api: (response) =>
      reply(response, 400, {
        validationErrors: [{ field: 'name.default', problem: 'is required' }],
      }),
  })
  const failure = await failureOf(send({ method: 'PUT', body: {} }))
  expect(failure).toMatchObject({ reasons: ['name.default', 'is required'] })
})
