import type { ReferencePair } from '../references/reference-pairs.ts'
import type { References } from '../references/references.ts'
import type { Change } from '../store/store.ts'
import type { WebhookOptions } from './webhook-options.ts'

/** What the body of an event depends on beside the change. */
export interface EventContext {
  readonly collection: string
  readonly pairs: readonly ReferencePair[]
  readonly references: References
  readonly options: Pick<Required<WebhookOptions>, 'eventShape' | 'deleteEvent'>
}

/**
 * The JSON text that tells a webhook of a change, with the external references that it asks for;
 * undefined for a deletion that is not told. The digits of the record are those of the store.
 */
export function eventBody(change: Change, context: EventContext): string | undefined {
  const { collection, pairs, references, options } = context
  if (!change.after) return deletionBody(change, context)
  const data = references.decorate(collection, change.after.text, pairs)
  return options.eventShape === 'record' ? data : envelope('InsertOrUpdate', data)
}

function deletionBody(change: Change, context: EventContext): string | undefined {
  const { id, version, before } = change
  const data = JSON.stringify({ changeVersion: version, id })
  const { deleteEvent } = context.options
  if (deleteEvent === 'none') return undefined
  if (deleteEvent === 'envelope') return envelope('Delete', data)
  if (deleteEvent === 'bare' || !before) return data
  const last = context.references.decorate(context.collection, before.text, context.pairs)
  return withStatus(last.replace(before.version, version), 'Deleted')
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
