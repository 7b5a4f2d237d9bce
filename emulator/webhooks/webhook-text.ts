import type { ResolvedOptions } from '../options.ts'
import type { ReferencePair } from '../references/reference-pairs.ts'
import type { Fields, StoredRecord } from '../store/store.ts'
import type { Webhook, Webhooks } from './webhooks.ts'

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
    ...(isDeleted && { isDeleted }),
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
