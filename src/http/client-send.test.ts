import { describe, expect, it, vi } from 'vitest'
import type { ServiceRequest } from './client.ts'
import { loggedTransport } from './logged-transport.ts'
import { pathOf } from './request-url.ts'
import { reply } from './testing/http-service.ts'
import {
  failureOf,
  type OpenClient,
  openClient,
  PREFIX,
  type Scenario,
} from './testing/open-client.ts'
import { createTransport } from './transport.ts'

/** A client, and a function that sends a request for a path of its service. */
async function open(scenario: Scenario) {
  const opened: OpenClient = await openClient(scenario)
  const send = (request: Partial<ServiceRequest> & Pick<ServiceRequest, 'method'>) =>
    opened.client.send({
      url: `${opened.service.origin}${PREFIX}/references/E-12`,
      shown: 'references/****',
      ...request,
    })
  return { ...opened, send }
}

describe('a request that writes', () => {
  it('carries its body as JSON, and the version it is meant for', async () => {
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

  const broken: Scenario['api'] = (response, _, index) =>
    index === 0 ? response.destroy() : reply(response, 200)
  const failing: Scenario['api'] = (response, _, index) => reply(response, index === 0 ? 500 : 200)
  const refusing: Scenario['api'] = (response, _, index) =>
    index === 0 ? reply(response, 503, '', { 'retry-after': '1' }) : reply(response, 200)

  it.each([
    ['PUT', 'again', 'a connection that broke', broken],
    ['DELETE', 'again', 'a connection that broke', broken],
    ['PUT', 'again', 'a failure of the service', failing],
    ['POST', 'again', 'a refusal for now', refusing],
    ['POST', 'once', 'a connection that broke', broken],
    ['POST', 'once', 'a failure of the service', failing],
  ] as const)('by %s is sent %s after %s', async (method, times, _, api) => {
    const { send, calls } = await open({ api })
    const isSent = await send({ method, body: {} }).then(
      () => true,
      () => false,
    )
    expect([isSent, calls.length]).toEqual(times === 'again' ? [true, 2] : [false, 1])
  })

  it.each([
    [true, 'a connection that broke', broken],
    [true, 'a failure of the service', failing],
    [false, 'a refusal for now', refusing],
    [false, 'a refusal', ((response) => reply(response, 400)) satisfies Scenario['api']],
  ] as const)('may have been done (%s) after %s', async (expected, _, api) => {
    const { send } = await open({ api })
    const onUncertain = vi.fn()
    await send({ method: 'POST', body: {}, onUncertain }).catch(() => {})
    expect(onUncertain.mock.calls.length > 0).toBe(expected)
  })

  it('was not done when no connection could be made', async () => {
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
  it('is not in the message of a refusal, even where the service repeats it', async () => {
    const { send } = await open({
      api: (response) =>
        reply(response, 400, {
          error: { code: 'Taken', message: 'E-12 is linked', reasons: ['see /E-12', 'E-123'] },
        }),
    })
    const failure = await failureOf(send({ method: 'PUT', body: {}, hidden: ['E-12'] }))
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
    const call = { url, shown: 'references/****', method: 'PUT', headers: {}, signal } as const
    for await (const _ of (await transport.send(call)).body);
    await transport.close()
    expect(lines).toEqual([expect.stringMatching(/^PUT references\/\*\*\*\*: 200, \d+ ms$/)])
  })
})

it('the words of a validation error are found, whatever its members are called', async () => {
  const { send } = await open({
    api: (response) =>
      reply(response, 400, {
        validationErrors: [{ field: 'name.default', problem: 'is required' }],
      }),
  })
  const failure = await failureOf(send({ method: 'PUT', body: {} }))
  expect(failure).toMatchObject({ reasons: ['name.default', 'is required'] })
})
