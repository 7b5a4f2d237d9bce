import { type Column, DELETED_AT, HELPER, KNOWN_FROM } from './column.ts'
import type { Dialect, Landing, RowFile } from './landing.ts'
import { GONE, PRESENT } from './row-file.ts'
import { quoted, type Table } from './sql.ts'

// The service chooses the names of columns. So statements name each of our own columns with its table: otherwise the
// name could also be that of a column of another table, an alias or a pseudo column.
const { op: OP, row: ROW, content: CONTENT, isGone: IS_GONE, isThere: IS_THERE } = HELPER
const { lived: LIVED, lives: LIVES, comes: COMES, key: KEY, other: OTHER } = HELPER
const byte = (code: number) => `'${String.fromCharCode(code)}'`

/** Rows that came for a table, as a relation for FROM: each key once, with what happened to its row. */
export type Incoming = string

export interface Settling {
  /** The moment from which the rows are known, as an expression. */
  readonly moment: string
  /** Whether rows that did not come are gone. */
  readonly isWhole: boolean
  /** How many rows live in the table. */
  readonly rows: number
}

/**
 * Makes a table equal to the rows that came, and touches only rows that differ. Returns how many rows live in it then. A
 * deleted row is removed, or stays with its last content and the time in `_deleted_at`. Values in columns of others stay
 * where the key of their row does.
 */
export async function settle(
  landing: Landing,
  table: Table,
  incoming: Incoming,
  settling: Settling,
): Promise<number> {
  const rows = await replaceChanged(landing, table, incoming, settling)
  if (!settling.isWhole) return rows
  const { place } = table
  const came = await countIn(landing, incoming, `one.${OP} = ${byte(PRESENT)}`)
  if ((await livingIn(landing, table)) === came) return came
  // Somebody else has added rows without a key, or with the key of another one.
  const keys = keysOf(landing.sql, table, 'one')
  const names = keys.map((key, i) => `${key} AS ${KEY}${i}`)
  const isSame = keysOf(landing.sql, table, 'old').map((key, i) => `${key} = twice.${KEY}${i}`)
  const isNull = keysOf(landing.sql, table, 'old').map((key) => `${key} IS NULL`)
  await landing.run(`DELETE FROM ${place} AS old WHERE ${isNull.join(' OR ')}`)
  await landing.run(
    `DELETE FROM ${place} AS old USING (SELECT ${names.join(', ')} FROM ${place} AS one
      GROUP BY ${keys.join(', ')} HAVING count(*) > 1) AS twice WHERE ${isSame.join(' AND ')}`,
  )
  await replaceChanged(landing, table, incoming, settling)
  return came
}

/** How many rows live in a table. */
export function livingIn(landing: Landing, table: Table): Promise<number> {
  return countIn(landing, table.place, livesAs('one', table))
}

async function countIn(landing: Landing, from: string, condition: string): Promise<number> {
  const [[count] = []] = await landing.query(
    `SELECT count(*) FROM ${from} AS one WHERE ${condition}`,
  )
  return Number(count)
}

/** The days that are no longer kept: those before `day`, by the dates in a field. */
export interface DaysLeft {
  readonly field: string
  readonly day: string
}

/**
 * Removes the rows of days that are no longer kept, deleted ones too. A row without a valid date stays. Returns how many
 * rows live in the table then.
 */
export async function removeBefore(
  landing: Landing,
  table: Table,
  { field, day }: DaysLeft,
): Promise<number> {
  const { textOf, literal } = landing.sql
  for (const { name, type, property, variantOf } of table.columns)
    if (property === field && variantOf === undefined)
      await landing.run(
        `DELETE FROM ${table.place} AS old WHERE left(${textOf(`old.${quoted(name)}`, type)}, 10) < ${literal(day)}`,
      )
  return livingIn(landing, table)
}

