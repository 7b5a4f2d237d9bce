import { type Column, HELPER, KNOWN_FROM, KNOWN_UNTIL } from './column.ts'
import { ALL, type KeyRange, keyRanges } from './key-ranges.ts'
import type { Dialect, Landing, RowFile } from './landing.ts'
import { PRESENT } from './row-file.ts'
import { quoted, type Table } from './sql.ts'

// The service chooses the names of columns. So statements name each of our own columns with its table: otherwise the
// name could also be that of a column of another table, an alias or a pseudo column.
const { op: OP, row: ROW, isGone: IS_GONE, isThere: IS_THERE } = HELPER
const { comes: COMES, closes: CLOSES, key: KEY, other: OTHER } = HELPER
const IS_PRESENT = `${OP} = '${String.fromCharCode(PRESENT)}'`

/** Rows that came for a table, as a relation for FROM: each key once, with what happened to its row. */
export type Incoming = string

export interface Settling {
  /** The moment from which the rows are known, as an expression. */
  readonly moment: string
  /** Whether the rows are those of a complete read, rather than changes, */
  readonly isRead: boolean
  /** and whether rows that did not come are gone. */
  readonly isWhole: boolean
  /** How many rows the table has. */
  readonly rows: number
}

/**
 * Makes a table equal to the rows that came, and touches only rows that differ: as they were, they become closed versions if
 * the table has a history. A field that no complete read has had fills rows that have not changed otherwise, and ends none.
 * Returns how many rows it has then. Values in columns of others stay where the key of their row does.
 */
export async function settle(
  landing: Landing,
  table: Table,
  incoming: Incoming,
  settling: Settling,
): Promise<number> {
  const { place } = table
  // Before anything is compared, which cannot tell rows of one key from each other.
  if (settling.isWhole && (await countIn(landing, place)) !== settling.rows)
    await removeSurplus(landing, table)
  const rows = await replaceChanged(landing, table, incoming, settling)
  if (!settling.isWhole) return rows
  const came = await countIn(landing, `${incoming} AS one WHERE one.${IS_PRESENT}`)
  if ((await countIn(landing, place)) === came) return came
  await removeSurplus(landing, table)
  await replaceChanged(landing, table, incoming, settling)
  return came
}

/**
 * Removes rows that somebody else has added without a key, or with the key of another one: the one that is known for the longest
 * time stays, so the history goes on.
 */
async function removeSurplus(landing: Landing, table: Table): Promise<void> {
  const { place, columns } = table
  const { sql } = landing
  const keys = keysOf(sql, table, 'old')
  const isNull = keys.map((key) => `${key} IS NULL`)
  await landing.run(`DELETE FROM ${place} AS old WHERE ${isNull.join(' OR ')}`)
  if (sql.rowAt !== undefined) {
    const numbered = `SELECT ${sql.rowAt('old')} AS place,
        row_number() OVER (PARTITION BY ${keys.join(', ')} ORDER BY old.${KNOWN_FROM}) AS ${ROW} FROM ${place} AS old`
    return landing.run(
      `DELETE FROM ${place} AS old
        WHERE ${sql.rowAt('old')} IN (SELECT one.place FROM (${numbered}) AS one WHERE one.${ROW} > 1)`,
    )
  }
  const ours = [...columns.map(({ name }) => quoted(name)), KNOWN_FROM]
  const all = [...ours, ...[...table.others].map(quoted)]
  const first = await landing.scratch(
    '_protime_first',
    `SELECT DISTINCT ON (${keys.join(', ')}) ${all.map((name) => `old.${name}`).join(', ')},
        count(*) OVER (PARTITION BY ${keys.join(', ')}) AS ${ROW}
      FROM ${place} AS old ORDER BY ${[...keys, `old.${KNOWN_FROM}`].join(', ')}`,
  )
  const twice = `${first} AS first WHERE first.${ROW} > 1`
  const isSame = keysOf(sql, table, 'first').map((key, i) => `${key} = ${keys[i]}`)
  await landing.run(
    `DELETE FROM ${place} AS old USING ${twice} AND ${isSame.join(' AND ')};
     INSERT INTO ${place} (${all.join(', ')}) SELECT ${all.map((name) => `first.${name}`).join(', ')} FROM ${twice}`,
  )
}

