import type { JsonSchema } from '../records/stream-spec.ts'
import { type Column, columnType, DELETED_AT, freeName, GENERATION } from './column.ts'
import { GONE, NULL, PRESENT, QUOTING, SEPARATOR } from './row-encoder.ts'
import type { RowFile } from './stream-rows.ts'

/** A name as SQL has it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text as SQL has it. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** What a statement about a stream's table has to know. */
export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  readonly keys: readonly string[]
  /** Deleted rows stay, with the time in `_deleted_at`. */
  readonly keepsDeleted: boolean
}

/** What the first column of a row file is called. */
const OP = '_op'
/** A file is read in parts of so many bytes, side by side. */
const BUFFER = 4 * 1024 * 1024

export function createTable({ name, columns, keepsDeleted }: Table): string {
  const own = [`${GENERATION} BIGINT`, ...(keepsDeleted ? [`${DELETED_AT} TIMESTAMPTZ`] : [])]
  const all = [...columns.map(({ name, type }) => `${quoted(name)} ${type}`), ...own]
  return `CREATE TABLE IF NOT EXISTS main.${quoted(name)} (${all.join(', ')})`
}

/** What makes the columns of a table those of now. */
export function alterTable(
  name: string,
  before: readonly Column[],
  now: readonly Column[],
): string[] {
  const table = `ALTER TABLE main.${quoted(name)}`
  return now.flatMap((column, i) => {
    const old = before[i]
    const quotedName = quoted(column.name)
    if (old === undefined) return [`${table} ADD COLUMN ${quotedName} ${column.type}`]
    if (old.type === column.type) return []
    return [`${table} ALTER ${quotedName} TYPE JSON USING to_json(${quotedName})`]
  })
}

/** The rows of the files, in their order, in a table `batch`. */
export function readFiles(files: readonly RowFile[], columns: readonly Column[]): string[] {
  const [first, ...others] = files.map((file) => rowsOf(file, columns))
  if (first === undefined) return []
  return [
    `CREATE OR REPLACE TEMP TABLE batch AS ${first}`,
    ...others.map((rows) => `INSERT INTO batch ${rows}`),
  ]
}

/** Adds the rows of files to a table. */
export function append({ name, columns }: Table, files: readonly RowFile[]): string[] {
  const names = [...columns.map((column) => quoted(column.name)), GENERATION]
  return files.map(
    (file) => `INSERT INTO main.${quoted(name)} (${names.join(', ')})
      SELECT * EXCLUDE ${OP} FROM (${rowsOf(file, columns)})`,
  )
}

/** What the rows meet that were added last: keys above this one, and a generation above this one. */
export function isAdded({ keys: [key = ''] }: Table, above: number, generation: number): string {
  return `${quoted(key)} > ${above} AND ${GENERATION} > ${generation}`
}

/** Removes the rows up to a generation in whose place others were added; see `isAdded`. */
export function removeReplaced(table: Table, above: number, generation: number): string {
  const name = `main.${quoted(table.name)}`
  const key = quoted(table.keys[0] ?? '')
  return `DELETE FROM ${name} AS old
    USING (SELECT ${key} FROM ${name} WHERE ${isAdded(table, above, generation)}) AS added
    WHERE old.${key} = added.${key} AND old.${GENERATION} <= ${generation}`
}

/** The rows of a file as the table has them now: its columns may have changed since. */
function rowsOf({ path, columns, longest }: RowFile, now: readonly Column[]): string {
  const types = [
    `${literal(OP)}: 'VARCHAR'`,
    ...columns.map(({ name, type }) => `${literal(name)}: ${literal(type)}`),
    `${literal(GENERATION)}: 'BIGINT'`,
  ]
  const values = now.map(({ name, type }, i) => {
    const before = columns[i]
    if (before === undefined) return `NULL::JSON AS ${quoted(name)}`
    return before.type === type ? quoted(name) : `to_json(${quoted(name)}) AS ${quoted(name)}`
  })
  const line = longest + 1
  return `SELECT ${[OP, ...values, GENERATION].join(', ')} FROM read_csv(${literal(path)},
    auto_detect = false, header = false, delim = ${byte(SEPARATOR)}, new_line = '\\n',
    quote = ${byte(QUOTING)}, escape = ${byte(QUOTING)}, nullstr = ${byte(NULL)},
    allow_quoted_nulls = false, columns = {${types.join(', ')}},
    max_line_size = ${line}, buffer_size = ${Math.max(BUFFER, line * 2)})`
}

const byte = (code: number) => literal(String.fromCharCode(code))

/** The last row of each key of `batch`, in a table `last`. */
export function deduplicate({ keys }: Table): string[] {
  const key = keys.map(quoted).join(', ')
  return [
    `CREATE OR REPLACE TEMP TABLE last AS
      SELECT ${key}, max(rowid) FILTER (${OP} <> ${byte(GONE)}) AS content,
        max_by(${OP}, rowid) <> ${byte(PRESENT)} AS is_gone
      FROM batch GROUP BY ${key}`,
  ]
}

/** Whether `batch` has each key once, and no row that is gone, as most have. */
export const IS_PLAIN =
  'SELECT count(*) FILTER (NOT is_gone) = (SELECT count(*) FROM batch) FROM last'

/**
 * Brings `batch` into a table: the last row of a key counts, and a row that is gone goes, or stays as it
 * was last and is marked.
 */
export function merge({ name, columns, keys, keepsDeleted }: Table, isPlain: boolean): string[] {
  const table = `main.${quoted(name)}`
  const sameKey = keys.map((one) => `old.${quoted(one)} = last.${quoted(one)}`).join(' AND ')
  const names = [...columns.map((column) => quoted(column.name)), GENERATION]
  const values = names.map((one) => `batch.${one}`).join(', ')
  const into = `INSERT INTO ${table} (${names.join(', ')}`
  const replace = `DELETE FROM ${table} AS old USING last WHERE ${sameKey}`
  if (isPlain) return [replace, `${into}) SELECT ${values} FROM batch`]
  const content = 'FROM batch JOIN last ON batch.rowid = last.content'
  if (!keepsDeleted) return [replace, `${into}) SELECT ${values} ${content} WHERE NOT is_gone`]
  return [
    `UPDATE ${table} AS old SET ${DELETED_AT} = now() FROM last
      WHERE ${sameKey} AND content IS NULL AND old.${DELETED_AT} IS NULL`,
    `${replace} AND content IS NOT NULL`,
    `${into}, ${DELETED_AT}) SELECT ${values}, CASE WHEN is_gone THEN now() END ${content}`,
  ]
}

/** Rows that a complete reading has not met are gone, whoever knows of them. */
export function removeOlder({ name, keepsDeleted }: Table, generation: number): string {
  const table = `main.${quoted(name)}`
  return keepsDeleted
    ? `UPDATE ${table} SET ${DELETED_AT} = now() WHERE ${GENERATION} < ${generation} AND ${DELETED_AT} IS NULL`
    : `DELETE FROM ${table} WHERE ${GENERATION} < ${generation}`
}

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
