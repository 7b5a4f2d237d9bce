import { airbyteColumns, CDC_DELETED_AT, GENERATION as SENT_BY } from '../protocol/sync-columns.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import {
  type Column,
  type ColumnType,
  columnType,
  DELETED_AT,
  freeName,
  GENERATION,
} from './column.ts'
import { fitting } from './fit.ts'
import { literal, quoted, type Table } from './sql.ts'

/** What the view and the comments of a stream are made from. */
export interface Description {
  readonly spec: StreamSpec
  readonly table: Table
  /** The members of open objects that the records have. */
  readonly members: readonly OpenMember[]
  /** The names that columns of the view have had, by their places: a name is never that of another place. */
  readonly names: ReadonlyMap<ValuePlace, string>
}

/** The place of a value in a row: the name of its column, and the JSON pointer in the column, with a line break between. */
export type ValuePlace = string

/** An object whose members the schema does not name, such as translations and external references. */
export interface OpenObject {
  readonly column: string
  /** The JSON pointer from the value of the column; empty for the value itself. */
  readonly pointer: string
}

/** A member of an open object in some record. */
export interface OpenMember extends OpenObject {
  readonly member: string
}

/** A column of a view: its place and an expression over the table, its wanted name, and its meaning. */
interface FlatColumn {
  readonly place: ValuePlace
  readonly name: string
  readonly sql: string
  readonly schema: JsonSchema | undefined
}

/** The open objects of a stream's records. */
export function openObjects(schema: JsonSchema, columns: readonly Column[]): OpenObject[] {
  return columns.flatMap((column) => {
    const property = schema.properties?.[column.property]
    return property === undefined ? [] : openBelow(property, column.name, '')
  })
}

function openBelow(schema: JsonSchema, column: string, pointer: string): OpenObject[] {
  if (!isObject(schema)) return []
  if (schema.properties === undefined) return [{ column, pointer }]
  return Object.entries(schema.properties).flatMap(([name, inner]) =>
    openBelow(inner, column, `${pointer}/${escaped(name)}`),
  )
}

/**
 * The statements that create the view of a stream, and the comments on its table, its view and their columns; and the
 * names of all places.
 */
export function describe(description: Description): {
  readonly statements: string[]
  readonly names: ReadonlyMap<ValuePlace, string>
} {
  const { spec, table } = description
  const name = quoted(table.name)
  const columns = flatColumns(description)
  const values = columns.map((column) => `${column.sql} AS ${quoted(column.name)}`)
  const living = table.keepsDeleted ? ` WHERE source.${DELETED_AT} IS NULL` : ''
  const statements = [
    `CREATE OR REPLACE VIEW flat.${name} AS SELECT ${values.join(', ')} FROM main.${name} AS source${living}`,
    ...comment(`TABLE main.${name}`, spec.schema),
    ...comment(`VIEW flat.${name}`, spec.schema),
    ...table.columns.flatMap((column) =>
      comment(`COLUMN main.${name}.${quoted(column.name)}`, schemaOf(column, spec.schema)),
    ),
    ...comment(`COLUMN main.${name}.${GENERATION}`, airbyteColumns(spec)[SENT_BY]),
    ...(table.keepsDeleted
      ? comment(`COLUMN main.${name}.${DELETED_AT}`, airbyteColumns(spec)[CDC_DELETED_AT])
      : []),
    ...columns.flatMap((column) =>
      comment(`COLUMN flat.${name}.${quoted(column.name)}`, column.schema),
    ),
  ]
  const names = new Map(description.names)
  for (const column of columns) names.set(column.place, column.name)
  return { statements, names }
}

function comment(place: string, schema: JsonSchema | undefined): string[] {
  const text = schema?.['description']
  return typeof text === 'string' ? [`COMMENT ON ${place} IS ${literal(text)}`] : []
}

function schemaOf(column: Column, schema: JsonSchema): JsonSchema | undefined {
  if (column.variantOf === undefined) return schema.properties?.[column.property]
  return { description: `Values that do not fit into the column ${column.variantOf}, unchanged.` }
}

