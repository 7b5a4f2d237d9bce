import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { type Column, type ColumnType, GENERATION } from './column.ts'
import { run, texts } from './duckdb.ts'
import { type Description, type OpenMember, openObjects } from './flat-view.ts'
import { type AddedRows, createTable, literal, nextOf, quoted, type Table } from './sql.ts'

/** Members of an open object with more members than this are only in its JSON. */
const MAX_MEMBERS = 100

/** The file's account of its tables, their views, and the states of their rows. */
export const KNOWN_TABLES = [
  // Without a primary key: after a disk was full, DuckDB finds keys in an index that the table does not have.
  'CREATE TABLE IF NOT EXISTS _protime.states (stream VARCHAR, state JSON NOT NULL)',
  // A property is its JSON text: no other has half of a surrogate pair.
  'CREATE TABLE IF NOT EXISTS _protime.columns (stream VARCHAR, position INTEGER, property VARCHAR, name VARCHAR, type VARCHAR, variant_of VARCHAR)',
  'CREATE TABLE IF NOT EXISTS _protime.members (stream VARCHAR, name VARCHAR, pointer VARCHAR, member VARCHAR)',
  'CREATE TABLE IF NOT EXISTS _protime.described (stream VARCHAR, digest VARCHAR)',
]

/** The existing views. */
export const DIGESTS = `SELECT described.stream, described.digest FROM _protime.described AS described
  JOIN duckdb_views() AS present ON present.schema_name = 'flat' AND present.view_name = described.stream`

/** The columns of each table, in their order. */
export async function storedColumns(connection: DuckDBConnection): Promise<Map<string, Column[]>> {
  const columns = new Map<string, Column[]>()
  const reader = await connection.runAndReadAll(
    'SELECT stream, property, name, type, variant_of FROM _protime.columns ORDER BY stream, position',
  )
  for (const [stream, property, name, type, variantOf] of reader.getRows() as string[][]) {
    const column = {
      property: JSON.parse(property as string) as string,
      name: name as string,
      type: type as ColumnType,
      variantOf: variantOf ?? undefined,
    }
    columns.set(stream as string, [...(columns.get(stream as string) ?? []), column])
  }
  return columns
}

/** The members of open objects that the views have as columns. */
export async function storedMembers(
  connection: DuckDBConnection,
): Promise<Map<string, OpenMember[]>> {
  const members = new Map<string, OpenMember[]>()
  const rows = await texts(connection, 'SELECT stream, name, pointer, member FROM _protime.members')
  for (const [stream = '', column = '', pointer = '', member = ''] of rows)
    members.set(stream, [...(members.get(stream) ?? []), { column, pointer, member }])
  return members
}

/** Stores the columns of a table if they have changed. */
export function writeDown({ name, columns }: Table, before: readonly Column[]): string[] {
  if (columns.length === before.length) return []
  const stream = literal(name)
  const values = columns.map(({ property, name: column, type, variantOf }, position) =>
    [
      ...[stream, position, literal(JSON.stringify(property)), literal(column), literal(type)],
      variantOf === undefined ? 'NULL' : literal(variantOf),
    ].join(', '),
  )
  return [
    `DELETE FROM _protime.columns WHERE stream = ${stream}`,
    `INSERT INTO _protime.columns VALUES (${values.join('), (')})`,
  ]
}

/** The members of open objects in `columns` that only the records of `rows` have; they are stored. */
export async function newMembers(
  connection: DuckDBConnection,
  { spec, members }: Description,
  columns: readonly Column[],
  rows: AddedRows,
): Promise<OpenMember[]> {
  const found: OpenMember[] = []
  for (const { column, pointer } of openObjects(spec.schema, columns)) {
    const same = members.filter((one) => one.column === column && one.pointer === pointer)
    const value = `added.${quoted(column)}`
    const keys = pointer === '' ? 'one.value' : `one.value, ${literal(pointer)}`
    const last = pointer.split('/').at(-1) ?? ''
    const names = await texts(
      connection,
      `SELECT DISTINCT unnest(json_keys(${keys})) AS member
        FROM (SELECT DISTINCT ${value} AS value FROM ${rows} AND contains(${value}, ${literal(last)})) AS one
        ORDER BY member LIMIT ${MAX_MEMBERS}`,
    )
    const known = new Set(same.map(({ member }) => member))
    const added = names
      .flatMap(([member = '']) => (known.has(member) ? [] : [{ column, pointer, member }]))
      .slice(0, MAX_MEMBERS - same.length)
    await run(
      connection,
      added.map(
        ({ member }) =>
          `INSERT INTO _protime.members VALUES (${[spec.name, column, pointer, member].map(literal).join(', ')})`,
      ),
    )
    found.push(...added)
  }
  return found
}

/**
 * The visible tables and views of the file, by names in lower case: SQL ignores the case of names.
 */
export interface PresentTables {
  /** The columns of the table or view with this name in `main`; undefined if there is none. */
  columnsOf(name: string): ReadonlySet<string> | undefined
  /** The object with this name that prevents a table or view of ours, by its SQL name. */
  inTheWayOf(name: string): string | undefined
}