/** Returns how many rows live in the table then, if no key is there twice. */
async function replaceChanged(
  landing: Landing,
  table: Table,
  incoming: Incoming,
  { moment, isWhole, rows }: Settling,
): Promise<number> {
  const { place, columns, keepsDeleted, others } = table
  const { updates } = landing.sql
  const changed = await landing.scratch(
    '_protime_changed',
    changes(landing.sql, table, incoming, isWhole),
  )
  const [[before, there, after, comes] = []] = await landing.query(
    `SELECT count(*) FILTER (WHERE one.${LIVED}), count(*) FILTER (WHERE one.${IS_THERE}),
      count(*) FILTER (WHERE one.${LIVES}), count(*) FILTER (WHERE one.${COMES}) FROM ${changed} AS one`,
  )
  const isSame = (alias: string) =>
    keysOf(landing.sql, table, alias)
      .map((key, i) => `${key} = changed.${KEY}${i}`)
      .join(' AND ')
  if (keepsDeleted)
    await landing.run(
      `UPDATE ${place} AS old SET ${DELETED_AT} = ${moment}, ${KNOWN_FROM} = ${moment}
        FROM ${changed} AS changed WHERE ${isSame('old')} AND NOT changed.${COMES}`,
    )
  const leaves = keepsDeleted ? ` AND changed.${COMES}` : updates ? ` AND NOT changed.${COMES}` : ''
  if (there !== '0' && !(keepsDeleted && updates))
    await landing.run(
      `DELETE FROM ${place} AS old USING ${changed} AS changed WHERE ${isSame('old')}${leaves}`,
    )
  const carried = updates ? [] : [...others]
  const values = new Map([
    ...columns.map(({ name }) => [quoted(name), `came.${quoted(name)}`] as const),
    ...carried.map((name, i) => [quoted(name), `changed.${OTHER}${i}`] as const),
    [KNOWN_FROM, moment],
  ])
  if (keepsDeleted)
    values.set(DELETED_AT, `CASE WHEN came.${OP} <> ${byte(PRESENT)} THEN ${moment} END`)
  const coming = `${incoming} AS came JOIN ${changed} AS changed ON ${isSame('came')}`
  if (updates && there !== '0')
    await landing.run(
      `UPDATE ${place} AS old SET ${[...values].map(([name, value]) => `${name} = ${value}`).join(', ')}
        FROM ${coming} WHERE ${isSame('old')} AND changed.${COMES}`,
    )
  if (comes !== '0')
    await landing.run(
      `INSERT INTO ${place} (${[...values.keys()].join(', ')}) SELECT ${[...values.values()].join(', ')}
        FROM ${coming} WHERE changed.${COMES}${updates ? ` AND NOT changed.${IS_THERE}` : ''}`,
    )
  return rows + Number(after) - Number(before)
}

/** Selects the keys that differ: with what the table has of them, and what comes. */
function changes(sql: Dialect, table: Table, incoming: Incoming, isWhole: boolean): string {
  const { place, columns, keepsDeleted } = table
  const others = sql.updates ? [] : [...table.others]
  const [old, came] = [keysOf(sql, table, 'old'), keysOf(sql, table, 'came')]
  const lives = livesAs('old', table)
  const comes = keepsDeleted ? `came.${OP} <> ${byte(GONE)}` : `came.${OP} = ${byte(PRESENT)}`
  const rowOf = (alias: string) =>
    columns.map(({ name, type }) => sql.same(`${alias}.${quoted(name)}`, type)).join(', ')
  return `SELECT ${old.map((key, i) => `coalesce(${key}, ${came[i]}) AS ${KEY}${i}`).join(', ')},
      old.${IS_THERE} IS NOT NULL AS ${IS_THERE}, old.${IS_THERE} IS NOT NULL AND ${lives} AS ${LIVED},
      coalesce(came.${OP} = ${byte(PRESENT)}, false) AS ${LIVES}, coalesce(${comes}, false) AS ${COMES}
      ${others.map((name, i) => `, old.${quoted(name)} AS ${OTHER}${i}`).join('')}
    FROM (SELECT *, true AS ${IS_THERE} FROM ${place}) AS old
    ${isWhole ? 'FULL' : 'RIGHT'} JOIN ${incoming} AS came ON ${old.map((key, i) => `${key} = ${came[i]}`).join(' AND ')}
    WHERE CASE WHEN old.${IS_THERE} IS NULL THEN ${comes}
      WHEN coalesce(NOT (${comes}), true) THEN ${lives}
      ELSE ${lives} <> (came.${OP} = ${byte(PRESENT)}) OR (${rowOf('old')}) IS DISTINCT FROM (${rowOf('came')}) END`
}

