import { randomBytes } from 'node:crypto'
import { ClientError } from '../../client/client-error.ts'
import type { CreatedWebhook, ServiceClient, Webhook } from '../../client/service-client.ts'
import { about, warningOf } from '../../ground/message-ids.ts'
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

/** What the rounds of a keeper share. */
interface Memory extends KeeperTools {
  readonly keeping: Keeping
  /** The ids of webhooks whose deletion was answered and that are not in the store. */
  readonly deleted: Set<string>
}

/** The data of a round; its own actions update it. */
interface Round extends Memory {
  readonly client: WebhookService
  listed: readonly Webhook[]
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
  const keeping = createKeeping(tools.settings.collections, tools.store.hooks)
  const memory: Memory = { ...tools, keeping, deleted: new Set() }
  return {
    keeping,
    async round() {
      const client = tools.connect()
      try {
        await carryOutRound(await beginRound(client, memory))
      } finally {
        await client.close()
      }
    },
  }
}

async function beginRound(client: WebhookService, memory: Memory): Promise<Round> {
  const seen = await look(client, memory)
  return { ...memory, client, ...seen, asked: new Set(), isInDoubt: false, failure: undefined }
}

async function carryOutRound(round: Round): Promise<void> {
  // The predecessor is deleted by a second plan, as it would be after a crash.
  while (await carryOutPlan(round)) {}
  if (round.isInDoubt) {
    await lookAgain(round)
    await carryOutPlan(round)
  }
  round.keeping.found(round.store.hooks, round.listed, round.client.now())
  if (round.failure !== undefined) throw round.failure
}

/** The service's list, without webhooks whose deletion was answered, because that is final. */
async function look(
  client: WebhookService,
  { store, deleted }: Memory,
): Promise<Pick<Round, 'listed' | 'remaining'>> {
  const records = await all(client.webhooks.list())
  const answered = store.hooks.filter(({ deletedAt }) => deletedAt !== undefined)
  const gone = new Set([...deleted, ...answered.map(({ id }) => id)])
  const alive = records.filter((record) => !isDeleted(record))
  return {
    listed: alive.filter(({ id }) => !gone.has(id)),
    remaining: new Set(alive.map(({ id }) => id).filter((id) => gone.has(id))),
  }
}

async function lookAgain(round: Round): Promise<void> {
  Object.assign(round, await look(round.client, round))
}

/** Returns whether something was created. */
async function carryOutPlan(round: Round): Promise<boolean> {
  const { store, settings, listed, remaining, client } = round
  const situation = { hooks: store.hooks, listed, remaining, now: client.now() }
  let isCreated = false
  for (const action of planKeeping(situation, settings)) {
    if (action.do === 'create') isCreated = (await create(action, round)) || isCreated
    else await tidy(action, round)
  }
  return isCreated
}

async function tidy(action: Exclude<KeeperAction, Creation>, round: Round): Promise<void> {
  const { store, keeping, client, log } = round
  switch (action.do) {
    case 'warn':
      return keeping.warn(about(action.collection, action.warning), client.now(), log, action.about)
    case 'forget':
      return store.replace(store.hooks.filter((hook) => hook !== action.hook))
    case 'delete':
      await remove(action.id, round)
      return log.info(`${action.collection}: deleted a webhook, because ${action.why}.`)
    case 'retire':
      return retire(action.hook, action.why, round)
  }
}

async function retire(hook: StoredHook, why: string, round: Round): Promise<void> {
  const record = recordOf(hook, round.listed)
  if (record !== undefined) await remove(record.id, round)
  const at = round.client.now().toISOString()
  const deletion = record === undefined ? {} : { id: record.id, deletedAt: at }
  await change(hook, { ...hook, state: 'retiring', retiredAt: at, ...deletion }, round)
  round.log.info(`${hook.collection}: retired a webhook, because ${why}.`)
}

/** Creates a webhook, and stores it before and after that. Returns whether it was created. */
async function create(action: Creation, round: Round): Promise<boolean> {
  const { collection, why, tries, failures } = action
  const { settings, store, keeping, client, asked } = round
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
    record = await requestWebhook(action, creating, round)
  } catch (error) {
    await notCreated(error, creating, round)
    return false
  }
  const { id, key, validUntil } = record
  const until = validUntil === undefined ? {} : { validUntil: validUntil.toISOString() }
  await change(creating, { ...hook, state: 'live', id, key, ...until }, round)
  round.listed = [...round.listed, record]
  keeping.accepted(collection)
  round.log.info(`${collection}: created a webhook${why === undefined ? '' : `, because ${why}`}.`)
  round.onCreated(collection)
  return true
}