/** How many rows follow FROM. */
export async function countIn(landing: Landing, from: string): Promise<number> {
  const [[count] = []] = await landing.query(`SELECT count(*) FROM ${from}`)
  return Number(count)
}

/** The days that are no longer kept: those before `day`, by the dates in a field. */
export interface DaysLeft {
  readonly field: string
  readonly day: string
}

/**
 * Removes the rows of days that are no longer kept, and their closed versions. A row without a valid date stays. Returns how
 * many rows the table has then.
 */
export async function removeBefore(
  landing: Landing,
  { place, columns, history }: Table,
  { field, day }: DaysLeft,
): Promise<number> {
  const { textOf, literal } = landing.sql
  for (const from of [place, ...(history === undefined ? [] : [history.place])])
    for (const { name, type, property, variantOf } of columns)
      if (property === field && variantOf === undefined)
        await landing.run(
          `DELETE FROM ${from} AS old WHERE left(${textOf(`old.${quoted(name)}`, type)}, 10) < ${literal(day)}`,
        )
  return countIn(landing, place)
}

/** Returns how many rows the table has then, if no key is there twice. */
async function replaceChanged(
  landing: Landing,
  table: Table,
  incoming: Incoming,
  { moment, isRead, isWhole, rows }: Settling,
): Promise<number> {
  const { place, columns, history, others } = table
  const { updates } = landing.sql
  const ranges = isWhole ? await rangesOf(landing, table, incoming) : [ALL]
  const inRange = (range: KeyRange) =>
    changes(landing.sql, table, incoming, { isRead, isWhole, range })
  const [first = ALL, ...more] = ranges
  const changed = await landing.scratch('_protime_changed', inRange(first))
  for (const range of more) await landing.run(`INSERT INTO ${changed} ${inRange(range)}`)
  const [[before, after] = []] = await landing.query(
    `SELECT count(*) FILTER (WHERE one.${IS_THERE}), count(*) FILTER (WHERE one.${COMES}) FROM ${changed} AS one`,
  )
  const isSame = (alias: string) =>
    keysOf(landing.sql, table, alias)
      .map((key, i) => `${key} = changed.${KEY}${i}`)
      .join(' AND ')
  if (before !== '0' && history?.hasBegun === true) {
    const names = [...columns.map(({ name }) => quoted(name)), KNOWN_FROM]
    const values = names.map((name) => `old.${name}`)
    // What did not hold as of any moment is not a version: a row that another generation of this commit has written.
    await landing.run(
      `INSERT INTO ${history.place} (${names.join(', ')}, ${KNOWN_UNTIL}) SELECT ${values.join(', ')}, ${moment}
        FROM ${place} AS old JOIN ${changed} AS changed ON ${isSame('old')}
        WHERE changed.${CLOSES} AND old.${KNOWN_FROM} < ${moment}`,
    )
  }
  if (before !== '0')
    await landing.run(
      `DELETE FROM ${place} AS old USING ${changed} AS changed
        WHERE ${isSame('old')}${updates ? ` AND NOT changed.${COMES}` : ''}`,
    )
  const values = new Map([
    ...columns.map(({ name }) => [quoted(name), `came.${quoted(name)}`] as const),
    [KNOWN_FROM, `CASE WHEN changed.${CLOSES} THEN ${moment} ELSE changed.${KNOWN_FROM} END`],
  ])
  const coming = `${incoming} AS came JOIN ${changed} AS changed ON ${isSame('came')}`
  if (updates && before !== '0')
    await landing.run(
      `UPDATE ${place} AS old SET ${[...values].map(([name, value]) => `${name} = ${value}`).join(', ')}
        FROM ${coming} WHERE ${isSame('old')} AND changed.${COMES}`,
    )
  const insert = (all: ReadonlyMap<string, string>, where: string) =>
    landing.run(
      `INSERT INTO ${place} (${[...all.keys()].join(', ')}) SELECT ${[...all.values()].join(', ')}
        FROM ${coming} WHERE changed.${COMES}${where}`,
    )
  const carried = updates
    ? []
    : [...others].map((name, i) => [quoted(name), `changed.${OTHER}${i}`] as const)
  if (after !== '0') {
    const areNew = updates || carried.length > 0
    await insert(values, areNew ? ` AND NOT changed.${IS_THERE}` : '')
    // A row that is new gets the defaults of others' columns.
    if (carried.length > 0)
      await insert(new Map([...values, ...carried]), ` AND changed.${IS_THERE}`)
  }
  return rows + Number(after) - Number(before)
}

