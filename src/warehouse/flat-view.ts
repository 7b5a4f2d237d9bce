import type { JsonSchema } from '../protocol/stream-spec.ts'
import { type Column, columnType, freeName } from './column.ts'
import { literal, quoted } from './sql.ts'

/** An object whose members no schema names: translations, external references. */
export interface OpenObject {
  readonly column: string
  /** JSON pointer from the column's value; empty where it is that value. */
  readonly pointer: string
}

/** A member of an open object that some record has. */
export interface OpenMember extends OpenObject {
  readonly member: string
}

/** A column of a view: an expression over the table, and the name that it is to have. */
interface FlatColumn {
  readonly name: string
  readonly sql: string
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
 * The columns of a stream's view: nested objects as a column per member, `person_id`. The members of an
 * open object are named as those of the object around it: `name_nl`.
 */
export function flatColumns(
  schema: JsonSchema,
  columns: readonly Column[],
  members: readonly OpenMember[],
): string[] {
  const taken = new Set<string>()
  return columns
    .flatMap((column) => flattened(column, schema.properties?.[column.property], members))
    .map(({ name, sql }) => `${sql} AS ${quoted(freeName(name, taken))}`)
}

function flattened(
  column: Column,
  schema: JsonSchema | undefined,
  members: readonly OpenMember[],
): FlatColumn[] {
  const isFlat = schema === undefined || !isObject(schema) || column.type !== 'JSON'
  if (isFlat) return [{ name: column.name, sql: quoted(column.name) }]
  return below(schema, [column.name], '', '')

  function below(inner: JsonSchema, path: readonly string[], at: string, name: string) {
    if (inner.properties === undefined && isObject(inner)) return openColumns(path.slice(0, -1), at)
    if (inner.properties === undefined) return [{ name, sql: valueAt(at, inner) }]
    return Object.entries(inner.properties).flatMap(([property, next]): FlatColumn[] => {
      const further = [...path, property]
      return below(next, further, `${at}/${escaped(property)}`, further.join('_'))
    })
  }

  function openColumns(path: readonly string[], at: string): FlatColumn[] {
    return members
      .filter(({ column: name, pointer }) => name === column.name && pointer === at)
      .map(({ member }) => ({
        name: [...path, plain(member)].join('_'),
        sql: valueAt(`${at}/${escaped(member)}`, { type: 'string' }),
      }))
  }

  function valueAt(pointer: string, inner: JsonSchema): string {
    const type = columnType(inner)
    const value = `${quoted(column.name)}${type === 'JSON' ? '->' : '->>'}${literal(pointer)}`
    return type === 'JSON' || type === 'VARCHAR' ? `(${value})` : `TRY_CAST(${value} AS ${type})`
  }
}

function isObject({ type = [] }: JsonSchema): boolean {
  return [type].flat().includes('object')
}

/** A name as a JSON pointer has it. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A name that SQL takes without quotes. */
function plain(name: string): string {
  return name.replace(/\W+/g, '_').replace(/^_+|_+$/g, '') || 'value'
}
