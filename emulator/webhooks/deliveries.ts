import type { Clock } from '../clock.ts'
import type { ResolvedOptions, WebhookOptions } from '../options.ts'
import type { ReferencePair, References } from '../references/references.ts'
import type { Change, Store, StoredRecord } from '../store/store.ts'
import {
  addressOf,
  createEventSender,
  type Delivery,
  type DeliveryFault,
  type DeliveryFaults,
  type DeliveryStatus,
  sign,
} from './delivery.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import type { Webhook, Webhooks } from './webhooks.ts'

/** Decides which deliveries are scheduled now and which are held back until others have ended. */
interface DeliveryOrder {
  /** Schedules a delivery, or holds it until the earlier ones of its webhook have ended. */
  admit(delivery: Delivery, due?: number): void
  /** Holds a delivery back until there are as many as the fault reverses. */
  holdBack(delivery: Delivery, fault: DeliveryFault): void
  /** Schedules the deliveries that `reorder` holds back, in the order in which they were raised. */
  release(): void
  /** Has to be called after each attempt, whatever its result. */
  attempted(delivery: Delivery): void
  /** Has to be called when a delivery will not be attempted again. */
  ended(delivery: Delivery): void
}

/** The deliveries of one webhook, which are made one after the other. */
interface Queue {
  first: Delivery
  readonly behind: Delivery[]
}

/** The options of an order. */
interface DeliveryOrderParts {
  /** Whether newer events wait for older ones of their webhook. */
  isHeld(): boolean
  /** Schedules the attempt of a delivery for a time, by default now. */
  schedule(delivery: Delivery, due?: number): void
}

/** Creates an order without deliveries. */
function createDeliveryOrder({ isHeld, schedule }: DeliveryOrderParts): DeliveryOrder {
  const queues = new Map<string, Queue>()
  const heldBack = new Map<DeliveryFault, Delivery[]>()
  const followers = new Map<Delivery, readonly Delivery[]>()

  const admit = (delivery: Delivery, due?: number) => {
    const queue = queues.get(delivery.webhook.id)
    if (queue) return void queue.behind.push(delivery)
    if (isHeld()) queues.set(delivery.webhook.id, { first: delivery, behind: [] })
    schedule(delivery, due)
  }
  const admitInTurn = ([first, ...rest]: readonly Delivery[]) => {
    if (!first) return
    followers.set(first, rest)
    admit(first)
  }
  const attempted = (delivery: Delivery) => {
    const rest = followers.get(delivery) ?? []
    followers.delete(delivery)
    admitInTurn(rest)
  }

  return {
    admit,
    holdBack(delivery, fault) {
      const held = [...(heldBack.get(fault) ?? []), delivery]
      heldBack.set(fault, held)
      if (held.length < (fault.options.times ?? 0)) return
      heldBack.delete(fault)
      admitInTurn(held.toReversed())
    },
    release() {
      const held = [...heldBack.values()]
      heldBack.clear()
      for (const deliveries of held) admitInTurn(deliveries)
    },
    attempted,
    ended(delivery) {
      attempted(delivery)
      const queue = queues.get(delivery.webhook.id)
      if (queue?.first !== delivery) return
      const next = queue.behind.shift()
      if (!next) return void queues.delete(delivery.webhook.id)
      queue.first = next
      schedule(next)
    },
  }
}

/** What the body of an event depends on besides the change. */
interface EventContext {
  readonly collection: string
  readonly pairs: readonly ReferencePair[]
  readonly references: References
  readonly options: Required<WebhookOptions>
}

/**
 * The JSON text of a change for a webhook, with the external references that it wants; undefined for a
 * deletion without an event. Numbers keep all the digits that they have in the store.
 */
function eventBody(change: Change, context: EventContext): string | undefined {
  const { options } = context
  if (!change.after) return deletionBody(change, context)
  const data = recordText(change.after, context)
  return options.eventShape === 'record' ? data : envelope('InsertOrUpdate', data)
}

function deletionBody(change: Change, context: EventContext): string | undefined {
  const { id, version, before } = change
  const data = JSON.stringify({ changeVersion: version, id })
  const { deleteEvent } = context.options
  if (deleteEvent === 'none') return undefined
  if (deleteEvent === 'envelope') return envelope('Delete', data)
  if (deleteEvent === 'bare' || !before) return data
  const last = recordText(before, context)
  return withStatus(last.replace(before.version, version), 'Deleted')
}

function recordText({ text }: StoredRecord, context: EventContext): string {
  const { collection, pairs, references } = context
  return references.decorate(collection, text, pairs)
}

function envelope(changeType: 'InsertOrUpdate' | 'Delete', data: string): string {
  return `{"changeType":"${changeType}","data":${data}}`
}

// Edits the text, because parsing it would lose digits of numbers that a double cannot represent.
function withStatus(text: string, status: string): string {
  const has = Object.hasOwn(JSON.parse(text), 'status')
  if (!has) return `${text.slice(0, -1)},"status":"${status}"}`
  return text.replace(/"status":"[^"]*"(?=[,}])/, `"status":"${status}"`)
}

/** The parts of the service that deliveries need. */
export interface DeliveryParts {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly store: Store
  readonly references: References
  readonly webhooks: Webhooks
  readonly deliveryFaults: DeliveryFaults
}

