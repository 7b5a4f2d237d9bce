import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { deliveryPath } from '../delivery-path.ts'
import type { Hook, Hooks } from '../hooks.ts'
import { createReceiver, type Receiver, type ReceiverSettings } from '../receiver.ts'
import { openRaw, type RawConnection } from './raw-connection.ts'
import { sign } from './sign.ts'

export const KEY = 'k3y-é/+='
export const NONCE = 'nonce-of-clockings-0123456789'
export const PATH = deliveryPath({ collection: 'clockings', nonce: NONCE })
export const LIVE: Hook = { collection: 'clockings', keys: [KEY], state: 'live' }

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
