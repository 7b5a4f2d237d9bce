import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { tellsSecret } from './output.ts'

export type SingerRow = Readonly<Record<string, unknown>>

/** A message of Singer, as far as the tests look into it. */
export type SingerMessage =
  | {
      readonly type: 'SCHEMA'
      readonly stream: string
      readonly schema: { readonly properties: SingerRow }
      readonly key_properties: readonly string[]
      readonly bookmark_properties: readonly string[]
    }
  | {
      readonly type: 'RECORD'
      readonly stream: string
      readonly record: SingerRow
      readonly version: number
      readonly time_extracted: string
    }
  | { readonly type: 'STATE'; readonly value: SingerState }
  | { readonly type: 'ACTIVATE_VERSION'; readonly stream: string; readonly version: number }

/** What a STATE message carries and a runner stores. */
export interface SingerState {
  readonly bookmarks: Readonly<Record<string, SingerRow>>
  readonly currently_syncing: null
}

/** The last STATE of an output. */
export function lastState(messages: readonly SingerMessage[]): SingerState | undefined {
  const last = messages.findLast(({ type }) => type === 'STATE')
  return last?.type === 'STATE' ? last.value : undefined
}

interface CatalogEntry {
  readonly tap_stream_id: string
  readonly stream: string
  readonly schema: Schema
  readonly key_properties: readonly string[]
  readonly metadata: readonly {
    readonly breadcrumb: readonly string[]
    readonly metadata: SingerRow
  }[]
}

export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

export interface Catalog {
  readonly streams: readonly CatalogEntry[]
}

/** A catalog that a runner would write: these streams and all their fields but some. */
export function selecting(
  streams: readonly string[],
  deselected: readonly string[][] = [],
): object {
  return {
    streams: streams.map((stream) => ({
      tap_stream_id: stream,
      stream,
      schema: {},
      metadata: [
        { breadcrumb: [], metadata: { selected: true } },
        ...deselected.map((breadcrumb) => ({ breadcrumb, metadata: { selected: false } })),
      ],
    })),
  }
}

/** Every field of a schema by its breadcrumb, nested ones and members of lists too. */
export function breadcrumbsOf(
  { properties = {}, items }: Schema,
  at: readonly string[] = [],
): string[][] {
  const inList = items === undefined ? [] : breadcrumbsOf(items, [...at, 'items'])
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const breadcrumb = [...at, 'properties', name]
    return [breadcrumb, ...breadcrumbsOf(schema, breadcrumb)]
  })
  return [...fields, ...inList]
}

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
      if (!message.bookmark_properties.every((name) => name in message.schema.properties))
        faults.push(`${message.stream}: a bookmark property that its schema does not have`)
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
  if (!Number.isSafeInteger(record['_ab_cdc_cursor'])) faults.push(`${stream}: no cursor`)
  if (version !== undefined && (!Number.isInteger(version) || version > 2 ** 31 - 1))
    faults.push(`${stream}: version ${version} is no 32-bit integer`)
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time)) faults.push(`${stream}: time_extracted ${time}`)
  return faults
}

const ajv = new Ajv({ strict: false })
addFormats.default(ajv)
const validatorsByText = new Map<string, ValidateFunction>()

/** To compile a schema takes longer than the run that has it, and most runs have those of runs before. */
function compiled(schema: object): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = validatorsByText.get(text) ?? ajv.compile(schema)
  validatorsByText.set(text, validate)
  return validate
}
