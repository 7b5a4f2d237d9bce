import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createHandler,
  createNewest,
  sign,
  toNode,
  verify,
  type WebhookEvent,
  type WebhookEventOf,
} from 'source-protime/webhooks'

/** Receives one delivery, and prints what came of it. */
const key = 'k3y-é/+='
const body = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const authorization = await sign(body, key)

const isNewest = createNewest({ capacity: 10 })
const events: { event: WebhookEvent; isNewest: boolean; day: string | null | undefined }[] = []
const dayOf = ({ data }: WebhookEventOf<'clockings'>) => data?.date
const handler = createHandler({
  keysOf: (path) => (path === '/hooks/clockings/nonce' ? [key] : undefined),
  async onEvent(event) {
    const day = event.collection === 'clockings' ? dayOf(event) : undefined
    events.push({ event, isNewest: isNewest(event), day })
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
  request({ host: '127.0.0.1', ...options }, async ({ statusCode }) => {
    const [{ event, isNewest, day } = {}] = events
    const { collection, id, body = '' } = event ?? {}
    await verify(body, authorization, [key])
    process.stdout.write(JSON.stringify({ statusCode, collection, id, isNewest, day }))
    server.close()
    server.closeAllConnections()
  }).end(body)
})
