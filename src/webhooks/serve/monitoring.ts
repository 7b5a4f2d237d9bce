import type { Webhook } from '../../client/service-client.ts'
import type { IdentifiedMessage } from '../../ground/message-ids.ts'
import { type MetricHead, metricText } from '../../ground/prometheus.ts'
import type { Log } from '../../protocol/connector.ts'
import type { Page } from '../receive/receiver.ts'
import { faultOf, recordOf } from './keeper-plan.ts'
import type { StoredHook } from './store.ts'
import { REASONS, type Reason, type Schedule, type SyncResult } from './sync-scheduler.ts'

/** The counters since the start, for the pages. */
export interface Activity {
  readonly notifications: Map<Reason, number>
  readonly triggers: Map<SyncResult, number>
  /** Verified deliveries by collection. */
  readonly lastDelivery: Map<string, Date>
  /** When the last successful sync started. */
  lastSync: Date | undefined
}

export function createActivity(): Activity {
  return {
    notifications: new Map(),
    triggers: new Map(),
    lastDelivery: new Map(),
    lastSync: undefined,
  }
}

/** Counts one more. */
export function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The subscription of a collection. */
interface Subscription {
  /**
   * The service's status; `Missing` without a webhook, `Refused` if none may be created, `Unknown` before the
   * first round.
   */
  readonly status: string
  readonly validUntil?: Date
  /** The problem as text. */
  readonly reason?: string
  /** Since when no delivery can be expected, by the service's clock. */
  readonly lackingSince?: Date
}

/** What the keeper knows about each collection, readable between its rounds. */
export interface Keeping {
  readonly subscriptions: ReadonlyMap<string, Subscription>
  /** The service's time; the local time before the first round. */
  now(): Date
  /** Failed rounds since the last successful one. */
  failures: number
  found(hooks: readonly StoredHook[], listed: readonly Webhook[], now: Date): void
  refused(collection: string, reason: string): void
  accepted(collection: string): void
  /** Repeats a message at most once per hour; for a webhook only when it has changed or is gone. */
  warn(warning: IdentifiedMessage, now: Date, log: Log, about?: Webhook): void
}

const HOUR = 3_600_000

/** The status before the first round; its times are from the local clock. */
const UNKNOWN = 'Unknown'

/** Creates what is known before the first round, from the store. */
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
  /** The state of each webhook when it was reported, by id. */
  const told = new Map<string, string>()
  return {
    failures: 0,
    get subscriptions() {
      return subscriptions
    },
    now: () => new Date(clock.time + monotonic() - clock.at),
    found(hooks, listed, now) {
      clock = { time: now.getTime(), at: monotonic() }
      const present = new Map(listed.map((record) => [record.id, JSON.stringify(record)]))
      for (const [id, facts] of told) if (present.get(id) !== facts) told.delete(id)
      subscriptions = new Map(
        collections.map((name) => [name, subscription(name, hooks, listed, now)]),
      )
    },
    refused: (collection, reason) => void refusals.set(collection, reason),
    accepted: (collection) => void refusals.delete(collection),
    warn(warning, now, log, about) {
      if (about !== undefined) {
        if (!told.has(about.id)) log.warn(warning)
        return void told.set(about.id, JSON.stringify(about))
      }
      const before = warned.get(warning.message)
      if (before !== undefined && now.getTime() - before < HOUR) return
      for (const [old, at] of warned) if (now.getTime() - at >= HOUR) warned.delete(old)
      warned.set(warning.message, now.getTime())
      log.warn(warning)
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
    return { ...facts, reason: fault.why, ...(fault.isOver ? { lackingSince } : {}) }
  }
}

/** The data of the pages. */
export interface Facts {
  readonly keeping: Pick<Keeping, 'subscriptions' | 'now' | 'failures'>
  readonly schedule: Schedule
  /** How long the oldest change has been waiting for a sync, and how long it may. */
  readonly waitingMs: number
  readonly patienceMs: number
  readonly activity: Activity
  /** Answers of the receiver by status code. */
  readonly deliveries: ReadonlyMap<number, number>
}

