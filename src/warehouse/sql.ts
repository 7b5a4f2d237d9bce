import { type Column, DELETED_AT, GENERATION, HELPER } from './column.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { GONE, PRESENT } from './row-file.ts'

/** Quotes a name for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** What statements need to know about the table of a stream. */
export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  /** The members of the primary key. */
  readonly keys: readonly string[]
  /** Keeps deleted rows, with the time in `_deleted_at`. */
  readonly keepsDeleted: boolean
}

/** Rows with the alias `added`: what follows FROM, with a WHERE that can be continued by AND. */
export type AddedRows = string

// The service chooses the names of columns. So statements name each of our own columns with its table: otherwise the
// name could also be that of a column of another table, an alias or a pseudo column.
const { op: OP, row: ROW, content: CONTENT, isGone: IS_GONE } = HELPER
/** The table of the rows that are being committed. */
const BATCH = 'temp._protime_batch'
/** The table of the last row of each key of the batch. */
const LAST = 'temp._protime_last'

/** Creates the table of a stream if it does not exist. */
export function createTable({ name, columns, keepsDeleted }: Table): string {
  const own = [`${GENERATION} BIGINT`, ...(keepsDeleted ? [`${DELETED_AT} TIMESTAMPTZ`] : [])]
  const all = [...columns.map(({ name, type }) => `${quoted(name)} ${type}`), ...own]
  return `CREATE TABLE IF NOT EXISTS main.${quoted(name)} (${all.join(', ')})`
}

/** Updates the columns of a table: new ones are added at the end, and variants may be dropped. */
export function alterTable(
  name: string,
  before: readonly Column[],
  now: readonly Column[],
): string[] {
  const table = `ALTER TABLE main.${quoted(name)}`
  const missing = (from: readonly Column[], those: readonly Column[]) => {
    const names = new Set(those.map((column) => column.name))
    return from.filter((column) => !names.has(column.name))
  }
  return [
    ...missing(before, now).map((column) => `${table} DROP COLUMN ${quoted(column.name)}`),
    ...missing(now, before).map(
      (column) => `${table} ADD COLUMN ${quoted(column.name)} ${column.type}`,
    ),
  ]
}

/** The rows that were added last, with keys above this one. */
export function addedAbove(table: Table, above: number): AddedRows {
  const [key] = keyColumns(table)
  return `main.${quoted(table.name)} AS added WHERE added.${key} > ${above}`
}

/** The rows of the batch. */
export const BATCH_ROWS: AddedRows = `${BATCH} AS added WHERE true`

/** The columns of the primary key. If one of them has a variant, each value is in one of the two. */
function keyColumns({ columns, keys }: Table): string[] {
  return columns.filter(({ property }) => keys.includes(property)).map(({ name }) => quoted(name))
}

function namesOf(columns: readonly Column[]): string[] {
  return [...columns.map(({ name }) => quoted(name)), GENERATION]
}

const { literal } = duckDbDialect

const byte = (code: number) => `'${String.fromCharCode(code)}'`

/** Finds the last row of each key of the batch. */
export function deduplicate(table: Table): string[] {
  const key = keyColumns(table).map((column) => `batch.${column}`)
  return [
    `CREATE OR REPLACE TEMP TABLE ${LAST.slice(5)} AS SELECT ${key.join(', ')},
        max(batch.${ROW}) FILTER (batch.${OP} <> ${byte(GONE)}) AS ${CONTENT},
        max_by(batch.${OP}, batch.${ROW}) <> ${byte(PRESENT)} AS ${IS_GONE}
      FROM ${BATCH} AS batch GROUP BY ${key.join(', ')}`,
  ]
}

/** Selects whether the batch has each key only once and no deleted row, like most batches. */
export const IS_PLAIN = `SELECT count(*) FILTER (NOT last.${IS_GONE}) = (SELECT count(*) FROM ${BATCH})
  FROM ${LAST} AS last`

/**
 * Writes the batch into a table. The last row of each key counts. A deleted row is removed, or stays with its last
 * content and the time in `_deleted_at`.
 */
