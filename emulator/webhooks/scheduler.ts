import { type Clock, msOf, type Span } from '../clock.ts'
import type { Delivery } from './delivery.ts'
import { createDueQueue, type DueQueue } from './due-queue.ts'

/** Attempts deliveries when they are due on the virtual clock, several at once. */
export interface Scheduler extends Pick<DueQueue, 'add' | 'removeAll'> {
  /** Starts what is due; for when the clock was moved. */
  wake(): void
  /**
   * Lets virtual time pass, and stops at each moment at which a delivery is due until its attempt has
   * ended. Attempts that become due are made one by one, in the order of their due times.
   */
  elapse(by: Span): Promise<void>
  /** Ends all timers: nothing is started any more. */
  close(): void
}

const longestTimer = 1_000_000_000

/** What a scheduler is made of. */
export interface SchedulerParts {
  readonly clock: Clock
  /** How many deliveries are attempted at once. */
  limit(): number
  /** The number of the newest delivery, whether it was added or not. */
  newest(): number
  attempt(delivery: Delivery): Promise<void>
}

/** Starts without deliveries. */
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
  // Later, so that a change of the tenant never waits for its deliveries.
  const wake = () => {
    if (isWoken) return
    isWoken = true
    setImmediate(() => {
      isWoken = false
      startDue()
    })
  }
  /** Resolves when all that is due now was attempted; newer deliveries are not waited for. */
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
