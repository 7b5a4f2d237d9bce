import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { packageVersion } from '../src/ground/project-files.ts'
import type { JsonSchema } from '../src/records/stream-spec.ts'
import { columnsName } from '../src/rows/checksums.ts'
import type { Stream } from '../src/streams/collections.ts'
import { INVENTORY, keyOf, readStreamSchema, streams } from '../src/streams/streams.ts'
import { parentOf } from './schema-documents.ts'

/** The types of columns, which dbt/macros/models.sql casts to. */
type ModelType = 'integer' | 'number' | 'boolean' | 'date' | 'timestamp' | 'text' | 'json'

/** A column of a staging model. */
interface ModelColumn {
  readonly name: string
  readonly type: ModelType
  /** The paths of its value in a record; several if two spellings of a field share the column. */
  readonly paths: readonly string[]
  readonly schema: JsonSchema
}

const STAGING = 'dbt/models/staging'
const SUMS = 'dbt/models/intermediate/int_protime__stream_sums.sql'
const CHECKSUMS = 'dbt/integration_tests/tests/checksums.sql'
const FITTING = 'dbt/integration_tests/tests/fitting_values.sql'
/** Where a test of the package has its cases. */
const CASES = /(?<=\{% raw %\}).*(?=\{% endraw %\})/s
const PROJECT = 'dbt/dbt_project.yml'
const README = 'dbt/README.md'
const HEAD = 'Made by `npm run docs` from schemas/'

/** All streams that have a table. */
const TABLES: readonly Stream[] = [...streams.values(), INVENTORY]

/** Names that SQL would need in quotes. */
const RENAMED: Readonly<Record<string, string>> = {
  date: 'date_day',
  from: 'from_date',
  until: 'until_date',
}

/** The streams whose records are the periods of protime__person_history. */
const PERIODS = /_histories$|^contracts$/

/** The columns that every staging model has in addition to the fields of its stream. */
const ADDED = {
  tenant: 'The tenant that the row comes from.',
  _unfit_values:
    'Number of values in the row that are null because they do not fit the type of their column.',
  _unfit_days: 'Number of dates among them.',
  _content_hash:
    'MD5 of the key, the version and the single values of the row as they were loaded; the stream inventory has the sums of these hashes.',
  _loaded_at: 'When the loader wrote the row; null if it does not say.',
}

/** The files of the dbt package that are generated from the schemas, by their paths in the repository. */
export function dbtFiles(): Map<string, string> {
  const models = TABLES.map(
    (stream) => [`${STAGING}/${modelOf(stream.stream)}.sql`, stagingModel(stream)] as const,
  )
  const rewritten = (path: string, place: RegExp, made: string) =>
    [path, readFileSync(path, 'utf8').replace(place, () => made)] as const
  return new Map([
    ...models,
    [`${STAGING}/staging.yml`, properties()],
    [SUMS, sums()],
    rewritten(CHECKSUMS, CASES, jsonOf('src/rows/checksum-vectors.json')),
    rewritten(FITTING, CASES, jsonOf('dbt/integration_tests/fitting-values.json')),
    rewritten(PROJECT, /(?<=^version: ).*$/m, packageVersion()),
    rewritten(README, /(?<=^ *revision: v).*$/m, packageVersion()),
  ])
}

/** Writes these files, and removes the models of streams that no longer exist. */
export function writeDbtFiles(): void {
  const files = dbtFiles()
  for (const name of readdirSync(STAGING)) {
    if (!files.has(`${STAGING}/${name}`)) rmSync(join(STAGING, name))
  }
  for (const [path, text] of files) writeFileSync(path, text)
}

function modelOf(stream: string): string {
  return `stg_protime__${stream}`
}

function stagingModel(stream: Stream): string {
  const columns = columnsOf(stream).map(
    ({ name, type, paths }) => `    ['${name}', '${type}', '${paths.join('|')}'],\n`,
  )
  const key = keyOf(stream).map((name) => `'${name}'`)
  return `-- ${HEAD}${stream.stream}.json
{{ protime.stage('${stream.stream}', [${key.join(', ')}], [
${columns.join('')}]) }}
`
}

/** The model with the sums of every stream, at both levels of the inventory. */
function sums(): string {
  const all = [...streams.values()]
  const selects = [...all.map(keySums), ...all.map(rowSums)].map((call) => `{{ protime.${call} }}`)
  return `-- ${HEAD}*.json\n${selects.join('\nunion all\n')}\n`
}

