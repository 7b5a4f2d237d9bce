import { randomBytes } from 'node:crypto'
import { ClientError } from '../../client/client-error.ts'
import type { CreatedWebhook, ServiceClient, Webhook } from '../../client/service-client.ts'
import { statusIs } from '../../http/status.ts'
import type { Log } from '../../protocol/connector.ts'
import { deliveryPath } from '../receive/delivery.ts'
import {
  type Creation,
  faultOf,
  isDeleted,
  type KeeperAction,
  type KeeperSettings,
  planKeeping,
  recordOf,
} from './keeper-plan.ts'
import type { HookStore, StoredHook } from './store.ts'

/** How a collection is subscribed. */
interface Subscription {
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
  /** Says the same at most once per hour; of a webhook once, until it is gone or has changed. */
  warn(text: string, now: Date, log: Log, about?: Webhook): void
}

const HOUR = 3_600_000

/** The status before the first round, whose times are of the local clock. */
const UNKNOWN = 'Unknown'

function createKeeping(
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
  /** What webhooks were like when they were told of, by id. */
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
    warn(text, now, log, about) {
      if (about !== undefined) {
        if (!told.has(about.id)) log.warn(text)
        return void told.set(about.id, JSON.stringify(about))
      }
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
    return { ...facts, reason: fault.why, ...(fault.isOver ? { lackingSince } : {}) }
  }
}

/** What the keeper uses of the typed client. */
export type WebhookService = Pick<ServiceClient, 'webhooks' | 'now' | 'close'>

export interface KeeperTools {
  readonly settings: KeeperSettings
  readonly store: Pick<HookStore, 'hooks' | 'replace'>
  /** A connection to the service for one round: its time is that of its first answer. */
  readonly connect: () => WebhookService
  /** Called when a webhook has its key and is stored. */
  readonly onCreated: (collection: string) => void
  readonly log: Log
  /** Which scopes a webhook of the collection needs, by their full names. */
  readonly scopesOf: (collection: string) => readonly string[]
}

/** Keeps one live webhook per collection at the service. */
export interface Keeper {
  /**
   * Looks at the webhooks once and mends what is wrong. What is refused for one collection leaves the
   * others alone; throws when the service cannot be asked, or the store not be written.
   */
  round(): Promise<void>
  /** What the last round has found. */
  readonly keeping: Keeping
}

/** A round's view, which its own actions bring up to date. */
interface Round {
  readonly client: WebhookService
  listed: Webhook[]
  /** See `KeeperFacts`. */
  remaining: ReadonlySet<string>
  /** Collections whose webhook was asked for in this round: once is enough. */
  readonly asked: Set<string>
  /** Whether a creation was answered by a failure: the list says whether it was made all the same. */
  isInDoubt: boolean
  /** What a later round may do better. */
  failure: ClientError | undefined
}