/**
 * Some services allow one webhook per collection: deleting one that no longer delivers makes room.
 */
async function requestWebhook(
  { over }: Creation,
  { collection: collectionName, destinationUrl }: StoredHook,
  round: Round,
): Promise<CreatedWebhook> {
  const { webhooks } = round.client
  try {
    return await webhooks.create({ collectionName, destinationUrl })
  } catch (error) {
    const inTheWay = over.filter((hook) => recordOf(hook, round.listed) !== undefined)
    if (!mayBeInTheWay(error) || inTheWay.length === 0) throw error
    const why = 'it has ended, and the service accepts no second one beside it'
    for (const hook of inTheWay) await retire(hook, why, round)
    return webhooks.create({ collectionName, destinationUrl })
  }
}

/**
 * If the service has answered, continues without this collection. The store keeps the request, whatever the
 * answer was: if the webhook was created all the same, a plan deletes it.
 */
async function notCreated(error: unknown, creating: StoredHook, round: Round): Promise<void> {
  if (!(error instanceof ClientError)) throw error
  round.isInDoubt = true
  switch (causeOf(error)) {
    case 'unreachable':
      throw error
    case 'later':
      round.failure ??= error
      return
    case 'keyless':
      // A webhook without its key is useless, and the next one is created after an hour at the earliest.
      await lookAgain(round)
      await retire(creating, 'nobody has its key', round)
      return warnOfRefusal(error, creating.collection, round)
    case 'refused':
      return warnOfRefusal(error, creating.collection, round)
  }
}

/** Why there is no webhook that can be used. */
function causeOf(error: ClientError): 'refused' | 'later' | 'keyless' | 'unreachable' {
  const { status, mayHaveHappened, failure } = error
  if (status !== undefined) return statusIs(status, 'retryable') ? 'later' : 'refused'
  return mayHaveHappened && failure !== 'transient' ? 'keyless' : 'unreachable'
}

function warnOfRefusal(error: ClientError, collection: string, round: Round): void {
  const { store, keeping, client, log } = round
  const isForbidden = statusIs(error.status, 'permission')
  const scopes = isForbidden
    ? ` It needs the scopes ${round.scopesOf(collection).join(' and ')}.`
    : ''
  const hasOne = store.hooks.some(
    (hook) => hook.collection === collection && hook.state === 'live' && isUsed(hook, round),
  )
  const until = hasOne ? ' The old one is used until it expires.' : ''
  const text = `${collection}: the webhook could not be created. ${error.message}${scopes}${until}`
  keeping.refused(collection, text)
  keeping.warn(warningOf('webhook-not-created', text), client.now(), log)
}

async function remove(id: string, round: Round): Promise<void> {
  await round.client.webhooks.remove(id)
  round.deleted.add(id)
  round.listed = round.listed.filter((record) => record.id !== id)
}

async function change(hook: StoredHook, changed: StoredHook, { store }: Round): Promise<void> {
  await store.replace(store.hooks.map((one) => (one === hook ? changed : one)))
}

/** The statuses with which a service may say that there is such a webhook already. */
function mayBeInTheWay(error: unknown): boolean {
  return error instanceof ClientError && [400, 409, 422].includes(error.status ?? 0)
}

function isUsed(hook: StoredHook, { listed, client }: Round): boolean {
  return faultOf(hook, recordOf(hook, listed), client.now())?.isOver !== true
}

/**
 * Deletes the webhooks of the store at the service, whatever its list says, and those of the list with an address of the
 * store: they were created twice, or their keys did not reach the store. Webhooks of others stay. An entry leaves the
 * store when its own deletion is answered; throws the first failure after all others are deleted.
 */
export async function unsubscribe(
  store: KeeperTools['store'],
  { connect, log }: Pick<KeeperTools, 'connect' | 'log'>,
): Promise<void> {
  const client = connect()
  const failures: ClientError[] = []
  const failed = (error: unknown): undefined => {
    if (!(error instanceof ClientError)) throw error
    failures.push(error)
  }
  let [deleted, absent] = [0, 0]
  try {
    const listed = await all(client.webhooks.list()).catch(failed)
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
        else if (removal === 'absent') absent++
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