/** The ranges of keys that are compared one after the other. */
async function rangesOf(
  landing: Landing,
  { place, columns, keys }: Table,
  incoming: Incoming,
): Promise<readonly KeyRange[]> {
  const [column, ...others] = columns.filter(({ property }) => keys.includes(property))
  const isPlain = others.length === 0 && column?.type === 'BIGINT'
  if (landing.sql.updates || !isPlain) return [ALL]
  return keyRanges(landing, `one.${quoted(column.name)}`, [place, incoming])
}

interface Comparing extends Pick<Settling, 'isRead' | 'isWhole'> {
  readonly range: KeyRange
}

/** Selects the keys in a range that differ: with what the table has of them, and what comes. */
function changes(
  sql: Dialect,
  table: Table,
  incoming: Incoming,
  { isRead, isWhole, range }: Comparing,
): string {
  const { place, columns, history } = table
  const others = sql.updates ? [] : [...table.others]
  const [old, came] = [keysOf(sql, table, 'old'), keysOf(sql, table, 'came')]
  const within = (from: string, [key = '']: readonly string[], more = '') =>
    `(SELECT *${more} FROM ${from} WHERE ${range(key)})`
  const comes = `coalesce(came.${IS_PRESENT}, false)`
  const rowOf = (alias: string, isFilled = (_: Column) => false) =>
    columns
      .map((column) => {
        const value = (from: string) => sql.same(`${from}.${quoted(column.name)}`, column.type)
        return isFilled(column) ? `coalesce(${value(alias)}, ${value('came')})` : value(alias)
      })
      .join(', ')
  const isFilled = ({ property }: Column) =>
    history?.hasBegun === true && !history.members.has(property)
  // Without a complete read, only an equal version says that a row has not changed.
  const version = columns.find(({ property }) => property === table.version)
  const isUnchanged = isRead ? 'true' : version && `old.${quoted(version.name)} IS NOT NULL`
  const closes =
    isUnchanged !== undefined && columns.some(isFilled)
      ? `NOT (old.${IS_THERE} IS NOT NULL AND ${comes} AND ${isUnchanged})
        OR (${rowOf('old', isFilled)}) IS DISTINCT FROM (${rowOf('came')})`
      : 'true'
  return `SELECT ${old.map((key, i) => `coalesce(${key}, ${came[i]}) AS ${KEY}${i}`).join(', ')},
      old.${IS_THERE} IS NOT NULL AS ${IS_THERE}, ${comes} AS ${COMES}, ${closes} AS ${CLOSES}, old.${KNOWN_FROM}
      ${others.map((name, i) => `, old.${quoted(name)} AS ${OTHER}${i}`).join('')}
    FROM ${within(`${place} AS old`, old, `, true AS ${IS_THERE}`)} AS old
    ${isWhole ? 'FULL' : 'RIGHT'} JOIN ${within(`${incoming} AS came`, came)} AS came ON ${old.map((key, i) => `${key} = ${came[i]}`).join(' AND ')}
    WHERE CASE WHEN old.${IS_THERE} IS NULL THEN ${comes} WHEN NOT ${comes} THEN true
      ELSE (${rowOf('old')}) IS DISTINCT FROM (${rowOf('came')}) END`
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
    `SELECT max(batch.${ROW}) AS ${ROW},
        coalesce(max(batch.${ROW}) FILTER (WHERE batch.${IS_PRESENT}), -1) < max(batch.${ROW}) AS ${IS_GONE}
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
    `SELECT ${names}, batch.${OP} FROM ${last} AS last JOIN ${all} AS batch ON batch.${ROW} = last.${ROW}`,
  )
  return { added, incoming, hasDeletes: gone !== '0' }
}

/** Of rows that came, those that are gone. */
export function goneOf(incoming: Incoming): Incoming {
  return `(SELECT * FROM ${incoming} AS gone WHERE NOT gone.${IS_PRESENT})`
}

/** The rows of another table of the stream, as rows that came. */
export function rowsOf({ place }: Table): Incoming {
  return `(SELECT *, '0' AS ${OP} FROM ${place} AS waits)`
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
