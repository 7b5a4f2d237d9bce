import { Ajv } from 'ajv'
import { isFields, subschemas, typesOf } from '../subschemas.ts'
import type { Fields, OfferedStream } from '../transcript.ts'

type Streams = readonly OfferedStream[]

/** The airbyte_type values, each with the JSON types that it may describe. */
const AIRBYTE_TYPES: Readonly<Record<string, readonly string[]>> = {
  timestamp_with_timezone: ['string'],
  timestamp_without_timezone: ['string'],
  time_with_timezone: ['string'],
  time_without_timezone: ['string'],
  integer: ['integer', 'number'],
}

export function namesAreUnique(streams: Streams): string[] {
  if (streams.length === 0) return ['the catalog is empty']
  const names = streams.map(({ namespace, name }) => JSON.stringify([namespace ?? null, name]))
  return [...new Set(names.filter((name, i) => names.indexOf(name) < i))].map(
    (name) => `${name} is offered twice`,
  )
}

export function modesAreDeclared(streams: Streams): string[] {
  return streams.flatMap(({ name, supported_sync_modes: modes = [], is_resumable, ...stream }) => {
    if (modes.length === 0) return [`${name} declares no sync mode`]
    const isTracked = modes.includes('incremental') || is_resumable === true
    // The protocol: source_defined_cursor must be set when is_resumable is.
    return isTracked && stream.source_defined_cursor === undefined
      ? [`${name} can be resumed and does not say who defines its cursor`]
      : []
  })
}

export function schemasAreValid(streams: Streams): string[] {
  const ajv = new Ajv({ strict: false })
  return streams.flatMap(({ name, json_schema }) =>
    ajv.validateSchema(json_schema) === true ? [] : [`${name}: ${ajv.errorsText()}`],
  )
}

export function cursorsExist(streams: Streams): string[] {
  return streams.flatMap(({ name, default_cursor_field: path = [], json_schema }) =>
    path.length === 0 || fieldAt(json_schema, path) !== undefined
      ? []
      : [`${name} has no field ${path.join('.')} for its cursor`],
  )
}

export function everyStreamHasAKey(streams: Streams): string[] {
  return streams
    .filter(({ source_defined_primary_key: key = [] }) => key.length === 0)
    .map(({ name }) => `${name} declares no primary key`)
}

export function keysExist(streams: Streams): string[] {
  return keyFields(streams).flatMap(({ name, path, field }) =>
    field === undefined ? [`${name} has no field ${path.join('.')} for its key`] : [],
  )
}

export function keysAreScalar(streams: Streams): string[] {
  return keyFields(streams).flatMap(({ name, path, field }) =>
    isFields(field) && typesOf(field).some((type) => type === 'object' || type === 'array')
      ? [`${name}: the key ${path.join('.')} is no scalar`]
      : [],
  )
}

export function schemasHaveNoRefs(streams: Streams): string[] {
  return places(streams, ({ $ref }) => ($ref === undefined ? undefined : 'has a $ref'))
}

/** Destinations know no allOf and no not. */
export function keywordsAreSupported(streams: Streams): string[] {
  return places(streams, (schema) =>
    'allOf' in schema || 'not' in schema ? 'uses allOf or not' : undefined,
  )
}

/** A closed schema turns the end of a field into a breaking change. */
export function schemasAreOpen(streams: Streams): string[] {
  return places(streams, ({ additionalProperties }) =>
    additionalProperties === undefined ||
    additionalProperties === true ||
    isFields(additionalProperties)
      ? undefined
      : 'sets additionalProperties to false',
  )
}

export function typesAreSupported(streams: Streams): string[] {
  const tops = streams
    .filter(({ json_schema }) => !typesOf(json_schema).includes('object'))
    .map(({ name }) => `${name} is no object at the top`)
  const others = places(streams, (schema) => {
    const { airbyte_type: airbyteType, format } = schema
    const types = typesOf(schema)
    if (airbyteType !== undefined) {
      const fitting = AIRBYTE_TYPES[String(airbyteType)]
      if (fitting === undefined) return `has the unknown airbyte_type ${String(airbyteType)}`
      if (types.length > 0 && !types.some((type) => fitting.includes(type)))
        return `has the airbyte_type ${String(airbyteType)} on ${types.join(', ')}`
    }
    const isTemporal = ['date', 'date-time', 'time'].includes(String(format))
    return isTemporal && types.length > 0 && !types.includes('string')
      ? `has the format ${String(format)} on ${types.join(', ')}`
      : undefined
  })
  return [...tops, ...others]
}

function places(streams: Streams, judge: (schema: Fields) => string | undefined): string[] {
  return streams.flatMap(({ name, json_schema }) =>
    [...subschemas(json_schema)].flatMap(({ at, schema }) => {
      const fault = judge(schema)
      return fault === undefined ? [] : [`${name} ${at} ${fault}`]
    }),
  )
}

function keyFields(streams: Streams) {
  return streams.flatMap(({ name, source_defined_primary_key: key = [], json_schema }) =>
    key.map((path) => ({ name, path, field: fieldAt(json_schema, path) })),
  )
}

function fieldAt(schema: Fields, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, name) => {
    const properties = isFields(node) ? node['properties'] : undefined
    return isFields(properties) ? properties[name] : undefined
  }, schema)
}
