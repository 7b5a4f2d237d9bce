import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { deliveryPath, type Hook, type Hooks } from '../delivery.ts'
import { createReceiver, type Receiver, type ReceiverSettings } from '../receiver.ts'

/** A connection of which the test writes each byte. */
export interface RawConnection {
  write(data: Uint8Array | string): void
  /** Writes, and resolves with whether the other side has let all of it come. */
  sent(data: Uint8Array | string): Promise<boolean>
  /** All that was received so far. */
  heard(): string
  /** The status of each answer so far. */
  statuses(): number[]
  /** Resolves with them when there are so many. */
  answers(count: number): Promise<number[]>
  /** Resolves when the other side has closed it. */
  readonly closed: Promise<void>
  end(): void
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    socket.emit('heard')
  })
  // A reset is the end of a connection like another.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  const statuses = () =>
    [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)]
      .map(([, status]) => Number(status))
      .filter((status) => status !== 100)
  return {
    write: (data) => void socket.write(data),
    sent: (data) =>
      new Promise((resolve) => {
        socket.write(data, (error) => resolve(error == null))
      }),
    heard: () => text,
    statuses,
    async answers(count) {
      while (statuses().length < count) {
        await Promise.race([once(socket, 'heard'), closed])
        if (socket.closed && statuses().length < count)
          throw new Error(`the connection was closed after ${JSON.stringify(text)}`)
      }
      return statuses()
    },
    closed,
    end: () => void socket.destroy(),
  }
}

export const KEY = 'k3y-é/+='
export const NONCE = 'nonce-of-clockings-0123456789'
export const PATH = deliveryPath({ collection: 'clockings', nonce: NONCE })
export const LIVE: Hook = { collection: 'clockings', key: KEY, state: 'live' }

/** A receiver of one webhook on loopback, and what it did. */
export interface StartedReceiver extends Receiver {
  readonly port: number
  /** The collections of verified deliveries. */
  readonly verified: string[]
  readonly warnings: string[]
  open(): Promise<RawConnection>
  /** Sends a delivery on a connection of its own; answers with its status. */
  deliver(body: Uint8Array | string, options?: DeliverOptions): Promise<number>
}

interface DeliverOptions {
  readonly path?: string
  readonly authorization?: string
}

export async function startReceiver(
  settings: Partial<ReceiverSettings> & { readonly hook?: Hook } = {},
): Promise<StartedReceiver> {
  const verified: string[] = []
  const warnings: string[] = []
  const receiver = createReceiver({
    hooks: hooksOf(settings.hook ?? LIVE),
    onDelivery: (collection) => void verified.push(collection),
    log: { info() {}, debug() {}, warn: (line) => void warnings.push(line) },
    ...settings,
  })
  const { port }: AddressInfo = await receiver.listen(0, '127.0.0.1')
  const open = async () => {
    const connection = await openRaw(port)
    onTestFinished(() => connection.end())
    return connection
  }
  onTestFinished(() => receiver.close())
  return {
    ...receiver,
    port,
    verified,
    warnings,
    open,
    async deliver(body, options) {
      const connection = await open()
      connection.write(delivery(body, options))
      const [status = 0] = await connection.answers(1)
      connection.end()
      return status
    },
  }
}

/** The header by which the service signs a body. */
export function sign(body: Uint8Array | string, key: string): string {
  const digest = createHmac('sha256', Buffer.from(key, 'utf8')).update(Buffer.from(body))
  return `HMAC-SHA256 ${digest.digest('base64')}`
}

/** A delivery as the service sends it, in bytes. */
export function delivery(
  body: Uint8Array | string,
  { path = PATH, authorization = sign(body, KEY) }: DeliverOptions = {},
): Buffer {
  const bytes = Buffer.from(body)
  const head = `POST ${path} HTTP/1.1\r\nHost: hooks\r\nAuthorization: ${authorization}\r\nContent-Length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

function hooksOf(hook: Hook): Hooks {
  const known = (nonce: string) => (nonce === NONCE ? hook : undefined)
  return {
    byNonce: (collection, nonce) => (collection === hook.collection ? known(nonce) : undefined),
    settled: async (nonce) => known(nonce),
  }
}
