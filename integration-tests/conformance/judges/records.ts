import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { parseStrictly } from '../strict-json.ts'
import { isFields, subschemas } from '../subschemas.ts'
import { type Fields, type OfferedStream, recordsOf, type Transcript } from '../transcript.ts'

type Streams = readonly OfferedStream[]

/** CAT's shape of a date-time; what looks like it must also be a moment. */
const DATE_TIME = /^\d{4}-\d?\d-\d?\d[ T]\d?\d:\d?\d:\d?\d(\.\d+)?.*$/

/** Faults of one kind told per stream. */
const TOLD = 3

export function everyStreamHasRecords(transcript: Transcript, streams: Streams): string[] {
  const seen = new Set(recordsOf(transcript).map(({ stream }) => stream))
  return streams.filter(({ name }) => !seen.has(name)).map(({ name }) => `${name} has no record`)
}

/** The platform fails a sync at a record of a stream that was not chosen, and drops an empty one. */
export function recordsBelong(transcript: Transcript, streams: Streams): string[] {
  const chosen = new Set(streams.map(({ namespace, name }) => `${namespace ?? ''} ${name}`))
  return few(
    recordsOf(transcript).flatMap(({ stream, namespace }) =>
      chosen.has(`${namespace ?? ''} ${stream}`) ? [] : [`a record of ${stream} was not asked for`],
    ),
  )
}

export function recordsAreNotEmpty(transcript: Transcript): string[] {
  return few(
    recordsOf(transcript).flatMap(({ stream, data }) =>
      Object.keys(data).length === 0 ? [`${stream} has an empty record`] : [],
    ),
  )
}

/** A record whose keys are all null fails a sync with deduplication; a key is no list or object. */
export function keysAreFilled(transcript: Transcript, streams: Streams): string[] {
  const keys = new Map(streams.map((stream) => [stream.name, keyOf(stream)]))
  return few(
    recordsOf(transcript).flatMap(({ stream, data }) => {
      const key = keys.get(stream) ?? []
      const values = key.map((path) => valueAt(data, path))
      if (values.some((value) => typeof value === 'object' && value !== null))
        return [`${stream} has a key that is no scalar`]
      const isNull =
        values.length > 0 && values.every((value) => value === null || value === undefined)
      return isNull ? [`${stream} has a record without a key`] : []
    }),
  )
}

/** Every record is valid by the schema that was discovered, draft 7 with strict integers. */
export function recordsFitSchemas({ lines }: Transcript, streams: Streams): string[] {
  const validators = new Map(streams.map(({ name, json_schema }) => [name, validator(json_schema)]))
  const faults = new Map<string, string>()
  for (const { message, text } of lines) {
    if (message?.record === undefined) continue
    const { stream, data } = parseStrictly(text).record as NonNullable<typeof message.record>
    const validate = validators.get(stream)
    if (validate === undefined || validate(data)) continue
    for (const { schemaPath, instancePath } of validate.errors ?? [])
      faults.set(`${stream} ${schemaPath}`, `${stream} ${instancePath} breaks ${schemaPath}`)
  }
  return few([...faults.values()])
}

/** A schema that requires nothing takes any object, so a record has to share a field with it. */
export function columnsAreKnown(transcript: Transcript, streams: Streams): string[] {
  const known = new Map(
    streams.map(({ name, json_schema }) => [name, Object.keys(propertiesOf(json_schema))]),
  )
  const strange = new Set(
    recordsOf(transcript).flatMap(({ stream, data }) => {
      const columns = known.get(stream) ?? []
      return Object.keys(data)
        .filter((column) => !columns.includes(column))
        .map((column) => `${stream} has the column ${column}, which its schema lacks`)
    }),
  )
  return few([...strange])
}

/** What CAT calls expected records: rows that are known to exist, found by their keys. */
export function expectedRowsAreThere(
  transcript: Transcript,
  streams: Streams,
  expected: (stream: string) => readonly Fields[] | undefined,
): string[] {
  return few(
    streams.flatMap((stream) => {
      const found = new Set(
        recordsOf(transcript, stream.name).map(({ data }) => keyText(stream, data)),
      )
      return (expected(stream.name) ?? [])
        .filter((row) => !found.has(keyText(stream, row)))
        .map((row) => `${stream.name} lacks ${keyText(stream, row)}`)
    }),
  )
}

/** The primary key of a row as text; of a stream without one the whole row. */
export function keyText(stream: OfferedStream, row: Fields): string {
  const key = keyOf(stream)
  return JSON.stringify(key.length === 0 ? row : key.map((path) => valueAt(row, path)))
}

function keyOf({ source_defined_primary_key: key = [] }: OfferedStream) {
  return key
}

function valueAt(row: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, name) => (isFields(node) ? node[name] : undefined), row)
}

function propertiesOf({ properties }: Fields): Fields {
  return isFields(properties) ? properties : {}
}

function validator(schema: Fields): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addFormat('date-time', (text) => DATE_TIME.test(text) && isMoment(text))
  const isPlain = [...subschemas(schema)].every(({ schema: { $ref } }) => $ref === undefined)
  // A reference that leads nowhere is another judge's fault; here it would only be an exception.
  return isPlain ? ajv.compile(schema) : ajv.compile({})
}

function isMoment(text: string): boolean {
  return !Number.isNaN(Date.parse(text.replace(' ', 'T'))) || !Number.isNaN(Date.parse(text))
}

function few(faults: readonly string[]): string[] {
  const kinds = new Map<string, number>()
  return faults.filter((fault) => {
    const kind = fault.split(' ')[0] ?? ''
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    return (kinds.get(kind) ?? 0) <= TOLD
  })
}
