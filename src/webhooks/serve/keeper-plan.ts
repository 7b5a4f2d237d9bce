import type { Webhook } from '../../client/service-client.ts'
import { nonceOf, type StoredHook } from './store.ts'

/** What the keeper decides by: its store, what the service lists, and the service's time. */
export interface Situation {
  readonly hooks: readonly StoredHook[]
  readonly listed: readonly Webhook[]
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
export type Action =
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
  /** Makes a webhook; `why` is undefined where the collection had none. */
  | { readonly do: 'create'; readonly collection: string; readonly why: string | undefined }
  /** Tells what somebody should look at. */
  | { readonly do: 'warn'; readonly collection: string; readonly text: string }

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A service that refuses each new webhook at once must not be stormed. */
const CREATION_PAUSE = HOUR
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
export function planKeeping(situation: Situation, settings: KeeperSettings): Action[] {
  const { hooks } = situation
  const chosen = new Set(settings.collections)
  return [
    ...hooks.flatMap((hook) => (hook.state === 'creating' ? unconfirmed(hook, situation) : [])),
    ...hooks.flatMap((hook) => (hook.state === 'retiring' ? retiring(hook, situation) : [])),
    ...settings.collections.flatMap((collection) => keep(collection, situation, settings)),
    ...hooks
      .filter(({ state, collection }) => state === 'live' && !chosen.has(collection))
      .map(
        (hook): Action => ({ do: 'retire', hook, why: 'its collection is not chosen any more' }),
      ),
    ...strangers(situation, settings),
  ]
}

/** What is wrong with a live webhook, half a sentence; undefined while deliveries can be expected. */
export function faultOf(
  hook: StoredHook,
  record: Webhook | undefined,
  now: Date,
): string | undefined {
  if (record === undefined || isDeleted(record)) return 'it is gone'
  if (!isEnabled(record)) return `its status is ${record.status}`
  const until = record.validUntil
  if (until === undefined) return undefined
  const left = until.getTime() - now.getTime()
  if (left <= 0) return `it expired at ${until.toISOString()}`
  const validity = until.getTime() - timeOf(hook.createdAt, Number.NEGATIVE_INFINITY)
  const margin = Math.min(MAX_MARGIN, validity * MARGIN_PART)
  return left < margin ? `it expires at ${until.toISOString()}` : undefined
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

/** A crash, or an answer that was lost, between asking for a webhook and storing its key. */
function unconfirmed(hook: StoredHook, { listed, now }: Situation): Action[] {
  const record = recordOf(hook, listed)
  if (record !== undefined && !isDeleted(record)) {
    const why = 'it was made without its key reaching the store'
    return [
      { do: 'delete', id: record.id, collection: hook.collection, why },
      { do: 'forget', hook },
    ]
  }
  return isWithin(DOUBT, hook.createdAt, now) ? [] : [{ do: 'forget', hook }]
}

function retiring(hook: StoredHook, { listed, now }: Situation): Action[] {
  const record = recordOf(hook, listed)
  // The request that was to delete it has failed.
  if (record !== undefined && !isDeleted(record)) {
    return [{ do: 'delete', id: record.id, collection: hook.collection, why: 'it was replaced' }]
  }
  return isWithin(RETIREMENT, hook.retiredAt, now) ? [] : [{ do: 'forget', hook }]
}

/** Keeps exactly one usable webhook of a collection. */
function keep(
  collection: string,
  { hooks, listed, now }: Situation,
  { publicUrl }: KeeperSettings,
): Action[] {
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
          ({ hook, fault }): Action => ({ do: 'retire', hook, why: fault ?? 'it has a successor' }),
        ),
    ]
  }
  const why = live[0]?.fault
  const isTooSoon = hooks.some(
    (hook) =>
      hook.collection === collection &&
      hook.state !== 'creating' &&
      isWithin(CREATION_PAUSE, hook.createdAt, now),
  )
  if (!isTooSoon) return [{ do: 'create', collection, why }]
  const reason = why === undefined ? 'There is no webhook' : `The webhook cannot be used: ${why}`
  const text = `${reason}. The next one is made an hour after the one before.`
  return [{ do: 'warn', collection, text }]

  function moved({ destinationUrl }: StoredHook): string | undefined {
    return destinationUrl.startsWith(`${publicUrl}/`) ? undefined : 'the public URL has changed'
  }
}

/** Webhooks that have an address of ours and are in no store of ours. */
function strangers({ hooks, listed }: Situation, { publicUrl, adopt }: KeeperSettings): Action[] {
  const known = new Set(hooks.map(nonceOf))
  const ids = new Set(hooks.map(({ id }) => id))
  return listed
    .filter((record) => isBelow(record, publicUrl) && !isDeleted(record))
    .filter((record) => !known.has(nonceOf(record)) && !ids.has(record.id))
    .map(({ id, collectionName: collection }): Action => {
      if (adopt) return { do: 'delete', id, collection, why: 'its key is lost' }
      const text = `There is a webhook with our public URL whose key is not in the store (id ${id}): its deliveries are answered 404. Start with --adopt to delete such webhooks, or delete it with: protime webhooks delete ${id}.`
      return { do: 'warn', collection, text }
    })
}

/** An address that this program makes: other programs may share the public URL's host. */
function isBelow({ destinationUrl }: Webhook, publicUrl: string): boolean {
  const path = destinationUrl.startsWith(publicUrl) ? destinationUrl.slice(publicUrl.length) : ''
  return /^\/hooks\/[a-z-]+\/[\w-]{20,}$/.test(path)
}

function isStarting(hook: StoredHook, record: Webhook | undefined, now: Date): boolean {
  const isNew = isWithin(INITIALIZATION, hook.createdAt, now)
  return isNew && record?.status.toLowerCase() === 'uninitialized'
}

function isEnabled({ status }: Webhook): boolean {
  return status.toLowerCase() === 'enabled'
}

/** Deleted webhooks may stay in the list. */
function isDeleted({ status }: Webhook): boolean {
  return /^(soft-?)?deleted$/i.test(status)
}

/** Whether that time is not longer ago. A time far ahead is that of another clock, and none. */
function isWithin(ms: number, time: string | undefined, now: Date): boolean {
  const age = now.getTime() - timeOf(time, Number.NEGATIVE_INFINITY)
  return Math.abs(age) < ms
}

function timeOf(time: string | undefined, otherwise: number): number {
  return time === undefined ? otherwise : Date.parse(time)
}
