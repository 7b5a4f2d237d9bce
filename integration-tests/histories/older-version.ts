import type { JsonSchema } from '../../src/records/stream-spec.ts'
import { writeFields } from '../../src/sync/stored-state.ts'
import type { SyncMessage, SyncRun } from './run-sync.ts'

/** The fields that a version of the connector does not know yet, by stream. */
export type UnknownFields = ReadonlyMap<string, string>

/** The fields of a stream that one version may not know yet: plain ones, which have no fields below. */
export function laterFields({ properties = {} }: JsonSchema): string[] {
  const isPlain = (schema: JsonSchema) => (schema.properties ?? schema.items) === undefined
  return Object.entries(properties).flatMap(([name, schema]) => (isPlain(schema) ? [name] : []))
}

/**
 * What an older version would have said in a sync that leaves out what no schema knows: its records have no such
 * fields, and its states tell of none. One that keeps unknown fields says the same as the newest.
 */
export function asOlder(outcome: SyncRun, unknown: UnknownFields): SyncRun {
  return { ...outcome, messages: outcome.messages.map(older) }

  function older(message: SyncMessage): SyncMessage {
    const { record, state } = message
    const field = unknown.get(record?.stream ?? state?.stream.stream_descriptor.name ?? '')
    if (field === undefined) return message
    if (record !== undefined) {
      const { [field]: _, ...data } = record.data
      return { ...message, record: { ...record, data } }
    }
    if (state === undefined) return message
    const blob = state.stream.stream_state as { readonly fields: string }
    const stream = {
      ...state.stream,
      stream_state: { ...blob, fields: without(blob.fields, field) },
    }
    return { ...message, state: { ...state, stream } } as SyncMessage
  }
}

/** Any fields, those too that no schema knows. */
const ANY = writeFields(undefined)

/** A set of fields without one: each has so many characters as one alone. */
function without(fields: string, field: string): string {
  if (fields === ANY) return fields
  const digest = writeFields([field])
  const all = fields.match(new RegExp(`.{${digest.length}}`, 'g')) ?? []
  return all.filter((one) => one !== digest).join('')
}