/** `/healthz`: 503 if a collection has had no usable webhook for an hour, or a change waits too long for its sync. */
export function healthPage({
  keeping,
  schedule,
  waitingMs,
  patienceMs,
  activity,
}: Facts): ReturnType<Page> {
  const { subscriptions, failures: keeperFailures } = keeping
  const anHourAgo = keeping.now().getTime() - HOUR
  const isLacking = [...subscriptions.values()].some(({ lackingSince, validUntil }) => {
    const since = lackingSince ?? validUntil
    return since !== undefined && since.getTime() <= anHourAgo
  })
  const collections = Object.fromEntries(
    [...subscriptions].map(([name, { status, validUntil, reason }]) => [
      name,
      {
        status,
        validUntil: validUntil?.toISOString() ?? null,
        lastDelivery: activity.lastDelivery.get(name)?.toISOString() ?? null,
        ...(reason === undefined ? {} : { reason }),
      },
    ]),
  )
  return {
    status: isLacking || waitingMs > patienceMs ? 503 : 200,
    contentType: 'application/json',
    body: `${JSON.stringify({
      collections,
      lastSync: activity.lastSync?.toISOString() ?? null,
      oldestWaitingSeconds: Math.round(waitingMs / 1000),
      failures: schedule.failures,
      keeperFailures,
      running: schedule.running?.collections ?? [],
      waiting: schedule.waiting?.collections ?? [],
      postponed: schedule.postponed?.collections ?? [],
    })}\n`,
  }
}

interface Metric extends MetricHead {
  /** Values by the value of the label; without a label the key is an empty text. */
  readonly label?: string
  values(facts: Facts): Iterable<readonly [string | number, number]>
}

/** Every metric of `GET /metrics`. */
const METRICS: readonly Metric[] = [
  {
    name: 'protime_webhook_deliveries_total',
    type: 'counter',
    help: 'Requests to the receiver, by the status code of the response.',
    label: 'code',
    values: ({ deliveries }) => [...zeros([200, 401]), ...deliveries],
  },
  {
    name: 'protime_webhook_notifications_total',
    type: 'counter',
    help: 'Reasons for a sync: the start, renewals of webhooks, verified deliveries.',
    label: 'reason',
    values: ({ activity }) => [...zeros(REASONS), ...activity.notifications],
  },
  {
    name: 'protime_webhook_triggers_total',
    type: 'counter',
    help: 'Requested syncs, by how they ended.',
    label: 'result',
    values: ({ activity }) => [
      ...zeros(['done', 'failed', 'busy', 'cancelled']),
      ...activity.triggers,
    ],
  },
  {
    name: 'protime_webhook_failures',
    type: 'gauge',
    help: 'Syncs that failed since the last successful one.',
    values: ({ schedule }) => [['', schedule.failures]],
  },
  {
    name: 'protime_webhook_waiting_collections',
    type: 'gauge',
    help: 'Collections that wait for a sync.',
    values: ({ schedule }) => [['', schedule.waiting?.collections.length ?? 0]],
  },
  {
    name: 'protime_webhook_oldest_waiting_seconds',
    type: 'gauge',
    help: 'How long the oldest change has been waiting for the end of a successful sync; 0 when none waits.',
    values: ({ waitingMs }) => [['', waitingMs / 1000]],
  },
  {
    name: 'protime_webhook_last_sync_timestamp_seconds',
    type: 'gauge',
    help: 'When the last successful sync began.',
    values: ({ activity: { lastSync } }) =>
      lastSync === undefined ? [] : [['', lastSync.getTime() / 1000]],
  },
  {
    name: 'protime_webhook_validity_seconds',
    type: 'gauge',
    help: 'How long the webhook of a collection is still valid; 0 when it cannot be used.',
    label: 'collection',
    values: ({ keeping }) =>
      [...keeping.subscriptions].flatMap(([name, { validUntil, lackingSince }]) => {
        if (lackingSince !== undefined) return [[name, 0] as const]
        if (validUntil === undefined) return []
        const left = validUntil.getTime() - keeping.now().getTime()
        return [[name, Math.max(0, left / 1000)] as const]
      }),
  },
  {
    name: 'protime_webhook_keeper_failures',
    type: 'gauge',
    help: 'Checks of the webhooks that failed since the last successful check.',
    values: ({ keeping }) => [['', keeping.failures]],
  },
]

/** Values that exist before anything is counted, so that rates start at 0. */
function zeros<T extends string | number>(keys: readonly T[]): [T, number][] {
  return keys.map((key) => [key, 0])
}

/** `/metrics`, in the text format of Prometheus. */
export function metricsPage(facts: Facts): ReturnType<Page> {
  const metrics = METRICS.map(({ name, type, help, label, values }) => {
    const samples = [...new Map(values(facts))]
    return metricText(
      { name, type, help },
      samples.map(([key, value]) => [label === undefined ? {} : { [label]: String(key) }, value]),
    )
  })
  return {
    status: 200,
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    body: metrics.join(''),
  }
}
