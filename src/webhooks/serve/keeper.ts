import { randomBytes } from 'node:crypto'
import { ClientError } from '../../client/client-error.ts'
import {
  type CreatedWebhook,
  LATE_MS,
  type ServiceClient,
  type Webhook,
} from '../../client/service-client.ts'
import { about, warningOf } from '../../ground/message-ids.ts'
import { REAL_TIME, type Time } from '../../http/clock.ts'
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
import { createKeeping, type Keeping } from './monitoring.ts'
import type { HookStore, StoredHook } from './store.ts'

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

export function createKeeper(tools: KeeperTools): Keeper {
  const keeping = createKeeping(tools.settings.collections, tools.store.hooks)
  /** The ids of webhooks whose deletion was answered and that are not in the store. */
  const deleted = new Set<string>()
  return {
    keeping,
    async round() {
      const client = tools.connect()
      try {
        await carryOutRound(client, keeping, deleted, tools)
      } finally {
        await client.close()
      }
    },
  }
}

async function carryOutRound(
  client: WebhookService,
  keeping: Keeping,
  deleted: Set<string>,
  { settings, store, log, scopesOf, onCreated }: KeeperTools,
): Promise<void> {
  let listed: readonly Webhook[] = []
  /** See `KeeperFacts`. */
  let remaining: ReadonlySet<string> = new Set()
  /** Collections for which this round has requested a webhook: once is enough. */
  const asked = new Set<string>()
  /** The webhooks of this round, which the list may not show yet. */
  const made: Webhook[] = []
  /** Whether a creation has failed: only the list says whether the webhook was created all the same. */
  let isInDoubt = false
  /** What a later round may do better. */
  let failure: ClientError | undefined
  // Each plan is made from a list that was just read: with an older one, and the time of now, it would forget what the list
  // does not show yet. The predecessor of a new webhook is deleted by a second plan, as it would be after a crash.
  do {
    isInDoubt = false
    await look()
  } while ((await carryOutPlan()) || isInDoubt)
  keeping.found(store.hooks, listed, client.now())
  if (failure !== undefined) throw failure

  /** Reads the service's list, without webhooks whose deletion was answered, because that is final. */
  async function look(): Promise<void> {
    const records = await all(client.webhooks.list())
    const answered = store.hooks.filter(({ deletedAt }) => deletedAt !== undefined)
    const gone = new Set([...deleted, ...answered.map(({ id }) => id)])
    const unseen = made.filter(({ id }) => !records.some((record) => record.id === id))
    const alive = [...records, ...unseen].filter((record) => !isDeleted(record))
    listed = alive.filter(({ id }) => !gone.has(id))
    remaining = new Set(alive.map(({ id }) => id).filter((id) => gone.has(id)))
  }

  /** Returns whether something was created. */
  async function carryOutPlan(): Promise<boolean> {
    const situation = { hooks: store.hooks, listed, remaining, now: client.now() }
    let isCreated = false
    for (const action of planKeeping(situation, settings)) {
      if (action.do === 'create') isCreated = (await create(action)) || isCreated
      else await tidy(action)
    }
    return isCreated
  }

  async function tidy(action: Exclude<KeeperAction, Creation>): Promise<void> {
    switch (action.do) {
      case 'warn':
        return keeping.warn(
          about(action.collection, action.warning),
          client.now(),
          log,
          action.about,
        )
      case 'forget':
        return store.replace(store.hooks.filter((hook) => hook !== action.hook))
      case 'delete':
        await remove(action.id)
        return log.info(`${action.collection}: deleted a webhook, because ${action.why}.`)
      case 'retire':
        return retire(action.hook, action.why)
    }
  }

  async function retire(hook: StoredHook, why: string): Promise<void> {
    const record = recordOf(hook, listed)
    const id = record?.id ?? hook.id
    let deletion = {}
    const at = client.now().toISOString()
    if (id !== undefined)
      try {
        // The list may leave out a webhook that delivers. If it is gone, the service may refuse to delete it.
        await remove(id)
        deletion = { id, deletedAt: at }
      } catch (error) {
        if (record !== undefined || !isRefused(error)) throw error
      }
    await change(hook, { ...hook, state: 'retiring', retiredAt: at, ...deletion })
    log.info(`${hook.collection}: retired a webhook, because ${why}.`)
  }

  /** Creates a webhook, and stores it before and after that. Returns whether it was created. */
  async function create(action: Creation): Promise<boolean> {
    const { collection, why, tries, failures } = action
    if (asked.has(collection)) return false
    asked.add(collection)
    const path = deliveryPath({ collection, nonce: randomBytes(16).toString('hex') })
    const destinationUrl = `${settings.publicUrl}${path}`
    const createdAt = client.now().toISOString()
    const hook = { collection, destinationUrl, createdAt, ...(tries > 0 && { tries }) }
    const creating: StoredHook = { ...hook, state: 'creating', ...(failures > 0 && { failures }) }
    await store.replace([...store.hooks, creating])
    let record: CreatedWebhook
    try {
      record = await requestWebhook(action, creating)
    } catch (error) {
      await notCreated(error, creating)
      return false
    }
    const { id, key } = record
    await change(creating, { ...hook, state: 'live', id, key })
    made.push(record)
    keeping.accepted(collection)
    log.info(`${collection}: created a webhook${why === undefined ? '' : `, because ${why}`}.`)
    onCreated(collection)
    return true
  }

  /** Some services allow one webhook per collection: deleting one that no longer delivers makes room. */
  async function requestWebhook(
    { over }: Creation,
    { collection: collectionName, destinationUrl }: StoredHook,
  ): Promise<CreatedWebhook> {
    const { webhooks } = client
    try {
      return await webhooks.create({ collectionName, destinationUrl })
    } catch (error) {
      const inTheWay = over.filter((hook) => recordOf(hook, listed) !== undefined)
      if (!mayBeInTheWay(error) || inTheWay.length === 0) throw error
      const why = 'it has ended, and the service accepts no second one beside it'
      for (const hook of inTheWay) await retire(hook, why)
      return webhooks.create({ collectionName, destinationUrl })
    }
  }

  /**
   * If the service has answered, continues without this collection. The store keeps the request, whatever the
   * answer was: if the webhook was created all the same, a plan deletes it.
   */
  async function notCreated(error: unknown, creating: StoredHook): Promise<void> {
    if (!(error instanceof ClientError)) throw error
    isInDoubt = true
    switch (causeOf(error)) {
      case 'unreachable':
        throw error
      case 'later':
        failure ??= error
        return
      case 'keyless':
        // A webhook without its key is useless, and the next one is created after an hour at the earliest.
        await look()
        await retire(creating, 'nobody has its key')
        return warnOfRefusal(error, creating.collection)
      case 'refused':
        return warnOfRefusal(error, creating.collection)
    }
  }

  function warnOfRefusal(error: ClientError, collection: string): void {
    const isForbidden = statusIs(error.status, 'permission')
    const scopes = isForbidden ? ` It needs the scopes ${scopesOf(collection).join(' and ')}.` : ''
    const hasOne = store.hooks.some(
      (hook) => hook.collection === collection && hook.state === 'live' && isUsed(hook),
    )
    const until = hasOne ? ' The old one is used until it expires.' : ''
    const text = `${collection}: the webhook could not be created. ${error.message}${scopes}${until}`
    keeping.refused(collection, text)
    keeping.warn(warningOf('webhook-not-created', text), client.now(), log)
  }

  async function remove(id: string): Promise<void> {
    await client.webhooks.remove(id)
    deleted.add(id)
    listed = listed.filter((record) => record.id !== id)
  }

  async function change(hook: StoredHook, changed: StoredHook): Promise<void> {
    await store.replace(store.hooks.map((one) => (one === hook ? changed : one)))
  }

  function isUsed(hook: StoredHook): boolean {
    return faultOf(hook, recordOf(hook, listed), client.now())?.isOver !== true
  }
}

