import type { Dispatcher } from 'undici'
import { ConnectorError } from '../protocol/errors.ts'
import { createConnections } from './connections.ts'
import { type Received, receive } from './decompression.ts'
import { toNetworkError } from './network-error.ts'
import { keepNextUnoptimised, optimiseAgain } from './parser-tier.ts'
import type { Collected } from './received-body.ts'

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** One request as it goes to the wire. */
export interface Call {
  /** Sent as it is: dot segments and what is encoded in it are not touched. */
  readonly url: string
  /** What logs show in place of an address that holds personal data. */
  readonly shown?: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** One answer; its body must be read to the end or discarded, else its connection stays taken. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  /** The body, decompressed, or what `collect` has left of it. Throws a ConnectorError when it breaks. */
  readonly body: AsyncIterable<Buffer>
  /** See ReceivedBody; throws as `body` does. */
  collect(most: number, until: number): Promise<Collected>
  discard(): void
}

/** Sends requests over kept-alive connections; knows nothing of tokens and retries. */
export interface Transport {
  /** Throws a ConnectorError: transient when a repetition may help, else config or system. */
  send(call: Call): Promise<Reply>
  close(): Promise<void>
}

/** Over the connections of `createConnections`; gives up a service that is silent for so long. */
export function createTransport(silenceSeconds: number): Transport {
  const { dispatcher, close } = createConnections(silenceSeconds * 1000)
  return {
    close,
    send: (call) =>
      new Promise((resolve, reject) => {
        if (call.signal.aborted) reject(call.signal.reason)
        else new PendingRequest(call, resolve, reject).dispatch(dispatcher)
      }),
  }
}

/** Scheme and host of an address, and what follows. */
const PARTS = /^(\w+:\/\/[^/?]*)(.*)$/s

/**
 * One request on undici's lowest level, where a page costs a fraction of what it costs as a stream: its
 * body is taken by events, without a promise per part.
 */
class PendingRequest implements Dispatcher.DispatchHandler {
  readonly #call: Call
  readonly #resolve: (reply: Reply) => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #received: Received | undefined
  #announcements = 0

  constructor(call: Call, resolve: (reply: Reply) => void, reject: (error: unknown) => void) {
    this.#call = call
    this.#resolve = resolve
    this.#reject = reject
  }

  dispatch(dispatcher: Dispatcher): void {
    const { url, method, headers, body, signal } = this.#call
    const [, origin = '', path] = PARTS.exec(url) ?? []
    keepNextUnoptimised()
    signal.addEventListener('abort', this.#onAbort, { once: true })
    dispatcher.dispatch(
      { origin, path: path || '/', method, headers, ...(body !== undefined && { body }) },
      this,
    )
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    const { signal } = this.#call
    if (signal.aborted) controller.abort(signal.reason)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    optimiseAgain()
    if (status < 200) {
      this.#onAnnouncement()
      return
    }
    const header = (name: string) => {
      const value = headers[name]
      return Array.isArray(value) ? value[0] : value
    }
    const received = receive(header('content-encoding'), controller, this.#toFailure)
    const { body } = received
    this.#received = received
    this.#resolve({
      status,
      header,
      body,
      collect: (most, until) => body.collect(most, until),
      discard: () => body.discard(new Error('it was discarded')),
    })
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#received?.sink.push(chunk)
  }

  onResponseEnd(): void {
    this.#forgetSignal()
    this.#received?.sink.end()
  }

  onResponseError(_: unknown, error: Error): void {
    this.#forgetSignal()
    if (this.#received === undefined) this.#reject(this.#toFailure(error))
    else this.#received.sink.fail(error)
  }

  /** Ends at once: undici does not look at the signal while a connection is being made. */
  readonly #onAbort = () => {
    const { reason } = this.#call.signal
    this.#reject(reason)
    this.#controller?.abort(reason)
  }

  #forgetSignal(): void {
    this.#call.signal.removeEventListener('abort', this.#onAbort)
  }

  readonly #toFailure = (error: Error) => toNetworkError(error, this.#host)

  get #host(): string {
    return new URL(this.#call.url).host
  }

  /** An answer 1xx before the real one; each resets the clock that waits for it. */
  #onAnnouncement(): void {
    if (++this.#announcements <= MAX_ANNOUNCEMENTS) return
    throw new ConnectorError('transient', `${this.#host} announces an answer that never comes.`)
  }
}

const MAX_ANNOUNCEMENTS = 16

/**
 * Ends when a request that was just made has been sent: undici lets two turns of the event loop
 * pass before it uses a connection again. Work that blocks must wait for it, or it delays the request.
 */
export async function afterRequestSent(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
}
