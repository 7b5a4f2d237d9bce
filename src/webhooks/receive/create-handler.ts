import {
  type BodyVerifier,
  type RefusalReason,
  receiveBody,
  STATUS,
  VerificationError,
  verify,
} from './delivery.ts'
import { parseEvent, type WebhookEvent } from './event.ts'

/** Warns the operator of a program that has given no log. */
export function toStderr(message: string): void {
  // biome-ignore lint/suspicious/noConsole: stderr of whatever runs the library
  console.error(`source-protime/webhooks: ${message}`)
}

/** A refused request. */
export interface Refusal {
  /** Treat it like a password: keep it out of logs. */
  readonly path: string
  /** Of the answer. */
  readonly status: number
  readonly reason: RefusalReason
}

/** Options of a handler of deliveries. */
export interface HandlerOptions {
  /**
   * The keys of the webhook whose destination has this path; undefined or empty for other paths.
   */
  keysOf(path: string): Keys | Promise<Keys>
  /**
   * Stores the event. The handler awaits it: if it throws, the answer is 503, and the service sends the event
   * again.
   */
  onEvent(event: WebhookEvent): unknown
  /**
   * The collection of that webhook; by default the second-last segment, as in `/hooks/<collection>/<nonce>`.
   */
  collectionOf?(path: string): string
  /**
   * Called with the error that `onEvent` threw. The error may quote the event, so by default only its name is
   * logged.
   */
  onError?(error: unknown): void
  /**
   * Called for each refused request: if all deliveries of a webhook are refused for 72 hours, the service
   * disables it. By default, stderr gets a line for each reason, at most one per minute.
   */
  onRefused?(refusal: Refusal): void
  /**
   * A signed body that is not JSON: `refuse` answers 400 (the default), which in the end disables the
   * webhook; `pass` calls `onEvent` without id and data.
   */
  readonly notJson?: 'refuse' | 'pass'
  /** The largest body; by default 1 MiB. */
  readonly maxBytes?: number
}

type Keys = readonly string[] | undefined

/** A server function of the Fetch API. */
export type Handler = (request: Request) => Promise<Response>

/**
 * More than any event has: a refused event is sent again for 72 hours, and then the webhook is disabled.
 */
const DEFAULT_MAX_BYTES = 1_048_576

/**
 * Returns a function that answers deliveries: 200 when `onEvent` has stored the event, 503 if it throws, 401
 * without a valid signature, 400 for a signed body that is not JSON, and 404, 405, 413 and 415 for requests
 * that are not deliveries. Answers have no body.
 */
export function createHandler({
  keysOf,
  onEvent,
  collectionOf = lastButOne,
  onError = logName,
  onRefused = quietRefusals(),
  notJson = 'refuse',
  maxBytes = DEFAULT_MAX_BYTES,
}: HandlerOptions): Handler {
  return async (request) => {
    const path = new URL(request.url).pathname
    const received = await receive(request, path)
    if (typeof received !== 'string') return answer(await stored(received))
    const status = STATUS[received]
    onRefused({ path, status, reason: received })
    return answer(status)
  }

  async function receive(request: Request, path: string): Promise<WebhookEvent | RefusalReason> {
    const keys = (await keysOf(path)) ?? []
    if (keys.length === 0) return 'unknown-path'
    const head = { method: request.method, header: (name: string) => request.headers.get(name) }
    const body = collectBody(keys)
    const reason = await receiveBody(head, (take) => eachPart(request, take), maxBytes, body)
    if (reason !== undefined) return reason
    return read(collectionOf(path), body.whole())
  }

  function read(collection: string, body: Uint8Array): WebhookEvent | RefusalReason {
    try {
      return parseEvent(collection, body)
    } catch {
      if (notJson === 'refuse') return 'not-json'
      return { collection, body, deleted: undefined } as WebhookEvent
    }
  }

  async function stored(event: WebhookEvent): Promise<number> {
    try {
      await onEvent(event)
      return 200
    } catch (error) {
      onError(error)
      return 503
    }
  }
}

async function eachPart({ body }: Request, take: (part: Uint8Array) => boolean): Promise<boolean> {
  for await (const part of body ?? []) if (!take(part)) return false
  return true
}

/** Keeps the body, and verifies it with WebCrypto, which cannot hash it in parts. */
function collectBody(keys: readonly string[]): BodyVerifier & { whole(): Uint8Array } {
  const parts: Uint8Array[] = []
  return { take: (part) => void parts.push(part), whole, isSigned }

  function whole(): Uint8Array {
    const body = new Uint8Array(parts.reduce((bytes, { length }) => bytes + length, 0))
    let at = 0
    for (const part of parts) {
      body.set(part, at)
      at += part.length
    }
    return body
  }

  async function isSigned(authorization: string): Promise<boolean> {
    try {
      await verify(whole(), authorization, keys)
      return true
    } catch (error) {
      if (error instanceof VerificationError) return false
      throw error
    }
  }
}

function answer(status: number): Response {
  return new Response(null, { status, headers: status === 405 ? { allow: 'POST' } : {} })
}

function lastButOne(path: string): string {
  return path.split('/').at(-2) ?? ''
}

function logName(error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error
  toStderr(`onEvent threw (${name}); the delivery was answered 503. Give onError to learn more`)
}

const LINE_EVERY_MS = 60_000

/**
 * Reports the first refusal for a reason at once, and later how many more there were. It does not report
 * paths.
 */
export function quietRefusals(
  nowMs: () => number = () => performance.now(),
): (refusal: Pick<Refusal, 'status' | 'reason'>) => void {
  const lines = new Map<RefusalReason, { at: number; count: number }>()
  return ({ status, reason }) => {
    const line = lines.get(reason) ?? { at: Number.NEGATIVE_INFINITY, count: 0 }
    lines.set(reason, line)
    line.count++
    const now = nowMs()
    if (now - line.at < LINE_EVERY_MS) return
    const what = line.count === 1 ? 'a delivery was' : `${line.count} deliveries were`
    toStderr(`${what} answered ${status} (${reason}). Give onRefused to learn more`)
    lines.set(reason, { at: now, count: 0 })
  }
}
