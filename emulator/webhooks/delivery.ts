import { createRandom } from '../generate/random.ts'
import type { Change } from '../store/store.ts'
import type { Webhook } from './webhooks.ts'

/** One POST of an event: its answer, or what went wrong on the way. */
interface Attempt {
  /** Milliseconds of the virtual clock. */
  readonly at: number
  readonly status?: number
  readonly error?: string
}

/**
 * The state of a delivery. `held`: another one comes first; `purged`: its webhook ended before; `failed`: all
 * retries failed; `lost`: a fault left it out; `unsent`: its destination is not on this machine.
 */
export type DeliveryStatus =
  | 'waiting'
  | 'held'
  | 'delivered'
  | 'purged'
  | 'failed'
  | 'lost'
  | 'unsent'

/** An event on its way to one webhook. */
export interface Delivery {
  /** Counts all deliveries since the start, from 1. */
  readonly number: number
  readonly webhook: Webhook
  readonly change: Change
  status: DeliveryStatus
  /** The body, until the delivery has ended. */
  body: string
  readonly attempts: Attempt[]
  /** When the next attempt is due, in milliseconds of the virtual clock. */
  due: number | undefined
}

/** A delivery as the control endpoint shows it. */
export function deliveryView({ number, webhook, change, status, attempts, due }: Delivery) {
  const iso = (time: number) => new Date(time).toISOString()
  return {
    number,
    webhook: webhook.id,
    collection: webhook.collection,
    id: change.id,
    changeVersion: change.version,
    status,
    attempts: attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
    ...(due !== undefined && { nextAttempt: iso(due) }),
  }
}

/** What happens to an event instead of one delivery at once. */
const eventKinds = ['lose', 'duplicate', 'delay', 'reorder'] as const

/** What happens to one attempt, after the body has been made. */
const attemptKinds = ['tamper', 'wrong-key', 'other-scheme', 'unsigned'] as const

/** Failures of deliveries. `early` is about the creation of a webhook. */
export const deliveryFaultKinds = [...eventKinds, ...attemptKinds, 'early'] as const

/** A kind of fault of deliveries. */
export type DeliveryFaultKind = (typeof deliveryFaultKinds)[number]

/** Details of a fault of deliveries. */
export interface DeliveryFaultOptions {
  /** Only deliveries of this collection; left out: of all. */
  readonly collection?: string
  /** How often; left out: until it is cleared. For `reorder`: how many events are reversed. */
  readonly times?: number
  /** How many matching events pass first. */
  readonly skip?: number
  /** The share of matching events that fail, from 0 to 1. @default 1 */
  readonly share?: number
  /** How many more copies `duplicate` sends. @default 1 */
  readonly copies?: number
  /** How much later `delay` sends. @default 1 */
  readonly minutes?: number
  /** How long the answer to a creation waits for the answer to an `early` delivery. @default 1000 */
  readonly ms?: number
}

/** A fault that hits a delivery. */
export interface DeliveryFault {
  readonly kind: DeliveryFaultKind
  readonly options: DeliveryFaultOptions
}

/** The faults that wait for deliveries. */
export interface DeliveryFaults {
  /** Throws when the details do not fit the kind. */
  add(kind: DeliveryFaultKind, options?: DeliveryFaultOptions): void
  /** The first one that hits an event of this collection, which counts as one of its times. */
  ofEvent(collection: string): DeliveryFault | undefined
  ofAttempt(collection: string): DeliveryFault | undefined
  ofCreation(collection: string): DeliveryFault | undefined
  clear(): void
}

interface Waiting extends DeliveryFault {
  times: number
  skip: number
}

/** Starts without faults. The shares of the same seed hit the same deliveries. */
export function createDeliveryFaults(seed: number): DeliveryFaults {
  const random = createRandom(seed)
  const waiting: Waiting[] = []
  const isHit = (one: Waiting, kinds: readonly DeliveryFaultKind[], collection: string) => {
    const { collection: wanted = collection, share = 1 } = one.options
    if (one.times <= 0 || !kinds.includes(one.kind) || wanted !== collection) return false
    if (one.skip > 0) {
      one.skip -= 1
      return false
    }
    return random.chance(share)
  }
  const take = (kinds: readonly DeliveryFaultKind[]) => (collection: string) => {
    const hit = waiting.find((one) => isHit(one, kinds, collection))
    if (hit) hit.times -= 1
    return hit
  }
  return {
    add(kind, options = {}) {
      const { times = Number.POSITIVE_INFINITY, skip = 0 } = options
      if (kind === 'reorder' && !(times >= 2 && times < Number.POSITIVE_INFINITY)) {
        throw new RangeError('reorder needs times: how many events are turned around, 2 or more')
      }
      waiting.push({ kind, options, times, skip })
    },
    ofEvent: take(eventKinds),
    ofAttempt: take(attemptKinds),
    ofCreation: take(['early']),
    clear: () => void waiting.splice(0),
  }
}
