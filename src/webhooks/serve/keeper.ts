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
  warn(text: string, now: Date, log: Log, about?: Webhook): void
}

const HOUR = 3_600_000

/** The status before the first round; its times are from the local clock. */
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

/** The part of the typed client that the keeper uses. */
export type WebhookService = Pick<ServiceClient, 'webhooks' | 'now' | 'close'>

export interface KeeperTools {
  readonly settings: KeeperSettings
  readonly store: Pick<HookStore, 'hooks' | 'replace'>
  /** A connection to the service for one round; its time is from its first answer. */
  readonly connect: () => WebhookService
  /** Called when a webhook is stored with its key. */
  readonly onCreated: (collection: string) => void
  readonly log: Log
  /** The scopes that a webhook of the collection needs, by their full names. */
  readonly scopesOf: (collection: string) => readonly string[]
}

/** Keeps one live webhook per collection at the service. */
export interface Keeper {
  /**
   * Checks the webhooks once and repairs what is wrong. If the service refuses one collection, the others
   * continue. Throws if the service cannot be reached, or the store cannot be written.
   */
  round(): Promise<void>
  /** The result of the last round. */
  readonly keeping: Keeping
}

/** The data of a round; its own actions update it. */
interface Round {
  readonly client: WebhookService
  listed: Webhook[]
  /** See `KeeperFacts`. */
  remaining: ReadonlySet<string>
  /** Collections for which this round has requested a webhook: once is enough. */
  readonly asked: Set<string>
  /**
   * Whether a creation has failed: only the list says whether the webhook was created all the same.
   */
  isInDoubt: boolean
  /** What a later round may do better. */
  failure: ClientError | undefined
}

export function createKeeper(tools: KeeperTools): Keeper {
  const { settings, store, log } = tools
  const keeping = createKeeping(settings.collections, store.hooks)
  /** The ids of webhooks whose deletion was answered and that are not in the store. */
  const deleted = new Set<string>()
  return { round, keeping }

  async function round(): Promise<void> {
    const client = tools.connect()
    try {
      const seen = await look(client)
      const view: Round = {
        ...{ client, ...seen, asked: new Set(), isInDoubt: false, failure: undefined },
      }
      // The predecessor is deleted by a second plan, as it would be after a crash.
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

  /** The service's list, without webhooks whose deletion was answered, because that is final. */
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

  /** Returns whether something was created. */
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

  /**
   * Some services allow one webhook per collection: deleting one that no longer delivers makes room.
   */
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
   * If the service has answered, continues without this collection. The store keeps the request, whatever the
   * answer was: if the webhook was created all the same, a plan deletes it.
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

  /**
   * A webhook without its key is useless, and the next one is created after an hour at the earliest.
   */
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

/** The statuses with which a service may say that there is such a webhook already. */
function mayBeInTheWay(error: unknown): boolean {
  return error instanceof ClientError && [400, 409, 422].includes(error.status ?? 0)
}

function isUsed(hook: StoredHook, { listed, client }: Round): boolean {
  return faultOf(hook, recordOf(hook, listed), client.now())?.isOver !== true
}

/**
 * Deletes all webhooks of the store at the service, and empties the store. Webhooks of others stay.
 */
export async function unsubscribe(
  store: KeeperTools['store'],
  { connect, log }: Pick<KeeperTools, 'connect' | 'log'>,
): Promise<void> {
  const client = connect()
  try {
    const listed = await all(client.webhooks.list())
    // Including those that were created twice, or whose keys did not reach the store.
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