/** Reads what exists: others may have changed the file since the last sync. */
export async function presentTables(connection: DuckDBConnection): Promise<PresentTables> {
  const columns = new Map<string, Set<string>>()
  for (const [table = '', column = ''] of await lowerCased(COLUMNS)) {
    const ofTable = columns.get(table) ?? new Set()
    columns.set(table, ofTable.add(column))
  }
  const others = new Set((await lowerCased(OTHERS)).map(([name]) => name))
  return {
    columnsOf: (name) => columns.get(name),
    inTheWayOf: (name) => [`main.${name}`, `flat.${name}`].find((one) => others.has(one)),
  }

  /** DuckDB's own `lower` gives a few letters another lower case than the names are looked up by. */
  async function lowerCased(sql: string): Promise<string[][]> {
    return (await texts(connection, sql)).map((row) => row.map((name) => name.toLowerCase()))
  }
}

const COLUMNS = `SELECT table_name, column_name FROM duckdb_columns()
  WHERE database_name = current_database() AND schema_name = 'main'`
/** Views in the place of our tables, and tables in the place of our views. */
const OTHERS = `SELECT schema_name || '.' || view_name FROM duckdb_views()
    WHERE database_name = current_database() AND schema_name = 'main'
  UNION ALL SELECT schema_name || '.' || table_name FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = 'flat'`

/**
 * Throws a config error if the name of a stream is taken in the file; `before` are the known tables.
 */
export function assertNameIsFree(
  name: string,
  before: readonly Column[],
  present: PresentTables,
): void {
  const isTaken = before.length === 0 && present.columnsOf(name) !== undefined
  const other = present.inTheWayOf(name) ?? (isTaken ? `main.${name}` : undefined)
  if (other === undefined) return
  throw new ConnectorError(
    'config',
    'name-taken',
    `The warehouse has a table or view ${other} that no sync has created, and the stream ${name} needs this name. Rename or drop it.`,
  )
}

/** The columns that a sync has created and somebody has removed, perhaps with the whole table. */
export function lostColumns(
  name: string,
  before: readonly Column[],
  present: PresentTables,
): string[] {
  const there = present.columnsOf(name)
  return [...before.map((column) => column.name), GENERATION].filter(
    (column) => there?.has(column.toLowerCase()) !== true,
  )
}

/** The message about a table that lacks columns. */
export function warningOfLost(
  name: string,
  lost: readonly string[],
  present: PresentTables,
): string {
  const isGone = present.columnsOf(name) === undefined
  const what = isGone ? 'its table is gone' : `its table lacks columns, ${lost.join(', ')}`
  return warningOf(
    'table-changed',
    `${name}: ${what}, though no sync has removed anything; the stream is read from the beginning.`,
  )
}

/**
 * Creates what is lost again. The stream is then read from the beginning, which replaces all remaining rows.
 */
export function makeAgain(
  table: Table,
  before: readonly Column[],
  lost: readonly string[],
): string[] {
  const name = `main.${quoted(table.name)}`
  const stream = literal(table.name)
  const types = new Map(before.map((column) => [column.name, column.type as string]))
  return [
    // The columns for deleted rows are added as to any table.
    createTable({ ...table, columns: before, keepsDeleted: false }),
    ...lost.map(
      (column) =>
        `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS ${quoted(column)} ${types.get(column) ?? 'BIGINT'}`,
    ),
    ...withoutRead(table),
    `DELETE FROM _protime.streams AS known WHERE known.stream = ${stream}`,
  ]
}

/** Removes the rows of a read that is not complete, and its state. The next read replaces all rows of the table. */
export function withoutRead(table: Table): string[] {
  return [
    `UPDATE main.${quoted(table.name)} AS old SET ${GENERATION} = 0`,
    `DROP TABLE IF EXISTS main.${quoted(nextOf(table).name)}`,
    forget(table.name),
  ]
}

/** Whether the states have a primary key, which earlier versions of this program gave them. */
export const STATES_HAVE_INDEX = `SELECT count(*) FROM duckdb_constraints() WHERE database_name = current_database()
  AND schema_name = '_protime' AND table_name = 'states' AND constraint_type = 'PRIMARY KEY'`

/** Takes the primary key from the states, which may be damaged: a stream with two states is read from the beginning. */
export const STATES_WITHOUT_INDEX = [
  `CREATE TABLE _protime.plain_states AS SELECT states.stream AS stream, any_value(states.state) AS state
    FROM _protime.states AS states GROUP BY states.stream HAVING count(*) = 1`,
  'DROP TABLE _protime.states',
  'ALTER TABLE _protime.plain_states RENAME TO states',
]

/** Removes the state of a stream. */
export function forget(stream: string): string {
  return `DELETE FROM _protime.states AS states WHERE states.stream = ${literal(stream)}`
}

export const STREAMS_WITH_STATE = 'SELECT states.stream FROM _protime.states AS states'
