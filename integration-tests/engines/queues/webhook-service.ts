import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** The service as far as the creation of a webhook needs it. */
export interface WebhookService {
  /** The connector's configuration for it. */
  readonly config: object
  /** Where the webhooks that were created send to. */
  readonly destinations: readonly string[]
  close(): void
}

/** Answers each creation with this key. */
export async function startWebhookService(key: string): Promise<WebhookService> {
  const destinations: string[] = []
  const server = createServer(async (request, response) => {
    const send = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    if (request.url?.startsWith('/connect/token') === true)
      return send(200, { access_token: 'token', expires_in: 3600 })
    const asked = (await json(request)) as { readonly destinationUrl: string }
    destinations.push(asked.destinationUrl)
    const record = { id: 'w1', status: 'Enabled', validUntil: '2030-01-01T00:00:00Z', ...asked }
    return send(201, { ...record, privateKey: key })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    config: {
      tenant: 'demo',
      environment: { type: 'custom', base_url: origin, auth_url: origin },
      client_id: 'id',
      client_secret: 'secret',
    },
    destinations,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