export function createKeeper(tools: KeeperTools): Keeper {
  const { settings, store, log } = tools
  const keeping = createKeeping(settings.collections, store.hooks)
  /** The ids of webhooks whose deletion was answered, and that the store does not hold. */
  const deleted = new Set<string>()
  return { round, keeping }

  async function round(): Promise<void> {
    const client = tools.connect()
    try {
      const seen = await look(client)
      const view: Round = {
        ...{ client, ...seen, asked: new Set(), isInDoubt: false, failure: undefined },
      }
      // A successor's predecessor is deleted by a second plan, as it would be after a crash.
      while (await carryOut(view)) {}
      if (view.isInDoubt) {
        Object.assign(view, await look(client))
        await carryOut(view)
      }
      keeping.found(store.hooks, view.listed, client.now())
      if (view.failure !== undefined) throw view.failure
    } finally {
      await client.close()
    }
  }

  /** What the service lists; a deletion that was answered is final, whatever the list says. */
  async function look(client: WebhookService): Promise<Pick<Round, 'listed' | 'remaining'>> {
    const records = await all(client.webhooks.list())
    const answered = store.hooks.filter(({ deletedAt }) => deletedAt !== undefined)
    const gone = new Set([...deleted, ...answered.map(({ id }) => id)])
    const alive = records.filter((record) => !isDeleted(record))
    return {
      listed: alive.filter(({ id }) => !gone.has(id)),
      remaining: new Set(alive.map(({ id }) => id).filter((id) => gone.has(id))),
    }
  }

  /** Answers whether something was created. */
  async function carryOut(view: Round): Promise<boolean> {
    const { listed, remaining, client } = view
    const situation = { hooks: store.hooks, listed, remaining, now: client.now() }
    const plan = planKeeping(situation, settings)
    let isCreated = false
    for (const action of plan) {
      if (action.do === 'create') isCreated = (await create(action, view)) || isCreated
      else await tidy(action, view)
    }
    return isCreated
  }

  async function tidy(action: Exclude<KeeperAction, { do: 'create' }>, view: Round): Promise<void> {
    const now = view.client.now()
    if (action.do === 'warn') {
      keeping.warn(`${action.collection}: ${action.text}`, now, log, action.about)
    } else if (action.do === 'forget') {
      await store.replace(store.hooks.filter((hook) => hook !== action.hook))
    } else if (action.do === 'delete') {
      await remove(action.id, view)
      log.info(`${action.collection}: deleted a webhook, because ${action.why}.`)
    } else {
      await retire(action.hook, action.why, view)
    }
  }

  async function retire(hook: StoredHook, why: string, view: Round): Promise<void> {
    const record = recordOf(hook, view.listed)
    if (record !== undefined) await remove(record.id, view)
    const at = view.client.now().toISOString()
    const deletion = record === undefined ? {} : { id: record.id, deletedAt: at }
    await change(hook, { ...hook, state: 'retiring', retiredAt: at, ...deletion })
    log.info(`${hook.collection}: retired a webhook, because ${why}.`)
  }

  async function create(action: Creation, view: Round): Promise<boolean> {
    const { collection, why, tries, failures } = action
    const { client, asked } = view
    if (asked.has(collection)) return false
    asked.add(collection)
    const path = deliveryPath({ collection, nonce: randomBytes(16).toString('hex') })
    const destinationUrl = `${settings.publicUrl}${path}`
    const createdAt = client.now().toISOString()
    const hook = { collection, destinationUrl, createdAt, ...(tries > 0 && { tries }) }
    const creating: StoredHook = { ...hook, state: 'creating', ...(failures > 0 && { failures }) }
    await store.replace([...store.hooks, creating])
    const record = await made(action, creating, view).catch((error: unknown) =>
      refused(error, creating, view),
    )
    if (record === undefined) return false
    const { id, key, validUntil } = record
    const until = validUntil === undefined ? {} : { validUntil: validUntil.toISOString() }
    await change(creating, { ...hook, state: 'live', id, key, ...until })
    view.listed.push(record)
    keeping.accepted(collection)
    log.info(`${collection}: created a webhook${why === undefined ? '' : `, because ${why}`}.`)
    tools.onCreated(collection)
    return true
  }

  /** Some services take one webhook per collection: one that delivers nothing any more makes room then. */
  async function made(
    { over }: Creation,
    { collection: collectionName, destinationUrl }: StoredHook,
    view: Round,
  ): Promise<CreatedWebhook> {
    const { webhooks } = view.client
    try {
      return await webhooks.create({ collectionName, destinationUrl })
    } catch (error) {
      const inTheWay = over.filter((hook) => recordOf(hook, view.listed) !== undefined)
      if (!mayBeInTheWay(error) || inTheWay.length === 0) throw error
      const why = 'it has ended, and the service accepts no second one beside it'
      for (const hook of inTheWay) await retire(hook, why, view)
      return webhooks.create({ collectionName, destinationUrl })
    }
  }

  /**
   * Goes on without this collection where the service has answered. The store keeps what was asked for, whatever the
   * answer says: where it was made all the same, a plan deletes it.
   */
  async function refused(error: unknown, creating: StoredHook, view: Round): Promise<undefined> {
    if (!(error instanceof ClientError)) throw error
    view.isInDoubt = true
    const { collection } = creating
    const isKeyless =
      error.mayHaveHappened && error.status === undefined && error.failure !== 'transient'
    if (isKeyless) await removeKeyless(creating, view)
    else if (error.status === undefined) throw error
    else if (statusIs(error.status, 'retryable')) {
      view.failure ??= error
      return
    }
    const isForbidden = statusIs(error.status, 'permission')
    const remedy = isForbidden
      ? ` It needs the scopes ${tools.scopesOf(collection).join(' and ')}.`
      : ''
    const hasOne = store.hooks.some(
      (hook) => hook.collection === collection && hook.state === 'live' && isUsed(hook, view),
    )
    const until = hasOne ? ' The old one is used until it expires.' : ''
    const sentence = `${collection}: the webhook could not be created. ${error.message}${remedy}${until}`
    keeping.refused(collection, sentence)
    keeping.warn(sentence, view.client.now(), log)
  }

  /** Whoever does not know its key cannot use a webhook, and the next one is not made before an hour is over. */
  async function removeKeyless(creating: StoredHook, view: Round): Promise<void> {
    Object.assign(view, await look(view.client))
    await retire(creating, 'nobody has its key', view)
  }

  async function remove(id: string, view: Round): Promise<void> {
    await view.client.webhooks.remove(id)
    deleted.add(id)
    view.listed = view.listed.filter((record) => record.id !== id)
  }

  async function change(hook: StoredHook, changed: StoredHook): Promise<void> {
    await store.replace(store.hooks.map((one) => (one === hook ? changed : one)))
  }
}

/** The statuses by which a service may say that there is such a webhook already. */
function mayBeInTheWay(error: unknown): boolean {
  return error instanceof ClientError && [400, 409, 422].includes(error.status ?? 0)
}

function isUsed(hook: StoredHook, { listed, client }: Round): boolean {
  return faultOf(hook, recordOf(hook, listed), client.now())?.isOver !== true
}

/** Deletes all webhooks of the store at the service, and empties it. Those of others are left alone. */
export async function unsubscribe(
  store: KeeperTools['store'],
  { connect, log }: Pick<KeeperTools, 'connect' | 'log'>,
): Promise<void> {
  const client = connect()
  try {
    const listed = await all(client.webhooks.list())
    // Also those that were made twice, or without their keys reaching the store.
    const addresses = new Set(store.hooks.map(({ destinationUrl }) => destinationUrl))
    const ids = new Set(store.hooks.map(({ id }) => id))
    const ours = listed.filter((one) => ids.has(one.id) || addresses.has(one.destinationUrl))
    for (const { id } of ours) await client.webhooks.remove(id)
    await store.replace([])
    log.info(`Deleted ${ours.length} webhooks. The store is empty.`)
  } finally {
    await client.close()
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