export function merge(table: Table, generation: number, isPlain: boolean): string[] {
  const { columns, keepsDeleted } = table
  const name = `main.${quoted(table.name)}`
  const isSame = isSameKey(table)
  const names = namesOf(columns)
  const values = [...columns.map(({ name }) => `batch.${quoted(name)}`), generation].join(', ')
  const into = `INSERT INTO ${name} (${names.join(', ')}`
  const replace = `DELETE FROM ${name} AS old USING ${LAST} AS last WHERE ${isSame}`
  if (isPlain) return [replace, `${into}) SELECT ${values} FROM ${BATCH} AS batch`]
  const content = `FROM ${BATCH} AS batch JOIN ${LAST} AS last ON batch.${ROW} = last.${CONTENT}`
  if (!keepsDeleted)
    return [replace, `${into}) SELECT ${values} ${content} WHERE NOT last.${IS_GONE}`]
  return [
    `UPDATE ${name} AS old SET ${DELETED_AT} = now() FROM ${LAST} AS last
      WHERE ${isSame} AND last.${CONTENT} IS NULL AND old.${DELETED_AT} IS NULL`,
    `${replace} AND last.${CONTENT} IS NOT NULL`,
    `${into}, ${DELETED_AT}) SELECT ${values}, CASE WHEN last.${IS_GONE} THEN now() END ${content}`,
  ]
}

function isSameKey(table: Table): string {
  const keys = keyColumns(table)
  // If a key column has a variant, one of the two is null.
  const equals = keys.length > table.keys.length ? 'IS NOT DISTINCT FROM' : '='
  return keys.map((key) => `old.${key} ${equals} last.${key}`).join(' AND ')
}

/** Removes rows whose deletion is in the batch from a table, when the batch was written into the next table. */
export function removeGone(table: Table): string {
  const old = `main.${quoted(table.name)} AS old`
  const isGone = `${isSameKey(table)} AND last.${IS_GONE}`
  return table.keepsDeleted
    ? `UPDATE ${old} SET ${DELETED_AT} = now() FROM ${LAST} AS last WHERE ${isGone} AND old.${DELETED_AT} IS NULL`
    : `DELETE FROM ${old} USING ${LAST} AS last WHERE ${isGone}`
}

/** The table of the rows that wait to replace those of a table: the next table. */
export function nextOf(table: Table): Table {
  return { ...table, name: `${NEXT}${table.name}` }
}

const NEXT = '_protime_next_'

/** Selects the streams that have a next table. */
export const STREAMS_WITH_NEXT = `SELECT table_name[${NEXT.length + 1}:] FROM duckdb_tables()
  WHERE database_name = current_database() AND schema_name = 'main' AND starts_with(table_name, ${literal(NEXT)})`

/** Replaces a table by its next table. */
export function replaceByNext(table: Table): string[] {
  const name = quoted(table.name)
  return [
    `DROP TABLE main.${name}`,
    `ALTER TABLE main.${quoted(nextOf(table).name)} RENAME TO ${name}`,
  ]
}

/** Moves the rows of the next table into a table, where each replaces the row with the same key. */
export function moveFromNext(table: Table): string[] {
  const [name, next] = [table, nextOf(table)].map((one) => `main.${quoted(one.name)}`)
  const own = table.keepsDeleted ? [DELETED_AT] : []
  const names = [...namesOf(table.columns), ...own]
  return [
    `DELETE FROM ${name} AS old USING ${next} AS last WHERE ${isSameKey(table)}`,
    `INSERT INTO ${name} (${names.join(', ')}) SELECT ${names.map((one) => `last.${one}`).join(', ')} FROM ${next} AS last`,
    `DROP TABLE ${next}`,
  ]
}

/** Counts the columns, indexes and constraints of a table that no sync has created. */
export function madeByOthers({ name, columns }: Table): string {
  const of = `WHERE database_name = current_database() AND schema_name = 'main' AND table_name = ${literal(name)}`
  const ours = [...columns.map((column) => column.name), GENERATION, DELETED_AT].map(literal)
  return `SELECT (SELECT count(*) FROM duckdb_columns() ${of} AND column_name NOT IN (${ours.join(', ')}))
    + (SELECT count(*) FROM duckdb_indexes() ${of}) + (SELECT count(*) FROM duckdb_constraints() ${of})`
}

/** Removes the rows that a complete read has not found: those of older generations. */
export function removeOlder({ name, keepsDeleted }: Table, generation: number): string {
  const table = `main.${quoted(name)} AS old`
  // A row that somebody else has put there may have none.
  const isOlder = `coalesce(old.${GENERATION}, -1) < ${generation}`
  return keepsDeleted
    ? `UPDATE ${table} SET ${DELETED_AT} = now()
        WHERE ${isOlder} AND old.${DELETED_AT} IS NULL`
    : `DELETE FROM ${table} WHERE ${isOlder}`
}
