import type { JsonSchema } from '../../src/records/stream-spec.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue, streamSpec } from '../../src/streams/streams.ts'
import { fieldDigests } from '../../src/sync/stored-state.ts'
import type { Comparison } from './comparison.ts'
import type { Choice } from './history.ts'
import type { SyncMessage, SyncRun } from './run-sync.ts'

/** Nobody can leave out the key and the version, and the comparison asks for the day of a row. */
const ALWAYS: readonly string[] = ['changeVersion', 'date', 'from']

type Settings = Readonly<Record<string, unknown>>

/** What a person has chosen of streams, columns, address and version of the connector. */
export interface Choices {
  readonly host: '127.0.0.1' | 'localhost'
  take(choice: Exclude<Choice, { do: 'environment' }>): void
  /** All streams from now on, and the newest version. */
  settle(): void
  selected(): string[]
  /** The columns of a stream that are selected, and the others; undefined where all are. */
  columnsOf(stream: string): { columns: readonly string[]; leftOut: string[] } | undefined
  /** Only where unknown fields are left out a version says nothing of those that it does not know. */
  unknownFields(settings: Settings): UnknownFields
  /** The columns of each stream that are compared: those that are selected and known. */
  comparedColumns(settings: Settings): Comparison['columns']
}

export function createChoices(streams: readonly string[]): Choices {
  let host: Choices['host'] = '127.0.0.1'
  let left: ReadonlySet<string> = new Set()
  /** The columns of a stream where not all of them are selected. */
  const columns = new Map<string, readonly string[]>()
  const unknown = new Map<string, string>()
  return {
    get host() {
      return host
    },
    take(choice) {
      if (choice.do === 'version') chooseVersion(choice)
      else if (choice.do === 'address') host = choice.host
      else if (choice.do === 'columns') chooseColumns(choice)
      else {
        const [, ...others] = streams
        const names = choice.without.map(streamAt)
        left = new Set(names.filter((name) => others.includes(name)))
      }
    },
    settle() {
      left = new Set()
      unknown.clear()
    },
    selected: () => streams.filter((stream) => !left.has(stream)),
    columnsOf(name) {
      const chosen = columns.get(name)
      const all = propertiesOf(name)
      return chosen && { columns: chosen, leftOut: all.filter((one) => !chosen.includes(one)) }
    },
    unknownFields,
    comparedColumns(settings) {
      const compared = new Map(columns)
      for (const [name, field] of unknownFields(settings)) {
        const all = compared.get(name) ?? propertiesOf(name)
        const known = all.filter((column) => column !== field)
        compared.set(name, known)
      }
      return compared
    },
  }

  function chooseColumns({ stream, without }: Extract<Choice, { do: 'columns' }>): void {
    const name = streamAt(stream)
    const properties = propertiesOf(name)
    const leftOut = without
      .map((place) => properties[place % properties.length] as string)
      .filter((property) => !isAlways(name, property))
    const chosen = properties.filter((property) => !leftOut.includes(property))
    if (leftOut.length === 0) columns.delete(name)
    else columns.set(name, chosen)
  }

  function chooseVersion({ stream, field }: Extract<Choice, { do: 'version' }>): void {
    const name = streamAt(stream)
    unknown.delete(name)
    const { nested } = catalogue.get(name) as Stream
    // The name of a reference decides what becomes of it.
    if (field === null || nested === 'referenced_collections') return
    const fields = laterFields(streamSpec(catalogue.get(name) as Stream).schema)
    const later = fields.filter((property) => !isAlways(name, property) && property !== 'status')
    const one = later[field % later.length]
    if (one !== undefined) unknown.set(name, one)
  }

  function unknownFields(settings: Settings): UnknownFields {
    return settings['personal_data'] === 'pseudonymised' ? unknown : new Map()
  }

  function streamAt(stream: number): string {
    return streams[stream % streams.length] as string
  }
}

/** Whether nobody can leave out a column. */
export function isAlways(stream: string, property: string): boolean {
  const { key = ['id'] } = catalogue.get(stream) as Stream
  return ALWAYS.includes(property) || key.includes(property)
}

function propertiesOf(stream: string): string[] {
  return Object.keys(streamSpec(catalogue.get(stream) as Stream).schema.properties ?? {})
}

/** The fields that a version of the connector does not know yet, by stream. */
type UnknownFields = ReadonlyMap<string, string>

/** The fields of a stream that one version may not know yet: plain ones, which have no fields below. */
function laterFields({ properties = {} }: JsonSchema): string[] {
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
const ANY = fieldDigests(undefined)

/** A set of fields without one: each has so many characters as one alone. */
function without(fields: string, field: string): string {
  if (fields === ANY) return fields
  const digest = fieldDigests([field])
  const all = fields.match(new RegExp(`.{${digest.length}}`, 'g')) ?? []
  return all.filter((one) => one !== digest).join('')
}
