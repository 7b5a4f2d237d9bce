import type { Webhook } from '../../client/service-client.ts'
import type { Log } from '../../protocol/connector.ts'
import { faultOf, recordOf } from './keeper-plan.ts'
import type { StoredHook } from './store.ts'

/** How a collection is subscribed. */
export interface Subscription {
  /** The service's word, `Missing` without a webhook, `Refused` where none may be made, `Unknown` before the first round. */
  readonly status: string
  readonly validUntil?: Date
  /** What is wrong, in words. */
  readonly reason?: string
  /** Since when no delivery can be expected, by the service's clock. */
  readonly lackingSince?: Date
}

/** What the keeper knows of each collection, for those who ask between its rounds. */
export interface Keeping {
  readonly subscriptions: ReadonlyMap<string, Subscription>
  /** The service's time, the local one before the first round. */
  now(): Date
  /** Rounds that failed since the last good one. */
  failures: number
  found(hooks: readonly StoredHook[], listed: readonly Webhook[], now: Date): void
  refused(collection: string, reason: string): void
  accepted(collection: string): void
  /** Says the same at most once per hour. */
  warn(text: string, now: Date, log: Log): void
}

const HOUR = 3_600_000

/** The status before the first round, whose times are of the local clock. */
const UNKNOWN = 'Unknown'

export function createKeeping(
  collections: readonly string[],
  hooks: readonly StoredHook[],
  monotonic: () => number = () => performance.now(),
): Keeping {
  let clock = { time: Date.now(), at: monotonic() }
  let subscriptions = new Map<string, Subscription>(
    collections.map((name) => {
      const isLive = hooks.some(({ collection, state }) => collection === name && state === 'live')
      const lacking = isLive ? {} : { lackingSince: new Date(clock.time) }
      return [name, { status: UNKNOWN, ...lacking }]
    }),
  )
  const refusals = new Map<string, string>()
  const warned = new Map<string, number>()
  return {
    failures: 0,
    get subscriptions() {
      return subscriptions
    },
    now: () => new Date(clock.time + monotonic() - clock.at),
    found(hooks, listed, now) {
      clock = { time: now.getTime(), at: monotonic() }
      subscriptions = new Map(
        collections.map((name) => [name, subscription(name, hooks, listed, now)]),
      )
    },
    refused: (collection, reason) => void refusals.set(collection, reason),
    accepted: (collection) => void refusals.delete(collection),
    warn(text, now, log) {
      const before = warned.get(text)
      if (before !== undefined && now.getTime() - before < HOUR) return
      for (const [old, at] of warned) if (now.getTime() - at >= HOUR) warned.delete(old)
      warned.set(text, now.getTime())
      log.warn(text)
    },
  }

  function subscription(
    name: string,
    hooks: readonly StoredHook[],
    listed: readonly Webhook[],
    now: Date,
  ): Subscription {
    const hook = hooks.findLast(({ collection, state }) => collection === name && state === 'live')
    const record = hook && recordOf(hook, listed)
    const before = subscriptions.get(name)
    const lackingSince = (before?.status === UNKNOWN ? undefined : before?.lackingSince) ?? now
    if (hook === undefined || record === undefined) {
      const reason = refusals.get(name)
      if (reason !== undefined) return { status: 'Refused', reason, lackingSince }
      return { status: 'Missing', lackingSince }
    }
    const { status, validUntil } = record
    const facts = { status, ...(validUntil === undefined ? {} : { validUntil }) }
    const fault = faultOf(hook, record, now)
    if (fault === undefined) return facts
    // What only expires soon still delivers.
    const isOver = status.toLowerCase() !== 'enabled' || (validUntil && validUntil <= now)
    return { ...facts, reason: fault, ...(isOver ? { lackingSince } : {}) }
  }
}
