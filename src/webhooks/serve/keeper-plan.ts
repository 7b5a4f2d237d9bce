import type { Webhook } from '../../client/service-client.ts'
import { nonceOf, type StoredHook } from './store.ts'

/** What the keeper decides by: its store, what the service lists, and the service's time. */
export interface KeeperFacts {
  readonly hooks: readonly StoredHook[]
  /** Those that are not deleted. */
  readonly listed: readonly Webhook[]
  /** The ids of those that are listed as Enabled although their deletion was answered. */
  readonly remaining: ReadonlySet<string>
  readonly now: Date
}

export interface KeeperSettings {
  /** Without a slash at the end. */
  readonly publicUrl: string
  /** To be subscribed, each with one live webhook. */
  readonly collections: readonly string[]
  /** Whether webhooks below our public URL that the store does not know are deleted. */
  readonly adopt: boolean
}

/** One thing to do. All are safe to repeat: a crash between two of them is mended by the next plan. */
export type KeeperAction =
  /** Deletes a webhook at the service that the store does not hold, or no longer. */
  | {
      readonly do: 'delete'
      readonly id: string
      readonly collection: string
      readonly why: string
    }
  /** Takes a webhook out of the store. */
  | { readonly do: 'forget'; readonly hook: StoredHook }
  /** Deletes a webhook at the service, and takes its repeated deliveries for a while. */
  | { readonly do: 'retire'; readonly hook: StoredHook; readonly why: string }
  | Creation
  /** Tells what somebody should look at; `about` is a webhook of which it is said once, and again when it has changed. */
  | {
      readonly do: 'warn'
      readonly collection: string
      readonly text: string
      readonly about?: Webhook
    }

/** Makes a webhook. */
export interface Creation {
  readonly do: 'create'
  readonly collection: string
  /** Undefined where the collection had none. */
  readonly why: string | undefined
  /** What delivers nothing any more: deleted first where the service takes one webhook per collection. */
  readonly over: readonly StoredHook[]
  /** See `StoredHook`. */
  readonly tries: number
  readonly failures: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A service that refuses each new webhook at once must not be stormed. */
const CREATION_PAUSE = HOUR
/** The pause doubles with each webhook that stays uninitialized, up to this. */
const MAX_CREATION_PAUSE = 24 * HOUR
/** The pause after the second creation in a row that failed; it doubles with each, up to half of `DOUBT`. */
const FAILURE_PAUSE = MINUTE
/** The service repeats a delivery for the last time 72 hours after the first attempt. */
const RETIREMENT = 72 * HOUR
/** A webhook that nobody has confirmed may still be made for so long by a request whose answer was lost. */
const DOUBT = HOUR
/** How long a new webhook may take to be initialized. */
const INITIALIZATION = 10 * MINUTE
/** A webhook is renewed when less than this part of its validity is left, at most a day. */
const MARGIN_PART = 0.25
const MAX_MARGIN = 24 * HOUR

/** What is to be done now, in this order. To be asked again with the outcome when something was created. */
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

/** What is wrong with a live webhook. */
interface Fault {
  /** Half a sentence. */
  readonly why: string
  /** False while deliveries can be expected all the same. */
  readonly isOver: boolean
}

/** Undefined for a webhook that can be used, and for long enough. */
export function faultOf(
  hook: StoredHook,
  record: Webhook | undefined,
  now: Date,
): Fault | undefined {
  if (record === undefined) return { why: 'it is gone', isOver: true }
  if (!isEnabled(record)) return { why: `its status is ${record.status}`, isOver: true }
  const until = record.validUntil
  if (until === undefined) return undefined
  const left = until.getTime() - now.getTime()
  if (left <= 0) return { why: `it expired at ${until.toISOString()}`, isOver: true }
  const validity = until.getTime() - timeOf(hook.createdAt, Number.NEGATIVE_INFINITY)
  const margin = Math.min(MAX_MARGIN, validity * MARGIN_PART)
  return left < margin ? { why: `it expires at ${until.toISOString()}`, isOver: false } : undefined
}

/** The record of a webhook in the store, by its id, or by its address while the id is not known. */
export function recordOf(
  { id, destinationUrl }: StoredHook,
  listed: readonly Webhook[],
): Webhook | undefined {
  return listed.find((record) =>
    id === undefined ? record.destinationUrl === destinationUrl : record.id === id,
  )
}

/**
 * A crash, or an answer that was lost or said that nothing was made, between asking for a webhook and storing its
 * key. Whatever was answered, it may be made by and by, once or twice.
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
  // The request that was to delete it has failed.
  if (record !== undefined) {
    return [{ do: 'delete', id: record.id, collection: hook.collection, why: 'it was replaced' }]
  }
  // As long as it is listed as if it lived, we know that it does not.
  const isKept = isWithin(RETIREMENT, hook.retiredAt, now) || remaining.has(hook.id ?? '')
  return isKept ? [] : [{ do: 'forget', hook }]
}

/** Keeps exactly one usable webhook of a collection. */
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
    const text = 'The webhook is not initialized yet. It is replaced when that takes longer.'
    return [
      ...(current === usable ? [] : [{ do: 'warn', collection, text } as const]),
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
  // Why it failed was said then.
  if (paused.state === 'creating') return []
  const pause = pauseAfter(paused, recordOf(paused, listed)) / HOUR
  const reason = why === undefined ? 'There is no webhook' : `The webhook cannot be used: ${why}`
  const text = `${reason}. The next one is created ${pause === 1 ? 'an hour' : `${pause} hours`} after the previous one.`
  return [{ do: 'warn', collection, text }]

  /**
   * The last creation, if it failed, and the one that the next has to wait after. What was made for another public
   * URL says nothing of this one.
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
 * Webhooks that have an address of ours and whose key is not in the store. One with the very address of another
 * was made by a request that somebody on the way has repeated.
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
      const isTwin = hook.id !== undefined && hook.id !== id
      const why = 'another one has its address, and nobody has the key of this one'
      return isTwin ? [{ do: 'delete', id, collection, why }] : []
    }
    if (!isBelow(record, publicUrl) || !collections.includes(collection)) return []
    if (adopt) return [{ do: 'delete', id, collection, why: 'its key is lost' }]
    const text = `There is a webhook with our public URL whose key is not in the store (id ${id}): its deliveries are answered 404. Start with --adopt to delete such webhooks, or delete it with: protime webhooks delete ${id}.`
    return isEnabled(record) ? [{ do: 'warn', collection, text, about: record }] : []
  })
}

/** How long no webhook is made after this one. */
function pauseAfter(
  { state, tries = 0, failures = 0 }: StoredHook,
  record: Webhook | undefined,
): number {
  if (state === 'creating')
    return failures === 0 ? 0 : Math.min(DOUBT / 2, FAILURE_PAUSE * 2 ** (failures - 1))
  if (!isOfStatus(record, 'uninitialized')) return CREATION_PAUSE
  return Math.min(MAX_CREATION_PAUSE, CREATION_PAUSE * 2 ** tries)
}

/** An address that this program makes: other programs may share the public URL's host. */
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

/** Whether that time is not longer ago. A time far ahead is that of another clock, and none. */
function isWithin(ms: number, time: string | undefined, now: Date): boolean {
  const age = now.getTime() - timeOf(time, Number.NEGATIVE_INFINITY)
  return Math.abs(age) < ms
}

function timeOf(time: string | undefined, otherwise: number): number {
  return time === undefined ? otherwise : Date.parse(time)
}
