import type { Delivery } from './delivery.ts'
import type { DeliveryFault } from './delivery-faults.ts'

/** Holds deliveries back while others come first. */
export interface DeliveryOrder {
  /** Schedules a delivery, or holds it until the earlier ones of its webhook have ended. */
  admit(delivery: Delivery, due?: number): void
  /** Holds a delivery until as many are there as the fault turns around. */
  turn(delivery: Delivery, fault: DeliveryFault): void
  /** Schedules what is still to be turned around, as it is. */
  release(): void
  /** For when an attempt has ended, whatever its result. */
  attempted(delivery: Delivery): void
  /** For when nothing will be attempted any more. */
  ended(delivery: Delivery): void
}

/** One webhook whose deliveries come one after the other. */
interface Queue {
  first: Delivery
  readonly behind: Delivery[]
}

/** What an order is made of. */
export interface DeliveryOrderParts {
  /** Whether newer events wait for older ones of their webhook. */
  isHeld(): boolean
  /** Lets a delivery be attempted at its time; left out: now. */
  schedule(delivery: Delivery, due?: number): void
}

/** Starts without deliveries. */
export function createDeliveryOrder({ isHeld, schedule }: DeliveryOrderParts): DeliveryOrder {
  const queues = new Map<string, Queue>()
  const turning = new Map<DeliveryFault, Delivery[]>()
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
    turn(delivery, fault) {
      const held = [...(turning.get(fault) ?? []), delivery]
      turning.set(fault, held)
      if (held.length < (fault.options.times ?? 0)) return
      turning.delete(fault)
      admitInTurn(held.toReversed())
    },
    release() {
      const held = [...turning.values()]
      turning.clear()
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
