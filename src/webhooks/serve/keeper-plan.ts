import type { Webhook } from '../../client/service-client.ts'
import { type IdentifiedMessage, warningOf } from '../../ground/message-ids.ts'
import { nonceOf, type StoredHook } from './store.ts'

/** The keeper's input: its store, the service's list, and the service's time. */
export interface KeeperFacts {
  readonly hooks: readonly StoredHook[]
  /** The records that are not deleted. */
  readonly listed: readonly Webhook[]
  /** The ids of records that are listed as Enabled although their deletion was answered. */
  readonly remaining: ReadonlySet<string>
  readonly now: Date
}

export interface KeeperSettings {
  /** Without a slash at the end. */
  readonly publicUrl: string
  /** The collections to subscribe to, each with one live webhook. */
  readonly collections: readonly string[]
  /** Whether to delete webhooks below our public URL that are not in the store. */
  readonly adopt: boolean
}

/**
 * One action. All actions are safe to repeat: after a crash between two of them, the next plan continues.
 */
export type KeeperAction =
  /** Deletes a webhook at the service that is not, or no longer, in the store. */
  | {
      readonly do: 'delete'
      readonly id: string
      readonly collection: string
      readonly why: string
    }
  /** Removes a webhook from the store. */
  | { readonly do: 'forget'; readonly hook: StoredHook }
  /** Deletes a webhook at the service, and accepts its repeated deliveries for a while. */
  | { readonly do: 'retire'; readonly hook: StoredHook; readonly why: string }
  | Creation
  /**
   * Warns about something that a person should check. For a webhook in `about` the warning is repeated only
   * when the webhook has changed.
   */
  | {
      readonly do: 'warn'
      readonly collection: string
      readonly warning: IdentifiedMessage
      readonly about?: Webhook
    }