/** The deliveries of all webhooks, on the virtual clock. */
export interface Deliveries extends Pick<Scheduler, 'wake' | 'elapse'> {
  /** Every delivery since the start, in the order in which they were raised. */
  readonly all: readonly Delivery[]
  /** Raises an event of each live webhook of the collection, without waiting for its delivery. */
  raise(collection: string, change: Change): void
  /** Delivers the collection's first record, as if it had just changed; resolves after the attempt. */
  sendFirst(webhook: Webhook): Promise<void>
  /** Drops the waiting deliveries of webhooks that have ended. */
  purge(): void
  /** Sends the deliveries that a fault holds back. */
  release(): void
  close(): void
}

/** Hours from each failed attempt to the next one; after the last one the webhook is disabled. */
const retryHours = [1, 3, 8, 24, 36]
const hourInMs = 3_600_000

/** Real milliseconds that a receiver has to answer. */
const timeoutMs = 10_000

/** Creates an empty list of deliveries. */
export function createDeliveries(parts: DeliveryParts): Deliveries {
  const { options, clock, store, references, webhooks, deliveryFaults: faults } = parts
  const all: Delivery[] = []
  const sender = createEventSender()
  const limit = () => options.deliveryConnections
  const scheduler = createScheduler({ clock, limit, newest: () => all.length, attempt })
  const order = createDeliveryOrder({
    isHeld: () => options.eventOrder === 'held',
    schedule(delivery, due = time()) {
      delivery.status = 'waiting'
      scheduler.add(delivery, due)
    },
  })
  return {
    all,
    raise(collection, change) {
      for (const webhook of webhooks.list()) {
        if (webhook.collection === collection && webhooks.isLive(webhook)) raiseFor(webhook, change)
      }
    },
    async sendFirst(webhook) {
      const [first] = store.records(webhook.collection)
      if (!first || !webhooks.isLive(webhook)) return
      const { id, version } = first
      const change = { sequence: 0, id, version, before: undefined, after: first }
      const delivery = create(webhook, change, bodyOf(webhook, change) ?? '')
      delivery.status = 'waiting'
      await attempt(delivery)
    },
    purge,
    release: order.release,
    wake: scheduler.wake,
    elapse: scheduler.elapse,
    close() {
      scheduler.close()
      sender.close()
    },
  }

  /** Raises the event of a change for a webhook, with the fault that applies to it. */
  function raiseFor(webhook: Webhook, change: Change): void {
    const body = bodyOf(webhook, change)
    if (body === undefined) return
    const fault = faults.ofEvent(webhook.collection)
    const { copies = 1, minutes = 1 } = fault?.options ?? {}
    const delivery = create(webhook, change, body)
    switch (fault?.kind) {
      case 'lose':
        end(delivery, 'lost')
        break
      case 'reorder':
        order.holdBack(delivery, fault)
        break
      case 'delay':
        order.admit(delivery, time() + minutes * 60_000)
        break
      case 'duplicate':
        order.admit(delivery)
        for (let copy = 0; copy < copies; copy += 1) order.admit(create(webhook, change, body))
        break
      default:
        order.admit(delivery)
    }
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const { webhook } = delivery
    if (!webhooks.isLive(webhook)) return end(delivery, 'purged')
    const address = addressOf(webhook.destination, options.deliverTo)
    if (!address) return end(delivery, 'unsent')
    const text = bodyNow(delivery)
    if (text === undefined) return end(delivery, 'purged')
    const at = time()
    const fault = faults.ofAttempt(webhook.collection)
    const signed = sign(text, webhook.key, fault?.kind)
    const result = await sender.post({ ...signed, address, timeoutMs })
    delivery.attempts.push({ at, ...result })
    if ('status' in result && isSuccess(result.status)) end(delivery, 'delivered')
    else retry(delivery, at)
  }

  /** Schedules the next attempt after one that failed at this time, or disables the webhook after the last one. */
  function retry(delivery: Delivery, at: number): void {
    const hours = retryHours[delivery.attempts.length - 1]
    order.attempted(delivery)
    if (!webhooks.isLive(delivery.webhook)) end(delivery, 'purged')
    else if (hours !== undefined) scheduler.add(delivery, at + hours * hourInMs)
    else {
      webhooks.disable(delivery.webhook)
      end(delivery, 'failed')
      purge()
    }
  }

  function purge(): void {
    const takeEnded = () => scheduler.removeAll(({ webhook }) => !webhooks.isLive(webhook))
    // When a delivery ends, held ones are scheduled, whose webhooks may have ended, too.
    for (let ended = takeEnded(); ended.length > 0; ended = takeEnded()) {
      for (const delivery of ended) end(delivery, 'purged')
    }
  }

  function end(delivery: Delivery, status: DeliveryStatus): void {
    delivery.status = status
    delivery.body = ''
    order.ended(delivery)
  }

  function create(webhook: Webhook, change: Change, body: string): Delivery {
    const number = all.length + 1
    const status: DeliveryStatus = 'held'
    const delivery = { number, webhook, change, body, status, attempts: [], due: undefined }
    all.push(delivery)
    return delivery
  }

  /** The body for the next attempt; undefined if there is nothing left to report. */
  function bodyNow({ webhook, change, attempts, body }: Delivery): string | undefined {
    if (options.retriedBody === 'snapshot' || attempts.length === 0) return body
    const { collection } = webhook
    const latest = store.changes(collection).findLast(({ id }) => id === change.id)
    return bodyOf(webhook, latest ?? change)
  }

  function bodyOf(webhook: Webhook, change: Change): string | undefined {
    return eventBody(change, { ...webhook, references, options })
  }

  function time(): number {
    return clock.now().getTime()
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
