import { headRefusal, parseEvent, readBody, verifyDelivery, type WebhookEvent } from './delivery.ts'

/** Tells the operator of a program that has given no log. */
export function toStderr(message: string): void {
  process.stderr.write(`source-protime/webhooks: ${message}\n`)
}

/** What a handler of deliveries is made of. */
export interface HandlerOptions {
  /** The keys of the webhook whose destination has this path; none for a path that is not one. */
  keysOf(path: string): Keys | Promise<Keys>
  /** Stores the event. It is awaited: what it throws is answered 503, and the service sends the event again. */
  onEvent(event: WebhookEvent): unknown
  /** The collection of that webhook; the last segment but one if left out, as in `/hooks/<collection>/<nonce>`. */
  collectionOf?(path: string): string
  /** What `onEvent` threw. It may quote the event, so that only its name is logged if this is left out. */
  onError?(error: unknown): void
  /** Of a body; 1 MiB if left out. */
  readonly maxBytes?: number
}

type Keys = readonly string[] | undefined

/** A server function of the Fetch API. */
export type Handler = (request: Request) => Promise<Response>

/** More than any event has: a refused one is sent again for 72 hours, and then the webhook is disabled. */
const DEFAULT_MAX_BYTES = 1_048_576

/**
 * Makes a function that answers deliveries: 200 once `onEvent` has stored the event, 503 when it throws,
 * 401 for a wrong signature, 400 for a signed body that is not JSON, 404, 405, 413 and 415 for what is no
 * delivery of ours. Answers have no body.
 */
export function createHandler({
  keysOf,
  onEvent,
  collectionOf = lastButOne,
  onError = logName,
  maxBytes = DEFAULT_MAX_BYTES,
}: HandlerOptions): Handler {
  return async (request) => {
    const path = new URL(request.url).pathname
    const keys = (await keysOf(path)) ?? []
    if (keys.length === 0) return answer(404)
    const refusal = headRefusal(headOf(request), maxBytes)
    if (refusal !== undefined) return answer(refusal)
    const body = await readBody(request.body ?? [], maxBytes)
    if (body === undefined) return answer(413)
    if (!verifyDelivery(body, request.headers.get('authorization'), keys)) return answer(401)
    return answer(await stored(collectionOf(path), body))
  }

  async function stored(collection: string, body: Buffer): Promise<number> {
    const event = parsed(collection, body)
    if (event === undefined) return 400
    try {
      await onEvent(event)
      return 200
    } catch (error) {
      onError(error)
      return 503
    }
  }
}

function parsed(collection: string, body: Buffer): WebhookEvent | undefined {
  try {
    return parseEvent(collection, body)
  } catch {
    return undefined
  }
}

function answer(status: number): Response {
  return new Response(null, { status, headers: status === 405 ? { allow: 'POST' } : {} })
}

function headOf({ method, headers }: Request) {
  return {
    method,
    contentEncoding: headers.get('content-encoding'),
    contentLength: headers.get('content-length'),
  }
}

function lastButOne(path: string): string {
  return path.split('/').at(-2) ?? ''
}

function logName(error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error
  toStderr(`onEvent threw (${name}); the delivery was answered 503. Give onError to learn more`)
}

/** Tells whether a version of a record is newer than every other that it was told of. */
export type Newest = (collection: string, id: number | string, changeVersion: string) => boolean

const DEFAULT_CAPACITY = 100_000

/**
 * Remembers the newest `changeVersion` of as many records as `capacity` says, deleted ones like others,
 * and forgets first what it has not been asked about for longest. Versions are compared as text, by code
 * units; an equal one is the same event once more.
 *
 * What it calls newer counts as seen: ask where events are applied, behind the queue. Before the queue
 * the repetition of a delivery that could not be stored would look like a duplicate.
 */
export function createNewest({
  capacity = DEFAULT_CAPACITY,
}: {
  readonly capacity?: number
} = {}): Newest {
  if (!(capacity >= 1)) throw new RangeError('the capacity must be 1 or more')
  const versions = new Map<string, string>()
  return (collection, id, changeVersion) => {
    const record = `${collection} ${id}`
    const held = versions.get(record)
    const isNewer = held === undefined || changeVersion > held
    versions.delete(record)
    versions.set(record, isNewer ? changeVersion : held)
    const [oldest = record] = versions.keys()
    if (versions.size > capacity) versions.delete(oldest)
    return isNewer
  }
}
