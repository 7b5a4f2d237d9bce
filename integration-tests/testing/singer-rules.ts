import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { tellsSecret } from './secrets.ts'
import type { SingerMessage } from './singer-messages.ts'

/** What of a run the rules look at. */
export interface SyncRecording {
  readonly messages: readonly SingerMessage[]
  readonly stderr: string
}

const TYPES = new Set(['SCHEMA', 'RECORD', 'STATE', 'ACTIVATE_VERSION'])

/**
 * What a target of any family would stumble over, one sentence for each fault. A sync that was cut
 * off keeps the rules that hold for every beginning of an output.
 */
export function singerFaults(
  { messages, stderr }: SyncRecording,
  { config, isCut }: { readonly config: unknown; readonly isCut: boolean },
): string[] {
  const faults: string[] = []
  const validators = new Map<string, ValidateFunction>()
  for (const message of messages) {
    if (!TYPES.has(message.type)) faults.push(`a message of type ${message.type}`)
    if (message.type === 'SCHEMA') {
      if (validators.has(message.stream)) faults.push(`${message.stream}: two schemas`)
      if (message.key_properties.length === 0) faults.push(`${message.stream}: no key`)
      validators.set(message.stream, compiled(message.schema))
    }
    if (message.type === 'RECORD') faults.push(...recordFaults(message, validators))
    if (message.type === 'STATE' && message.value.currently_syncing !== null)
      faults.push('a state that is syncing')
  }
  const isWhole = !isCut && messages.length > 0
  if (isWhole && messages[0]?.type !== 'STATE') faults.push('the first line is not a STATE')
  if (isWhole && messages.at(-1)?.type !== 'STATE') faults.push('the last line is not a STATE')
  if (tellsSecret(stderr, config)) faults.push('the log tells the client secret')
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
