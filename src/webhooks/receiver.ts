import type { AddressInfo } from 'node:net'
import type { Time } from '../http/time.ts'
import type { Log } from '../protocol/connector.ts'
import type { Hooks } from './hooks.ts'

/** A page for GET and HEAD beside the deliveries, such as `/healthz`. */
export type Page = () => {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface ReceiverSettings {
  readonly hooks: Hooks
  /** Called once for each verified delivery, before it is answered. Must not throw. */
  onRing(collection: string): void
  readonly log: Log
  /** By path, such as `/healthz`; they are no part of the public URL. */
  readonly pages?: ReadonlyMap<string, Page>
  /** The path of the public URL, such as `/protime`; a proxy may pass it on or cut it off. */
  readonly prefix?: string
  readonly limits?: Partial<ReceiverLimits>
  readonly time?: Time
}

/** Times in milliseconds. */
export interface ReceiverLimits {
  readonly bodyBytes: number
  readonly headerBytes: number
  readonly connections: number
  readonly headersMs: number
  /** From the first byte of a request to its last. */
  readonly requestMs: number
  /** How long a delivery waits for the key of a webhook that is being created. */
  readonly keyMs: number
  /** How long requests under way may take once `close` is called. */
  readonly closeMs: number
}

export interface Receiver {
  /** Resolves when it listens; rejects with the system's error, such as EADDRINUSE. */
  listen(port: number, host: string): Promise<AddressInfo>
  /** Accepts nothing more and resolves when the requests under way are answered. */
  close(): Promise<void>
  /** Answers to everything but pages, by status code, since the start. */
  readonly counts: ReadonlyMap<number, number>
}

/** A server for the deliveries of webhooks: it verifies them, rings, and forgets their bodies. */
export declare function createReceiver(settings: ReceiverSettings): Receiver
