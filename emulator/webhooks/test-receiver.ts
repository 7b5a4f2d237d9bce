import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { listenOn, originOf } from '../http/http-server.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect, type TestClient } from '../test-client.ts'

/** A delivery as it arrived. */
interface Arrival {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Answers a delivery; without an answer it hangs. */
export type ReceiverAnswer = (response: ServerResponse) => void

/** An HTTP server on loopback that takes what is delivered. */
interface TestReceiver {
  readonly origin: string
  readonly arrivals: readonly Arrival[]
  /** The parsed bodies, oldest first. */
  bodies(): Record<string, unknown>[]
  /** How each request is answered; at the start by 200. */
  answer(how: ReceiverAnswer): void
  close(): Promise<void>
}

/** Starts a receiver on a free port. */
async function startReceiver(): Promise<TestReceiver> {
  const arrivals: Arrival[] = []
  let respond: ReceiverAnswer = (response) => response.end()
  const server = await listenOn(
    createServer(async (message, response) => {
      const body = (await buffer(message)).toString()
      arrivals.push({ path: message.url ?? '', headers: message.headers, body })
      respond(response)
    }),
    0,
  )
  return {
    origin: originOf(server),
    arrivals,
    bodies: () => arrivals.map(({ body }) => JSON.parse(body)),
    answer(how) {
      respond = how
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** A running emulator with a receiver beside it, and a client with every scope. */
export interface Delivering {
  readonly emulator: Emulator
  readonly receiver: TestReceiver
  readonly client: TestClient
  /** Creates a webhook for a collection with the receiver as its destination. */
  subscribe(collection: string, query?: string): Promise<{ id: string; key: string }>
  /** Resolves when this many deliveries have ended or wait for a retry. */
  settled(count: number): Promise<ReturnType<Emulator['deliveries']>>
  close(): Promise<void>
}

/** Starts the three. */
export async function startDelivering(options: EmulatorOptions = {}): Promise<Delivering> {
  const clients = [{ id: 'all', secret: 'secret', scopes: 'all' as const }]
  const emulator = await startEmulator({ people: 3, months: 1, clients, ...options })
  const receiver = await startReceiver()
  const client = await connect(emulator)
  const isSettled = ({ status, attempts }: { status: string; attempts: readonly unknown[] }) =>
    attempts.length > 0 || !['waiting', 'held'].includes(status)
  return {
    emulator,
    receiver,
    client,
    async subscribe(collection, query = '') {
      const body = { destinationUrl: `${receiver.origin}/hooks`, collectionName: collection }
      const { status, body: webhook } = await client.send('POST', `/webhooks${query}`, body)
      expect({ status, webhook }).toMatchObject({ status: 201 })
      const { id, privateKey } = webhook as unknown as { id: string; privateKey: string }
      return { id, key: privateKey }
    },
    async settled(count) {
      await expect.poll(() => emulator.deliveries().filter(isSettled).length).toBe(count)
      return emulator.deliveries()
    },
    async close() {
      await emulator.close()
      await receiver.close()
    },
  }
}
