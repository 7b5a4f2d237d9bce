import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import { type Column, type ColumnType, columnType, KNOWN_FROM, KNOWN_UNTIL } from './column.ts'
import { freeName } from './column-names.ts'
import { fitting } from './fit.ts'
import type { Dialect, FlatView } from './landing.ts'
import { quoted, type Table } from './sql.ts'

/** The columns that only the view of the history has. */
const [FROM, UNTIL] = ['known_from', 'known_until']
const FROM_WHEN = 'When the sync wrote the row with its present values: the moment of the commit.'
const UNTIL_WHEN =
  'When a later sync wrote other values, or that the row is deleted; null for what is true now.'

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
    // What a second column has may be what the engine cannot look into.
    const isClosed = property === undefined || column.variantOf !== undefined
    return isClosed ? [] : openBelow(property, column.name, '')
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
 * The views of a stream, with comments on its table, too: of what is true now and, with a history, of what was before, too.
 * And the names of all places.
 */
export function describe(
  sql: Dialect,
  description: Description,
): { readonly views: readonly FlatView[]; readonly names: ReadonlyMap<ValuePlace, string> } {
  const { spec, table } = description
  const [name, { tables, flat, history }] = [quoted(table.name), sql.schemas]
  const columns = flatColumns(sql, description)
  const values = columns.map((column) => `${column.sql} AS ${quoted(column.name)}`)
  const comment = (place: string, schema: JsonSchema | undefined): string[] => {
    const text = schema?.['description']
    return typeof text === 'string' ? [`COMMENT ON ${place} IS ${sql.literal(text)}`] : []
  }
  const comments = [
    ...comment(`TABLE ${tables}.${name}`, spec.schema),
    ...comment(`VIEW ${flat}.${name}`, spec.schema),
    ...table.columns.flatMap((column) =>
      comment(`COLUMN ${tables}.${name}.${quoted(column.name)}`, schemaOf(column, spec.schema)),
    ),
    ...comment(`COLUMN ${tables}.${name}.${KNOWN_FROM}`, { description: FROM_WHEN }),
    ...columns.flatMap((column) =>
      comment(`COLUMN ${flat}.${name}.${quoted(column.name)}`, column.schema),
    ),
  ]
  const names = new Map(description.names)
  for (const column of columns) names.set(column.place, column.name)
  const select = (place: string, own: readonly string[] = []) =>
    `SELECT ${[...values, ...own].join(', ')} FROM ${place} AS source`
  const view = { name: table.name, columns: columns.map((one) => one.name) }
  const now = { ...view, schema: flat, query: select(`${tables}.${name}`), comments }
  if (table.history === undefined) return { views: [now], names }
  const then = {
    ...view,
    schema: history,
    columns: [...view.columns, FROM, UNTIL],
    query: `${select(`${tables}.${name}`, [`source.${KNOWN_FROM} AS ${FROM}`, `CAST(NULL AS TIMESTAMP WITH TIME ZONE) AS ${UNTIL}`])}
      UNION ALL ${select(table.history.place, [`source.${KNOWN_FROM}`, `source.${KNOWN_UNTIL}`])}`,
    comments: [
      ...comment(`VIEW ${history}.${name}`, spec.schema),
      ...comment(`COLUMN ${history}.${name}.${FROM}`, { description: FROM_WHEN }),
      ...comment(`COLUMN ${history}.${name}.${UNTIL}`, { description: UNTIL_WHEN }),
    ],
  }
  return { views: [now, then], names }
}

function schemaOf(column: Column, schema: JsonSchema): JsonSchema | undefined {
  if (column.variantOf === undefined) return schema.properties?.[column.property]
  return { description: `Values that do not fit into the column ${column.variantOf}, unchanged.` }
}

/**
 * The columns of a stream's view. Nested objects get a column per member, such as `person_id`. Members of an open
 * object are named like members of the surrounding object, such as `name_nl`.
 */
function flatColumns(sql: Dialect, { spec, table, members, names }: Description): FlatColumn[] {
  const taken = new Set([FROM, UNTIL, ...[...names.values()].map((name) => name.toLowerCase())])
  return table.columns
    .flatMap((column) => flattened(sql, column, schemaOf(column, spec.schema), members))
    .map((column) => ({
      ...column,
      name: names.get(column.place) ?? freeName(column.name, taken, sql.limits),
    }))
}

function flattened(
  sql: Dialect,
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
    if (column.type === 'JSON') return shown(sql.textAt(value, ''), type, value)
    return shown(`CAST(${value} AS ${sql.type('VARCHAR')})`, type)
  }

  function valueAt(pointer: string, inner: JsonSchema): string {
    const type = viewType(inner)
    if (type === 'JSON') return sql.jsonAt(value, pointer)
    const text = sql.textAt(value, pointer)
    return shown(text, type, type === 'DOUBLE' ? sql.numberAt(value, pointer) : text, inner)
  }

  /** The value of a text in a view. */
  function shown(text: string, type: ColumnType, written = text, inner = schema): string {
    // The service may send a day as the time at which it begins.
    const isDay = inner?.['x-view'] === 'date'
    const without = `regexp_replace(${text}, '[T ]00:00(:00([.]0+)?)?Z?$', '')`
    return fitting(sql, isDay ? without : `(${text})`, type, isDay ? without : written)
  }
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