/** Why there is no webhook that can be used. */
function causeOf(error: ClientError): 'refused' | 'later' | 'keyless' | 'unreachable' {
  const { status, mayHaveHappened, failure } = error
  if (status !== undefined) return statusIs(status, 'retryable') ? 'later' : 'refused'
  return mayHaveHappened && failure !== 'transient' ? 'keyless' : 'unreachable'
}

function isRefused(error: unknown): boolean {
  return error instanceof ClientError && causeOf(error) === 'refused'
}

/** The statuses with which a service may say that there is such a webhook already. */
function mayBeInTheWay(error: unknown): boolean {
  return error instanceof ClientError && [400, 409, 422].includes(error.status ?? 0)
}

/** How often to look for a webhook that may still be created. */
const LOOK_MS = 1000

/** What `unsubscribe` needs. */
interface UnsubscribeTools extends Pick<KeeperTools, 'connect' | 'log'> {
  readonly signal: AbortSignal
  readonly time?: Pick<Time, 'sleep'>
}

/**
 * Deletes the webhooks of the store at the service, whatever its list says, and those of the list with an address of the
 * store: they were created twice, or their keys did not reach the store. Webhooks of others stay. Waits for one that may
 * still be created. An entry leaves the store when its own deletion is answered; throws the first failure after all
 * others are deleted.
 */
export async function unsubscribe(
  store: KeeperTools['store'],
  { connect, log, signal, time = REAL_TIME }: UnsubscribeTools,
): Promise<void> {
  const client = connect()
  const failures: ClientError[] = []
  const failed = (error: unknown): undefined => {
    if (!(error instanceof ClientError)) throw error
    failures.push(error)
  }
  let [deleted, absent] = [0, 0]
  try {
    const look = () => all(client.webhooks.list()).catch(failed)
    const isMissing = (hook: StoredHook) => hook.id === undefined && !recordOf(hook, listed ?? [])
    let listed = await look()
    for (let left = LATE_MS; left > 0 && listed && store.hooks.some(isMissing); left -= LOOK_MS) {
      await time.sleep(LOOK_MS, signal)
      listed = await look()
    }
    // Where not even the list is found, nothing is known to be gone.
    const isLost = failures.some(({ status }) => statusIs(status, 'missing'))
    for (const hook of store.hooks) {
      const found = listed?.filter(({ destinationUrl }) => destinationUrl === hook.destinationUrl)
      const ids = new Set([
        ...(hook.id === undefined ? [] : [hook.id]),
        ...(found ?? []).map(({ id }) => id),
      ])
      // What was requested and has no id is in the list, or nowhere.
      let isOver = hook.id !== undefined || found !== undefined
      for (const id of ids) {
        const removal = await client.webhooks.remove(id).catch(failed)
        if (removal === 'deleted') deleted++
        else if (removal === 'absent' && !isLost) absent++
        else isOver = false
      }
      if (isOver) await store.replace(store.hooks.filter((one) => one !== hook))
    }
  } finally {
    await client.close()
  }
  const [failure] = failures
  const left =
    store.hooks.length === 0
      ? 'The store is empty.'
      : `The store has ${store.hooks.length} left: start --unsubscribe again.`
  log.info(`Deleted ${deleted} webhooks; ${absent} did not exist any more. ${left}`)
  if (failure !== undefined) throw failure
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