/**
 * The columns of a stream's view. Nested objects get a column per member, such as `person_id`. Members of an open
 * object are named like members of the surrounding object, such as `name_nl`.
 */
function flatColumns({ spec, table, members, names }: Description): FlatColumn[] {
  const taken = new Set([...names.values()].map((name) => name.toLowerCase()))
  return table.columns
    .flatMap((column) => flattened(column, schemaOf(column, spec.schema), members))
    .map((column) => ({
      ...column,
      name: names.get(column.place) ?? freeName(column.name, taken),
    }))
}

function flattened(
  column: Column,
  schema: JsonSchema | undefined,
  members: readonly OpenMember[],
): FlatColumn[] {
  const value = `source.${quoted(column.name)}`
  if (schema === undefined || !isObject(schema) || column.type !== 'JSON')
    return [{ place: placeOf(''), name: column.name, sql: whole(), schema }]
  return below(schema, [column.name], '', '')

  function below(inner: JsonSchema, path: readonly string[], at: string, name: string) {
    if (inner.properties === undefined && isObject(inner)) return openColumns(path.slice(0, -1), at)
    if (inner.properties === undefined)
      return [{ place: placeOf(at), name, sql: valueAt(at, inner), schema: inner }]
    return Object.entries(inner.properties).flatMap(([property, next]): FlatColumn[] => {
      const further = [...path, property]
      return below(next, further, `${at}/${escaped(property)}`, further.join('_'))
    })
  }

  function openColumns(path: readonly string[], at: string): FlatColumn[] {
    return members
      .filter(({ column: name, pointer }) => name === column.name && pointer === at)
      .map(({ member }) => {
        const pointer = `${at}/${escaped(member)}`
        return {
          place: placeOf(pointer),
          name: [...path, plain(member)].join('_'),
          sql: valueAt(pointer, { type: 'string' }),
          schema: undefined,
        }
      })
  }

  function placeOf(pointer: string): ValuePlace {
    return `${column.name}\n${pointer}`
  }

  function whole(): string {
    const type = schema === undefined ? column.type : viewType(schema)
    if (type === column.type || type === 'JSON') return value
    const text = column.type === 'JSON' ? `${value}->>'$'` : `CAST(${value} AS VARCHAR)`
    return shown(text, type, schema, column.type === 'JSON' ? value : text)
  }

  function valueAt(pointer: string, inner: JsonSchema): string {
    const type = viewType(inner)
    if (type === 'JSON') return `(${value}->${literal(pointer)})`
    const text = `${value}->>${literal(pointer)}`
    return shown(text, type, inner, type === 'DOUBLE' ? written(pointer, text) : text)
  }

  /** DuckDB rounds numbers that it takes out of an object. */
  function written(pointer: string, text: string): string {
    const name = JSON.stringify(pointer.split('/').at(-1)).replace(/\W/g, '\\$&')
    const number = `regexp_extract(${value}, ${literal(`${name}\\s*:\\s*(-?\\d[-+.eE\\d]*)`)}, 1)`
    return `coalesce(nullif(${number}, ''), ${text})`
  }
}

/** The value of a text in a view. */
function shown(text: string, type: ColumnType, schema?: JsonSchema, written = text): string {
  // The service may send a day as the time at which it begins.
  const isDay = schema?.['x-view'] === 'date'
  const without = `regexp_replace(${text}, '[T ]00:00(:00([.]0+)?)?Z?$', '')`
  return fitting(isDay ? without : `(${text})`, type, isDay ? without : written)
}

/** The type of the column in the view; values of other types are shown as null. */
function viewType(schema: JsonSchema): ColumnType {
  const types = [schema['type'] ?? []].flat()
  if (schema['x-view'] === 'date') return 'DATE'
  return types.includes('number') && types.includes('string') ? 'DOUBLE' : columnType(schema)
}

function isObject({ type = [] }: JsonSchema): boolean {
  return [type].flat().includes('object')
}

/** Escapes a name for a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Converts a name to one that SQL accepts without quotes. */
function plain(name: string): string {
  return name.replace(/\W+/g, '_').replace(/^_+|_+$/g, '') || 'value'
}
