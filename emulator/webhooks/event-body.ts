import type { ReferencePair } from '../references/reference-pairs.ts'
import type { References } from '../references/references.ts'
import type { Change, Fields, StoredRecord } from '../store/store.ts'
import type { WebhookOptions } from './webhook-options.ts'

/** What the body of an event depends on beside the change. */
export interface EventContext {
  readonly collection: string
  readonly pairs: readonly ReferencePair[]
  readonly references: References
  readonly options: Required<WebhookOptions>
}

/**
 * The JSON text that tells a webhook of a change, with the external references that it asks for;
 * undefined for a deletion that is not told. The digits of the record are those of the store.
 */
export function eventBody(change: Change, context: EventContext): string | undefined {
  const { options } = context
  if (!change.after) return deletionBody(change, context)
  const data = recordText(change.after, context)
  return options.eventShape === 'record' ? data : envelope('InsertOrUpdate', data)
}

function deletionBody(change: Change, context: EventContext): string | undefined {
  const { id, version, before } = change
  const data = JSON.stringify({ changeVersion: version, id })
  const { deleteEvent } = context.options
  if (deleteEvent === 'none') return undefined
  if (deleteEvent === 'envelope') return envelope('Delete', data)
  if (deleteEvent === 'bare' || !before) return data
  const last = recordText(before, context)
  return withStatus(last.replace(before.version, version), 'Deleted')
}

function recordText({ text }: StoredRecord, context: EventContext): string {
  const { collection, pairs, references, options } = context
  const decorated = references.decorate(collection, text, pairs)
  if (collection !== 'assignments' || options.assignmentLevels === 'array') return decorated
  const { activityLevels, ...rest } = JSON.parse(decorated) as { activityLevels?: Fields[] }
  return JSON.stringify({ ...rest, activityLevels: activityLevels?.[0] })
}

function envelope(changeType: 'InsertOrUpdate' | 'Delete', data: string): string {
  return `{"changeType":"${changeType}","data":${data}}`
}

// The text is edited, not parsed: a number of it can have more digits than a double holds.
function withStatus(text: string, status: string): string {
  const has = Object.hasOwn(JSON.parse(text), 'status')
  if (!has) return `${text.slice(0, -1)},"status":"${status}"}`
  return text.replace(/"status":"[^"]*"(?=[,}])/, `"status":"${status}"`)
}
