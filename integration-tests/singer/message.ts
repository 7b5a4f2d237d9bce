import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

export type Row = Readonly<Record<string, unknown>>

/** A message of Singer, as far as the tests look into it. */
export type SingerMessage =
  | {
      readonly type: 'SCHEMA'
      readonly stream: string
      readonly schema: { readonly properties: Row }
      readonly key_properties: readonly string[]
    }
  | {
      readonly type: 'RECORD'
      readonly stream: string
      readonly record: Row
      readonly version: number
      readonly time_extracted: string
    }
  | { readonly type: 'STATE'; readonly value: StateValue }
  | { readonly type: 'ACTIVATE_VERSION'; readonly stream: string; readonly version: number }

export interface StateValue {
  readonly bookmarks: Readonly<Record<string, Row>>
  readonly currently_syncing: null
}

const TYPES = new Set(['SCHEMA', 'RECORD', 'STATE', 'ACTIVATE_VERSION'])

/**
 * The faults of a run's messages, one sentence each: what a target of any family would stumble over.
 * `isWhole` adds what holds only for a run that came to its end.
 */
export function singerFaults(messages: readonly SingerMessage[], isWhole: boolean): string[] {
  const faults: string[] = []
  const validators = new Map<string, ValidateFunction>()
  const activated = new Map<string, number>()
  for (const message of messages) {
    if (!TYPES.has(message.type)) faults.push(`a message of type ${message.type}`)
    if (message.type === 'SCHEMA') {
      if (validators.has(message.stream)) faults.push(`${message.stream}: two schemas`)
      if (message.key_properties.length === 0) faults.push(`${message.stream}: no key`)
      validators.set(message.stream, compiled(message.schema))
    }
    if (message.type === 'ACTIVATE_VERSION') activated.set(message.stream, message.version)
    if (message.type === 'RECORD') faults.push(...recordFaults(message, validators))
    if (message.type === 'STATE' && message.value.currently_syncing !== null)
      faults.push('a state that is syncing')
  }
  if (isWhole && messages[0]?.type !== 'STATE') faults.push('the first line is not a STATE')
  if (isWhole && messages.at(-1)?.type !== 'STATE') faults.push('the last line is not a STATE')
  return faults
}

function recordFaults(
  { stream, record, version, time_extracted: time }: Extract<SingerMessage, { type: 'RECORD' }>,
  validators: ReadonlyMap<string, ValidateFunction>,
): string[] {
  const validate = validators.get(stream)
  if (validate === undefined) return [`${stream}: a record before its schema`]
  const faults: string[] = []
  if (!validate(record)) faults.push(`${stream}: ${JSON.stringify(validate.errors)}`)
  if (record['_generation'] !== version) faults.push(`${stream}: _generation is not the version`)
  if (!Number.isInteger(version) || version > 2 ** 31 - 1)
    faults.push(`${stream}: version ${version} is no 32-bit integer`)
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time)) faults.push(`${stream}: time_extracted ${time}`)
  return faults
}

function compiled(schema: object): ValidateFunction {
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  return ajv.compile(schema)
}
