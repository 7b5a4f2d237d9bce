import { createHmac } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createHandler,
  createNewest,
  toNode,
  verifyDelivery,
  type WebhookEvent,
} from 'source-protime/webhooks'

/** Receives one delivery, and prints what came of it. */
const key = 'k3y-é/+='
const body = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const authorization = `HMAC-SHA256 ${createHmac('sha256', key).update(body).digest('base64')}`

const isNewest = createNewest({ capacity: 10 })
const events: (WebhookEvent & { isNewest: boolean })[] = []
const handler = createHandler({
  keysOf: (path) => (path === '/hooks/clockings/nonce' ? [key] : undefined),
  async onEvent(event) {
    const { collection, id = '', changeVersion = '' } = event
    events.push({ ...event, isNewest: isNewest(collection, id, changeVersion) })
  },
})
const server = createServer(toNode(handler)).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const options = {
    port,
    method: 'POST',
    path: '/hooks/clockings/nonce',
    headers: { authorization },
  }
  request({ host: '127.0.0.1', ...options }, ({ statusCode }) => {
    const [event] = events
    const { collection, id, isNewest } = event ?? {}
    const isGenuine = verifyDelivery(event?.body ?? '', authorization, [key])
    process.stdout.write(JSON.stringify({ statusCode, collection, id, isNewest, isGenuine }))
    server.close()
    server.closeAllConnections()
  }).end(body)
})
