import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { parseConfig } from '../../config/config.ts'
import { createMask } from '../../ground/mask.ts'
import { type ReceivedRequest, reply, startHttpService } from '../../http/testing/http-service.ts'
import { shortRetryPolicy } from '../../http/testing/virtual-time.ts'
import { createServiceClient } from '../create-service-client.ts'
import type { ServiceClient } from '../service-client.ts'

/** The path of the API of the tenant. */
export const PREFIX = '/connector/svcapi/api/v1'

/** Answers a request for a resource; `index` counts them from 0. */
export type Resource = (response: ServerResponse, request: ReceivedRequest, index: number) => void

/** A client, and what its server was asked for. */
export interface OpenServiceClient {
  readonly client: ServiceClient
  /** Method and path of the requests for resources, below the prefix. */
  readonly asked: string[]
  readonly bodies: unknown[]
  readonly requests: readonly ReceivedRequest[]
}

/** A typed client of a server of the test's own; its token has the scopes that it was asked for. */
export async function openServiceClient(
  resource: Resource,
  { scopes = ['all.read', 'all.write'], granted }: { scopes?: string[]; granted?: string } = {},
): Promise<OpenServiceClient> {
  const asked: string[] = []
  const bodies: unknown[] = []
  const service = await startHttpService((request, response) => {
    if (request.url === '/connect/token') return grant(response, request, granted)
    bodies.push(request.body === '' ? undefined : JSON.parse(request.body))
    resource(
      response,
      request,
      asked.push(`${request.method} ${request.url.replace(PREFIX, '')}`) - 1,
    )
  })
  const client = createServiceClient(configOf(service.origin), {
    scopes,
    mask: createMask(),
    signal: new AbortController().signal,
    retryPolicy: shortRetryPolicy(),
  })
  onTestFinished(() => client.close())
  return { client, asked, bodies, requests: service.requests }
}

/** The configuration of a tenant whose host and token service are one server. */
function configOf(origin: string) {
  return parseConfig({
    tenant: 'demo',
    environment: { type: 'custom', base_url: origin, auth_url: origin, api_name: 'svcapi' },
    client_id: 'id',
    client_secret: 'secret-of-the-client',
  })
}

function grant(response: ServerResponse, { body }: ReceivedRequest, granted?: string): void {
  const scope = granted ?? new URLSearchParams(body).get('scope') ?? undefined
  reply(response, 200, { access_token: 'token-of-the-client', expires_in: 1800, scope })
}

/** Everything of a list. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) items.push(item)
  return items
}
