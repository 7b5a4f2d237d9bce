import { type Column, DELETED_AT, GENERATION } from './column.ts'
import { GONE, NULL, PRESENT, QUOTING, SEPARATOR } from './row-format.ts'
import { literal, quoted } from './sql.ts'
import type { RowFile } from './stream-rows.ts'

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