/** Creates a webhook. */
export interface Creation {
  readonly do: 'create'
  readonly collection: string
  /** Undefined if the collection had none. */
  readonly why: string | undefined
  /**
   * Webhooks that no longer deliver: they are deleted first if the service allows one webhook per collection.
   */
  readonly over: readonly StoredHook[]
  /** See `StoredHook`. */
  readonly tries: number
  readonly failures: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Protects a service that refuses each new webhook at once from too many requests. */
const CREATION_PAUSE = HOUR
/** The pause doubles with each webhook that stays uninitialized, up to this. */
const MAX_CREATION_PAUSE = 24 * HOUR
/** The pause after the second creation in a row that failed; it doubles with each, up to half of `DOUBT`. */
const FAILURE_PAUSE = MINUTE
/** The service repeats a delivery for the last time 72 hours after the first attempt. */
const RETIREMENT = 72 * HOUR
/** For this long, a request whose answer was lost may still create its webhook. */
const DOUBT = HOUR
/** How long a new webhook may take to be initialized. */
const INITIALIZATION = 10 * MINUTE
/** A webhook is renewed when less than this part of its validity is left, at most a day. */
const MARGIN_PART = 0.25
const MAX_MARGIN = 24 * HOUR

/** The next actions, in this order. Call it again with the outcome after a creation. */
export function planKeeping(situation: KeeperFacts, settings: KeeperSettings): KeeperAction[] {
  const { hooks } = situation
  const chosen = new Set(settings.collections)
  return [
    ...hooks.flatMap((hook) => (hook.state === 'creating' ? unconfirmed(hook, situation) : [])),
    ...hooks.flatMap((hook) => (hook.state === 'retiring' ? retiring(hook, situation) : [])),
    ...strangers(situation, settings),
    ...settings.collections.flatMap((collection) => keep(collection, situation, settings)),
    ...hooks
      .filter(({ state, collection }) => state === 'live' && !chosen.has(collection))
      .map(
        (hook): KeeperAction => ({
          do: 'retire',
          hook,
          why: 'its collection is no longer chosen',
        }),
      ),
  ]
}

/** A problem of a live webhook. */
interface Fault {
  /** Half a sentence. */
  readonly why: string
  /** False while deliveries can still be expected. */
  readonly isOver: boolean
}

/** Undefined for a webhook that is usable for long enough. */
export function faultOf(
  hook: StoredHook,
  record: Webhook | undefined,
  now: Date,
): Fault | undefined {
  if (record === undefined) return { why: 'it no longer exists', isOver: true }
  if (!isEnabled(record)) return { why: `its status is ${record.status}`, isOver: true }
  const until = record.validUntil
  if (until === undefined) return undefined
  const left = until.getTime() - now.getTime()
  if (left <= 0) return { why: `it expired at ${until.toISOString()}`, isOver: true }
  const validity = until.getTime() - timeOf(hook.createdAt, Number.NEGATIVE_INFINITY)
  const margin = Math.min(MAX_MARGIN, validity * MARGIN_PART)
  return left < margin ? { why: `it expires at ${until.toISOString()}`, isOver: false } : undefined
}

/**
 * The service's record of a webhook of the store, by its id, or by its address while the id is not known.
 */
export function recordOf(
  { id, destinationUrl }: StoredHook,
  listed: readonly Webhook[],
): Webhook | undefined {
  return listed.find((record) =>
    id === undefined ? record.destinationUrl === destinationUrl : record.id === id,
  )
}

/**
 * There was a crash, a lost answer, or an answer that denied the creation, between the request for a webhook
 * and storing its key. Whatever the answer was, the webhook may still be created, once or twice.
 */
function unconfirmed(hook: StoredHook, { listed, now }: KeeperFacts): KeeperAction[] {
  const record = recordOf(hook, listed)
  if (record !== undefined) {
    const why = 'its key did not reach the store'
    return [{ do: 'delete', id: record.id, collection: hook.collection, why }]
  }
  return isWithin(DOUBT, hook.createdAt, now) ? [] : [{ do: 'forget', hook }]
}

function retiring(hook: StoredHook, { listed, remaining, now }: KeeperFacts): KeeperAction[] {
  const record = recordOf(hook, listed)
  // The earlier request to delete it has failed.
  if (record !== undefined) {
    return [{ do: 'delete', id: record.id, collection: hook.collection, why: 'it was replaced' }]
  }
  // The list may still show it as live although it is deleted.
  const isKept = isWithin(RETIREMENT, hook.retiredAt, now) || remaining.has(hook.id ?? '')
  return isKept ? [] : [{ do: 'forget', hook }]
}

/** Makes sure that a collection has exactly one usable webhook. */
function keep(
  collection: string,
  { hooks, listed, now }: KeeperFacts,
  { publicUrl }: KeeperSettings,
): KeeperAction[] {
  const live = hooks
    .filter((hook) => hook.collection === collection && hook.state === 'live')
    .map((hook) => ({ hook, fault: faultOf(hook, recordOf(hook, listed), now) ?? moved(hook) }))
    .sort((a, b) => timeOf(b.hook.createdAt, 0) - timeOf(a.hook.createdAt, 0))
  const usable = live.find(({ fault }) => fault === undefined)
  const starting = live.find(({ hook }) => isStarting(hook, recordOf(hook, listed), now))
  const current = usable ?? starting
  if (current !== undefined) {
    const warning = warningOf(
      'webhook-not-initialized',
      'The webhook is not initialized yet. It is replaced when that takes longer.',
    )
    return [
      ...(current === usable ? [] : [{ do: 'warn', collection, warning } as const]),
      ...live
        .filter((one) => one !== current)
        .map(
          ({ hook, fault }): KeeperAction => ({
            do: 'retire',
            hook,
            why: fault?.why ?? 'it has a successor',
          }),
        ),
    ]
  }
  const [newest] = live
  const why = newest?.fault?.why
  const [failed, paused] = attempts()
  if (paused === undefined) {
    const isUninitialized = isOfStatus(newest && recordOf(newest.hook, listed), 'uninitialized')
    const tries = isUninitialized ? (newest?.hook.tries ?? 0) + 1 : 0
    const failures = failed === undefined ? 0 : (failed.failures ?? 0) + 1
    const over = live.filter(({ fault }) => fault?.isOver).map(({ hook }) => hook)
    return [{ do: 'create', collection, why, over, tries, failures }]
  }
  // The reason was logged when it failed.
  if (paused.state === 'creating') return []
  const pause = pauseAfter(paused, recordOf(paused, listed)) / HOUR
  const reason =
    why === undefined ? 'There is no usable webhook' : `The webhook cannot be used: ${why}`
  const warning = warningOf(
    'webhook-paused',
    `${reason}. To avoid creating many, the next one is created ${pause === 1 ? '1 hour' : `${pause} hours`} after the previous one.`,
  )
  return [{ do: 'warn', collection, warning }]

  /**
   * The last creation, if it failed, and the creation after which the next one has to wait. Webhooks for
   * another public URL do not count.
   */
  function attempts(): readonly (StoredHook | undefined)[] {
    const inOrder = hooks
      .filter((hook) => hook.collection === collection)
      .toSorted((a, b) => timeOf(a.createdAt, 0) - timeOf(b.createdAt, 0))
    const made = inOrder.findLastIndex(({ state }) => state !== 'creating')
    const own = inOrder.slice(Math.max(0, made)).filter((hook) => isBelow(hook, publicUrl))
    const failed = own.findLast(({ state }) => state === 'creating')
    const paused = own.find((hook) =>
      isWithin(pauseAfter(hook, recordOf(hook, listed)), hook.createdAt, now),
    )
    return [failed, paused]
  }

  function moved(hook: StoredHook): Fault | undefined {
    if (isBelow(hook, publicUrl)) return undefined
    return { why: 'the public URL has changed', isOver: true }
  }
}

/**
 * Webhooks with an address of ours whose key is not in the store. If one has exactly the address of another,
 * a proxy has repeated the request that created it.
 */
function strangers(
  { hooks, listed }: KeeperFacts,
  { publicUrl, adopt, collections }: KeeperSettings,
): KeeperAction[] {
  const known = new Map(hooks.map((hook) => [nonceOf(hook), hook]))
  return listed.flatMap((record): KeeperAction[] => {
    const { id, collectionName: collection } = record
    const hook = known.get(nonceOf(record))
    if (hook !== undefined) {
      const isTwin =
        hook.id !== undefined && hook.id !== id && record.destinationUrl === hook.destinationUrl
      const why = 'another one has its address, and nobody has the key of this one'
      return isTwin ? [{ do: 'delete', id, collection, why }] : []
    }
    if (!isBelow(record, publicUrl) || !collections.includes(collection)) return []
    if (adopt) return [{ do: 'delete', id, collection, why: 'its key is lost' }]
    const warning = warningOf(
      'webhook-without-key',
      `There is a webhook with our public URL whose key is not in the store (id ${id}): its deliveries are refused with 404. Start with --adopt to delete such webhooks, or delete it with: protime webhooks delete ${id}.`,
    )
    return isEnabled(record) ? [{ do: 'warn', collection, warning, about: record }] : []
  })
}

/** How long to wait after this creation before the next one. */
function pauseAfter(
  { state, tries = 0, failures = 0 }: StoredHook,
  record: Webhook | undefined,
): number {
  if (state === 'creating')
    return failures === 0 ? 0 : Math.min(DOUBT / 2, FAILURE_PAUSE * 2 ** (failures - 1))
  if (!isOfStatus(record, 'uninitialized')) return CREATION_PAUSE
  return Math.min(MAX_CREATION_PAUSE, CREATION_PAUSE * 2 ** tries)
}

/**
 * Whether this program could have made the address: other programs may share the host of the public URL.
 */
function isBelow({ destinationUrl }: Pick<Webhook, 'destinationUrl'>, publicUrl: string): boolean {
  const path = destinationUrl.startsWith(publicUrl) ? destinationUrl.slice(publicUrl.length) : ''
  return /^\/hooks\/[a-z-]+\/[\w-]{20,}$/.test(path)
}

function isStarting(hook: StoredHook, record: Webhook | undefined, now: Date): boolean {
  const isNew = isWithin(INITIALIZATION, hook.createdAt, now)
  return isNew && isOfStatus(record, 'uninitialized')
}

function isEnabled(record: Webhook): boolean {
  return isOfStatus(record, 'enabled')
}

/** Deleted webhooks may stay in the list. */
export function isDeleted(record: Webhook): boolean {
  return ['deleted', 'soft-deleted', 'softdeleted'].some((status) => isOfStatus(record, status))
}

function isOfStatus(record: Webhook | undefined, status: string): boolean {
  return record?.status.toLowerCase() === status
}

/**
 * Whether the time is not longer ago than that. A time far in the future comes from another clock and does
 * not count.
 */
function isWithin(ms: number, time: string | undefined, now: Date): boolean {
  const age = now.getTime() - timeOf(time, Number.NEGATIVE_INFINITY)
  return Math.abs(age) < ms
}

function timeOf(time: string | undefined, otherwise: number): number {
  return time === undefined ? otherwise : Date.parse(time)
}