function livesAs(alias: string, { keepsDeleted }: Table): string {
  return keepsDeleted ? `(${alias}.${DELETED_AT} IS NULL)` : 'true'
}

/**
 * Expressions for the members of the primary key, which can be compared. If one of them has a variant, each value is in
 * one of the two.
 */
function keysOf(sql: Dialect, { columns, keys }: Table, alias: string): string[] {
  const value = ({ name, type }: Column) => sql.same(`${alias}.${quoted(name)}`, type)
  const text = (column: Column) => `CAST(${value(column)} AS ${sql.type('VARCHAR')})`
  return keys.map((property) => {
    const same = columns.filter((column) => column.property === property)
    const [own] = same.filter(({ variantOf }) => variantOf === undefined) as [Column]
    const [variant] = same.filter(({ variantOf }) => variantOf !== undefined)
    if (variant === undefined) return value(own)
    return `coalesce('v' || ${text(own)}, 'j' || ${text(variant)})`
  })
}

/** The rows of files. */
export interface Batch {
  readonly added: AddedRows
  /** The last of each key. */
  readonly incoming: Incoming
  readonly hasDeletes: boolean
}

/** Reads the rows of files, and finds the last one of each key. */
export async function readBatch(
  landing: Landing,
  table: Table,
  files: readonly RowFile[],
): Promise<Batch> {
  const all = await landing.stage('_protime_batch', files, table.columns)
  const last = await landing.scratch(
    '_protime_last',
    `SELECT max(batch.${ROW}) AS ${ROW}, max(batch.${ROW}) FILTER (WHERE batch.${OP} <> ${byte(GONE)}) AS ${CONTENT},
        coalesce(max(batch.${ROW}) FILTER (WHERE batch.${OP} = ${byte(PRESENT)}), -1) < max(batch.${ROW}) AS ${IS_GONE}
      FROM ${all} AS batch GROUP BY ${keysOf(landing.sql, table, 'batch').join(', ')}`,
  )
  const [[living, gone] = []] = await landing.query(
    `SELECT count(*) FILTER (WHERE NOT last.${IS_GONE}), count(*) FILTER (WHERE last.${IS_GONE}) FROM ${last} AS last`,
  )
  const count = files.reduce((sum, file) => sum + file.count, 0)
  const added = `${all} AS added WHERE true`
  if (Number(living) === count) return { added, incoming: all, hasDeletes: false }
  const names = table.columns.map(({ name }) => `batch.${quoted(name)}`).join(', ')
  const incoming = await landing.scratch(
    '_protime_incoming',
    `SELECT ${names}, CASE WHEN NOT last.${IS_GONE} THEN '0' WHEN last.${CONTENT} IS NULL THEN '1' ELSE '2' END AS ${OP}
      FROM ${last} AS last JOIN ${all} AS batch ON batch.${ROW} = coalesce(last.${CONTENT}, last.${ROW})`,
  )
  return { added, incoming, hasDeletes: gone !== '0' }
}

/** Of rows that came, those that are gone. */
export function goneOf(incoming: Incoming): Incoming {
  return `(SELECT * FROM ${incoming} AS gone WHERE gone.${OP} <> ${byte(PRESENT)})`
}

/** The rows of another table of the stream, as rows that came. */
export function rowsOf({ place, keepsDeleted }: Table): Incoming {
  const op = keepsDeleted ? `CASE WHEN waits.${DELETED_AT} IS NULL THEN '0' ELSE '2' END` : `'0'`
  return `(SELECT *, ${op} AS ${OP} FROM ${place} AS waits)`
}

/** No rows, for a table whose rows are all gone. */
export function noRowsOf({ place }: Table): Incoming {
  return `(SELECT *, '0' AS ${OP} FROM ${place} AS none WHERE false)`
}

/** Rows with the alias `added`: what follows FROM, with a WHERE that can be continued by AND. */
export type AddedRows = string

/** The rows that were added last, with keys above this one. */
export function addedAbove(sql: Dialect, table: Table, above: number): AddedRows {
  const [key] = keysOf(sql, table, 'added')
  return `${table.place} AS added WHERE ${key} > ${above}`
}
