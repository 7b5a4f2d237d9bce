import type { IncomingMessage } from 'node:http'
import { type DeliveryPath, parseDeliveryPath } from './delivery-path.ts'
import { headRefusal } from './head-refusal.ts'
import type { Hook, Hooks } from './hooks.ts'
import { isJson } from './parse-event.ts'
import type { QuietLog } from './quiet-log.ts'
import { readBody } from './read-body.ts'
import { verifyDelivery } from './verify-delivery.ts'

/** What a delivery is received with; `bodyBytes` and `keyMs` as in `ReceiverLimits`. */
export interface ReceiveTools {
  readonly hooks: Hooks
  onDelivery(collection: string): void
  readonly quietLog: QuietLog
  readonly prefix: string
  readonly bodyBytes: number
  readonly keyMs: number
  /** Called when the body is wanted: its sender may wait to be asked for it. */
  askForBody(): void
}

type Status = 200 | 401 | 404 | 405 | 413 | 415 | 503

/**
 * Decides how a request is answered, and tells of it if it is a delivery. Its body is gone afterwards. A signed
 * body that is not JSON is one, too: it is genuine, and a refusal would disable the webhook in the end.
 */
export async function receive(request: IncomingMessage, tools: ReceiveTools): Promise<Status> {
  const path = parseDeliveryPath(request.url ?? '', tools.prefix)
  const hook = path && tools.hooks.byNonce(path.collection, path.nonce)
  if (path === undefined) return 404
  if (hook === undefined) return unknownPath(tools)
  const status = await received(request, path, hook, tools)
  const why = REASONS[status]
  if (why !== undefined)
    tools.quietLog.warn(
      `${path.nonce} ${status}`,
      (count) => `${deliveries(count, path.collection)} answered ${status}: ${why}`,
    )
  return status
}

const REASONS: Partial<Record<Status, string>> = {
  401: 'the signature is missing, or not by a key of this webhook',
  413: 'the body is larger than any event should be; the service will disable the webhook after 72 hours of this',
  415: 'the body is compressed, and the signature covers what was compressed; look for a proxy that does it',
  503: 'the key of the webhook was not known in time; the service sends it again in about an hour',
}

async function received(
  request: IncomingMessage,
  { nonce }: DeliveryPath,
  hook: Hook,
  { hooks, onDelivery, quietLog, bodyBytes, keyMs, askForBody }: ReceiveTools,
): Promise<Status> {
  const refusal = headRefusal(headOf(request), bodyBytes)
  if (refusal !== undefined) return refusal
  askForBody()
  const body = await readBody(request.iterator({ destroyOnReturn: false }), bodyBytes)
  if (body === undefined) return 413
  const known = hook.state === 'creating' ? await hooks.settled(nonce, keyMs) : hook
  if (known === undefined || known.state === 'creating') return 503
  if (!verifyDelivery(body, request.headers.authorization, known.keys)) return 401
  onDelivery(known.collection)
  if (!isJson(body))
    quietLog.warn(
      `${nonce} JSON`,
      (count) =>
        `${deliveries(count, known.collection)} rightly signed but not JSON: it leads to a sync all the same`,
    )
  return 200
}

function unknownPath({ quietLog }: ReceiveTools): 404 {
  quietLog.warn(
    'unknown',
    (count) => `${deliveries(count)} answered 404: their paths belong to no webhook of the store`,
  )
  return 404
}

function headOf({ method, headers }: IncomingMessage) {
  return {
    method,
    contentEncoding: headers['content-encoding'],
    contentLength: headers['content-length'],
  }
}

function deliveries(count: number, collection?: string): string {
  const what = count === 1 ? '1 delivery' : `${count} deliveries`
  const of = collection === undefined ? what : `${what} of ${collection}`
  return `${of} ${count === 1 ? 'was' : 'were'}`
}
