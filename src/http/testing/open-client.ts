import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { createMask, type Mask } from '../../ground/mask.ts'
import { type Client, createClient } from '../client.ts'
import { createServerClock, type ServerClock } from '../clock.ts'
import { createEndpoints, LINK_TOKENS } from '../endpoints.ts'
import { createRateLimiter } from '../rate-limiter.ts'
import { createTransport } from '../transport.ts'
import { type HttpService, type ReceivedRequest, reply, startHttpService } from './http-service.ts'
import { shortRetryPolicy } from './virtual-time.ts'

export const SECRET = 's3cret/with+signs'
export const PREFIX = '/connector/svcapi/api/v1'

/** A tenant's host and token endpoint in one server, and a client for it. */
export interface OpenClient {
  readonly client: Client
  readonly service: HttpService
  readonly clock: ServerClock
  readonly mask: Mask
  /** The requests other than those for tokens. */
  readonly calls: readonly ReceivedRequest[]
  readonly tokenCalls: readonly ReceivedRequest[]
  readonly stop: AbortController
}

export interface ClientScenario {
  /** Answers a request to the API; `index` counts these requests from 0. */
  readonly api: (response: ServerResponse, request: ReceivedRequest, index: number) => void
  /** Answers a request for a token; by default each one gets `token-<count>` for half an hour. */
  readonly token?: (response: ServerResponse, request: ReceivedRequest, index: number) => void
  readonly scopes?: readonly string[]
  readonly silenceSeconds?: number
  readonly attempts?: number
}

export async function openClient(scenario: ClientScenario): Promise<OpenClient> {
  const calls: ReceivedRequest[] = []
  const tokenCalls: ReceivedRequest[] = []
  const token = scenario.token ?? grant
  const service = await startHttpService((request, response) => {
    if (request.url === '/tenants/demo/connect/token') {
      token(response, request, tokenCalls.push(request) - 1)
    } else scenario.api(response, request, calls.push(request) - 1)
  })
  const transport = createTransport(scenario.silenceSeconds ?? 5)
  onTestFinished(() => transport.close())
  const retryPolicy = shortRetryPolicy(scenario.attempts)
  const [clock, mask, stop] = [createServerClock(), createMask(LINK_TOKENS), new AbortController()]
  mask.add(SECRET)
  const client = createClient({
    endpoints: createEndpoints({
      baseUrl: service.origin,
      authUrl: `${service.origin}/tenants/demo`,
      apiName: 'svcapi',
      company: 'Acme NV',
      version: '1.2.3',
    }),
    clientId: 'id',
    clientSecret: SECRET,
    scopes: scenario.scopes,
    transport,
    limiter: createRateLimiter(undefined, retryPolicy.time),
    clock,
    mask,
    signal: stop.signal,
    retryPolicy,
  })
  return { client, service, clock, mask, calls, tokenCalls, stop }
}

function grant(response: ServerResponse, _request: ReceivedRequest, index: number): void {
  reply(response, 200, {
    access_token: `token-${index + 1}`,
    expires_in: 1800,
    token_type: 'Bearer',
    scope: 'connector-svcapi-people.read',
  })
}

/** The text of a body, complete or in parts. */
export async function textOf(body: Awaited<ReturnType<Client['get']>>): Promise<string> {
  if ('whole' in body) return Buffer.concat(body.whole).toString('utf8')
  const parts: Buffer[] = []
  for await (const part of body.parts) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

/** The error with which a promise rejects; throws if it resolves. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof Error) return outcome
  throw new Error('it did not fail')
}

/** The endpoints of the tenant acme. */
export const acmeEndpoints = createEndpoints({
  baseUrl: 'https://acme.protime.test',
  authUrl: 'https://authentication.protime.test/tenants/acme',
  apiName: 'svcapi',
  company: undefined,
  version: '1.0.0',
})