function keySums(stream: Stream): string {
  return `key_sums('${stream.stream}', ${keyColumns(stream)})`
}

function rowSums(stream: Stream): string {
  const version = stream.versioned === false ? 'none' : "'change_version'"
  const day = stream.dateField === undefined ? 'none' : `'${columnName(stream.dateField)}'`
  return `row_sums('${stream.stream}', ${keyColumns(stream)}, ${version}, ${day}, '${columnsName(stream)}')`
}

/** The columns of the key, each with its type. */
function keyColumns(stream: Stream): string {
  const columns = columnsOf(stream)
  const key = keyOf(stream).map((name) => {
    const type = columns.find((column) => column.name === columnName(name))?.type
    return `['${columnName(name)}', '${type}']`
  })
  return `[${key.join(', ')}]`
}

/** The cases of a file, which a test of the package has in it: dbt reads no files. */
function jsonOf(path: string): string {
  return readFileSync(path, 'utf8').trim()
}

/** The properties of sources and staging models, with the descriptions of the schemas. */
function properties(): string {
  const document = {
    sources: [
      {
        name: 'protime',
        description: 'The tables as the connector has loaded them.',
        database: "{{ var('protime_database', target.database) }}",
        schema: "{{ var('protime_schema', 'protime') }}",
        tables: TABLES.map(({ stream, description }) => ({ name: stream, description })),
      },
    ],
    models: TABLES.map(modelProperties),
  }
  return `# ${HEAD}*.json\n${stringify(document, { lineWidth: 0 })}`
}

function modelProperties(stream: Stream): object {
  const columns = columnsOf(stream)
  const values = columns.flatMap(({ name, schema }) =>
    schema['x-values'] === undefined || schema.items !== undefined
      ? []
      : [[name, schema['x-values']]],
  )
  const parents = columns.flatMap((column) => {
    const parent = parentOf(column.schema, column.paths[0] ?? '')
    return parent === undefined ? [] : [[column.name, modelOf(parent)]]
  })
  return {
    name: modelOf(stream.stream),
    description: readStreamSchema(stream.stream)['description'],
    data_tests: [
      {
        protime_key: {
          name: `protime_key_${stream.stream}`,
          arguments: { columns: ['tenant', ...keyOf(stream).map(columnName)] },
        },
      },
      {
        protime_documented: {
          name: `protime_documented_${stream.stream}`,
          arguments: {
            values: Object.fromEntries(values),
            parents: Object.fromEntries(parents),
            ...(PERIODS.test(stream.stream) ? { periods: true } : {}),
          },
          config: { severity: 'warn' },
        },
      },
    ],
    columns: [
      ...columns.map(columnProperties),
      ...Object.entries(ADDED).map(([name, description]) => ({ name, description })),
    ],
  }
}

function columnProperties(column: ModelColumn): object {
  const { name, schema } = column
  const parent = parentOf(column.schema, column.paths[0] ?? '')
  const joins = parent === undefined ? {} : { joins: `${modelOf(parent)}.id` }
  const meta = { privacy: schema['x-privacy'], ...joins }
  return { name, description: schema['description'], config: { meta } }
}

/** The columns of a stream's model, in the order of the schema. An object becomes one column per member: `person_id`. */
function columnsOf({ stream }: Stream): ModelColumn[] {
  const columns = new Map<string, ModelColumn>()
  for (const column of below(readStreamSchema(stream), [])) {
    const known = columns.get(column.name)
    const paths = [...(known?.paths ?? []), ...column.paths]
    columns.set(column.name, { ...(known ?? column), paths })
  }
  return [...columns.values()]
}

function below(schema: JsonSchema, path: readonly string[]): ModelColumn[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]): ModelColumn[] => {
    const at = [...path, name]
    if (inner.properties !== undefined) return below(inner, at)
    return [
      { name: columnName(at.join('_')), type: typeOf(inner), paths: [at.join('.')], schema: inner },
    ]
  })
}

function columnName(name: string): string {
  const snake = name
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
  return RENAMED[snake] ?? snake
}

function typeOf(schema: JsonSchema): ModelType {
  const types = [schema['type'] ?? []].flat().filter((type) => type !== 'null')
  if (types.includes('object') || types.includes('array')) return 'json'
  if (types.includes('number')) return 'number'
  if (schema['x-view'] === 'date' || schema['format'] === 'date') return 'date'
  if (schema['format'] === 'date-time') return 'timestamp'
  if (types.length > 1 || types[0] === 'string') return 'text'
  return types[0] as ModelType
}
