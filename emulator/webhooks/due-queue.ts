import type { Delivery } from './delivery.ts'

/** Deliveries in the order of their due times; of equal ones, the one that was raised first. */
export interface DueQueue {
  add(delivery: Delivery, due: number): void
  /** The due time of the first one. */
  next(): number | undefined
  /** Removes and returns the first one if it is due at this time. */
  take(time: number): Delivery | undefined
  /** Whether one with a number up to `last` is due at this time. */
  hasDue(time: number, last: number): boolean
  /** Removes and returns all that match. */
  removeAll(matches: (delivery: Delivery) => boolean): Delivery[]
}

/** Starts empty. */
export function createDueQueue(): DueQueue {
  let queue: Delivery[] = []
  return {
    add(delivery, due) {
      delivery.due = due
      queue.splice(placeOf(queue, delivery), 0, delivery)
    },
    next: () => queue[0]?.due,
    take(time) {
      const [first] = queue
      if (!first || dueOf(first) > time) return undefined
      queue.shift()
      first.due = undefined
      return first
    },
    hasDue(time, last) {
      for (const delivery of queue) {
        if (dueOf(delivery) > time) return false
        if (delivery.number <= last) return true
      }
      return false
    },
    removeAll(matches) {
      const removed = queue.filter(matches)
      queue = queue.filter((delivery) => !matches(delivery))
      for (const delivery of removed) delivery.due = undefined
      return removed
    },
  }
}

function dueOf({ due }: Delivery): number {
  return due ?? 0
}

function placeOf(queue: readonly Delivery[], delivery: Delivery): number {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >> 1
    const other = queue[middle] as Delivery
    const later = dueOf(other) - dueOf(delivery) || other.number - delivery.number
    if (later < 0) low = middle + 1
    else high = middle
  }
  return low
}
