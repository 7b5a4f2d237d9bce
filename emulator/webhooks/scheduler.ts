import { type Clock, msOf, type Span } from '../clock.ts'
import type { Delivery } from './delivery.ts'

/** Deliveries in the order of their due times; of equal ones, the one that was raised first. */
interface DueQueue {
  add(delivery: Delivery, due: number): void
  /** The due time of the first one. */
  next(): number | undefined
  /** Removes and returns the first one if it is due at this time. */
  take(time: number): Delivery | undefined
  /** Whether a delivery with a number up to `last` is due at this time. */
  hasDue(time: number, last: number): boolean
  /** Removes and returns all that match. */
  removeAll(matches: (delivery: Delivery) => boolean): Delivery[]
}

/** Creates an empty queue. */
function createDueQueue(): DueQueue {
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

/** Attempts deliveries when they are due on the virtual clock, several at once. */
export interface Scheduler extends Pick<DueQueue, 'add' | 'removeAll'> {
  /** Starts the deliveries that are due; has to be called when the clock was moved. */
  wake(): void
  /**
   * Lets virtual time pass. At each moment at which a delivery is due, the clock stops until the attempt has ended.
   * Attempts are made one by one, in the order of their due times.
   */
  elapse(by: Span): Promise<void>
  /** Ends all timers; nothing is started afterwards. */
  close(): void
}

const longestTimer = 1_000_000_000

/** What a scheduler needs. */
export interface SchedulerParts {
  readonly clock: Clock
  /** How many deliveries are attempted at once. */
  limit(): number
  /** The number of the newest delivery, even if it has not been added to the queue. */
  newest(): number
  attempt(delivery: Delivery): Promise<void>
}

/** Creates a scheduler without deliveries. */
export function createScheduler({ clock, limit, newest, attempt }: SchedulerParts): Scheduler {
  const queue = createDueQueue()
  const active = new Map<Promise<void>, number>()
  let timer: NodeJS.Timeout | undefined
  let isWoken = false
  let isStepping = false
  let isClosed = false
  let elapsing = Promise.resolve()
  const time = () => clock.now().getTime()

  const start = (delivery: Delivery) => {
    const running = attempt(delivery).finally(() => {
      active.delete(running)
      startDue()
    })
    active.set(running, delivery.number)
  }
  const startDue = () => {
    clearTimeout(timer)
    const most = isStepping ? 1 : limit()
    while (!isClosed && active.size < most) {
      const delivery = queue.take(time())
      if (!delivery) break
      start(delivery)
    }
    const next = queue.next()
    if (isClosed || next === undefined || active.size >= most) return
    timer = setTimeout(startDue, Math.min(next - time(), longestTimer)).unref()
  }
  // Delayed, so that a change of the tenant never waits for its deliveries.
  const wake = () => {
    if (isWoken) return
    isWoken = true
    setImmediate(() => {
      isWoken = false
      startDue()
    })
  }
  /** Resolves when everything that is due now was attempted; does not wait for newer deliveries. */
  const settle = async () => {
    const last = newest()
    const isUnderWay = () => [...active.values()].some((number) => number <= last)
    while (!isClosed && (isUnderWay() || queue.hasDue(time(), last))) {
      startDue()
      await Promise.race(active.keys())
    }
  }
  const step = async (by: Span) => {
    const target = time() + msOf(by)
    await settle()
    isStepping = true
    for (let due = queue.next(); due !== undefined && due <= target; due = queue.next()) {
      if (isClosed) break
      clock.moveTo(due)
      await settle()
    }
    clock.moveTo(target)
    await settle()
    isStepping = false
    wake()
  }

  return {
    add(delivery, due) {
      queue.add(delivery, due)
      wake()
    },
    removeAll: queue.removeAll,
    wake,
    elapse(by) {
      elapsing = elapsing.then(() => step(by))
      return elapsing
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
