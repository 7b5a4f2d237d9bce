import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/references.ts'
import type { Fields, StoredRecord } from '../store/store.ts'

/** The fields of a new webhook; they never change. */
export interface NewWebhook {
  readonly collection: string
  readonly destination: string
  /** The external references that its events have. */
  readonly pairs: readonly ReferencePair[]
}

/** A subscription to the changes of one collection. Times are milliseconds of the virtual clock. */
export interface Webhook extends NewWebhook {
  readonly id: string
  readonly key: string
  readonly createdAt: number
  readonly validUntil: number
  readonly isDisabled: boolean
  readonly isDeleted: boolean
}

/** What `status` of a webhook can be. */
type WebhookStatus = 'Uninitialized' | 'Enabled' | 'Disabled'

/** The webhooks of the tenant. They expire by the virtual clock. */
export interface Webhooks {
  /** Adds one with a key of its own. */
  create(wanted: NewWebhook): Webhook
  /** All of them, deleted ones too, ascending by id. */
  list(): readonly Webhook[]
  statusOf(webhook: Webhook): WebhookStatus
  /** Whether it gets events now: neither deleted nor expired, and Enabled. */
  isLive(webhook: Webhook): boolean
  /** Marks one as deleted: it has no more events, and stays. */
  remove(webhook: Webhook): void
  disable(webhook: Webhook): void
  /** Ends its validity now. */
  expire(webhook: Webhook): void
}

type Entry = { -readonly [Property in keyof Webhook]: Webhook[Property] }

const dayInMs = 86_400_000

/** Creates an empty list of webhooks. */
export function createWebhooks(options: ResolvedOptions, clock: Clock): Webhooks {
  const entries: Entry[] = []
  const time = () => clock.now().getTime()
  const entryOf = ({ id }: Webhook) => entries.find((entry) => entry.id === id) as Entry
  const hasExpired = ({ validUntil }: Webhook) => validUntil <= time()
  const statusOf = (webhook: Webhook): WebhookStatus => {
    const isOver = options.expiredWebhook === 'disabled' && hasExpired(webhook)
    const isGone = options.deletedWebhook === 'disabled' && webhook.isDeleted
    if (webhook.isDisabled || isOver || isGone) return 'Disabled'
    const isNew = time() - webhook.createdAt < options.uninitializedMinutes * 60_000
    return isNew ? 'Uninitialized' : 'Enabled'
  }

  return {
    create(wanted) {
      const entry: Entry = {
        ...wanted,
        id: randomUUID(),
        // Looks like Base64, so that the signatures do not match if a receiver wrongly decodes the key.
        key: randomBytes(32).toString('base64'),
        createdAt: time(),
        validUntil: time() + options.webhookDays * dayInMs,
        isDisabled: false,
        isDeleted: false,
      }
      entries.push(entry)
      entries.sort((a, b) => (a.id < b.id ? -1 : 1))
      return entry
    },
    list: () => entries,
    statusOf,
    isLive: (webhook) =>
      !webhook.isDeleted && !hasExpired(webhook) && statusOf(webhook) === 'Enabled',
    remove: (webhook) => void Object.assign(entryOf(webhook), { isDeleted: true }),
    disable: (webhook) => void Object.assign(entryOf(webhook), { isDisabled: true }),
    expire: (webhook) => void Object.assign(entryOf(webhook), { validUntil: time() }),
  }
}

/** A webhook as its endpoints show it: everything but the key. */
export function fieldsOfWebhook(
  webhook: Webhook,
  webhooks: Webhooks,
  options: ResolvedOptions,
): Fields {
  const { id, pairs, destination, collection, isDeleted } = webhook
  return {
    id,
    validUntil: validUntilText(webhook, options),
    status: webhooks.statusOf(webhook),
    ...(pairs.length > 0 && { externalReferences: namesOf(pairs) }),
    destinationUrl: destination,
    collectionName: collection,
    ...(isDeleted && options.deletedWebhook !== 'disabled' && { isDeleted }),
  }
}

/** A webhook in the form in which filters test records. */
export function recordOfWebhook(
  webhook: Webhook,
  webhooks: Webhooks,
  options: ResolvedOptions,
): StoredRecord {
  const text = JSON.stringify(fieldsOfWebhook(webhook, webhooks, options))
  return { id: webhook.id, version: '', date: undefined, person: undefined, text }
}

/** The end of a webhook's validity, to the second, in the form that `validUntil` names. */
export function validUntilText({ validUntil }: Webhook, options: ResolvedOptions): string {
  const seconds = (time: number) => new Date(time).toISOString().slice(0, 19)
  if (options.validUntil === 'utc') return `${seconds(validUntil)}Z`
  const local = seconds(validUntil + 2 * 3_600_000)
  return `${local}${options.validUntil === 'offset' ? '' : '.0000000'}+02:00`
}

function namesOf(pairs: readonly ReferencePair[]): Record<string, string[]> {
  const names: Record<string, string[]> = {}
  for (const { collection, name } of pairs) names[collection] = [...(names[collection] ?? []), name]
  return names
}
