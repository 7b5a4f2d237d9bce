import type { Reason } from './schedule.ts'
import type { Outcome } from './triggers/trigger.ts'

/** What has happened since the start, for the pages. */
export interface Activity {
  readonly notifications: ReadonlyMap<Reason, number>
  readonly triggers: ReadonlyMap<Outcome['result'], number>
  /** Of verified deliveries, by collection. */
  readonly lastDelivery: ReadonlyMap<string, Date>
  /** When the last good sync began. */
  readonly lastSync: Date | undefined
  notified(collections: readonly string[], reason: Reason): void
  triggered(result: Outcome['result'], beganAt: Date): void
}

export function createActivity(now: () => Date = () => new Date()): Activity {
  const notifications = new Map<Reason, number>()
  const triggers = new Map<Outcome['result'], number>()
  const lastDelivery = new Map<string, Date>()
  let lastSync: Date | undefined
  return {
    notifications,
    triggers,
    lastDelivery,
    get lastSync() {
      return lastSync
    },
    notified(collections, reason) {
      notifications.set(reason, (notifications.get(reason) ?? 0) + 1)
      if (reason === 'delivery') for (const name of collections) lastDelivery.set(name, now())
    },
    triggered(result, beganAt) {
      triggers.set(result, (triggers.get(result) ?? 0) + 1)
      if (result === 'done') lastSync = beganAt
    },
  }
}
