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
 * What became of a delivery. `held`: another one comes first; `purged`: its webhook ended before;
 * `failed`: all retries failed; `lost`: a fault left it out; `unsent`: its destination is not on this
 * machine.
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
