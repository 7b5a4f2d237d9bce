import { createHash } from 'node:crypto'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import {
  type Column,
  type ColumnType,
  DELETED_AT,
  freeName,
  GENERATION,
  takenNames,
} from './column.ts'
import { run, texts } from './duckdb.ts'
import { type Description, describe, type OpenMember, openObjects } from './flat-view.ts'
import {
  type AddedRows,
  alterTable,
  createTable,
  literal,
  nextOf,
  quoted,
  STREAMS_WITH_NEXT,
  type Table,
} from './sql.ts'

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

/** What the file says of its tables and views, by the names of streams, and what of them exists. */
export interface StoredTables {
  /** See `storedColumns`. */
  readonly columns: ReadonlyMap<string, readonly Column[]>
  /** The members of open objects that the views have as columns. */
  readonly members: ReadonlyMap<string, readonly OpenMember[]>
  /** The digests of the statements with which `createView` has made the existing views. */
  readonly digests: ReadonlyMap<string, string>
  /** The streams with a state. */
  readonly withState: ReadonlySet<string>
  /** The streams with a next table. */
  readonly withNext: ReadonlySet<string>
  /** The tables with a column for deleted rows, from syncs that kept those. */
  readonly withDeleted: ReadonlySet<string>
  readonly present: PresentTables
}

/** Reads what a sync has to know before it changes tables. */
export async function readTables(connection: DuckDBConnection): Promise<StoredTables> {
  const names = async (sql: string) =>
    new Set((await texts(connection, sql)).map(([name = '']) => name))
  const digests = await texts(connection, DIGESTS)
  return {
    columns: await storedColumns(connection),
    members: await storedMembers(connection),
    digests: new Map(digests.map(([stream = '', digest = '']) => [stream, digest])),
    withState: await names('SELECT states.stream FROM _protime.states AS states'),
    withNext: await names(STREAMS_WITH_NEXT),
    withDeleted: await names(WITH_DELETED),
    present: await presentTables(connection),
  }
}

/** The existing views. */
const DIGESTS = `SELECT described.stream, described.digest FROM _protime.described AS described
  JOIN duckdb_views() AS present ON present.schema_name = 'flat' AND present.view_name = described.stream`

const WITH_DELETED = `SELECT table_name FROM information_schema.columns
  WHERE table_schema = 'main' AND column_name = ${literal(DELETED_AT)}`

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

async function storedMembers(connection: DuckDBConnection): Promise<Map<string, OpenMember[]>> {
  const members = new Map<string, OpenMember[]>()
  const rows = await texts(connection, 'SELECT stream, name, pointer, member FROM _protime.members')
  for (const [stream = '', column = '', pointer = '', member = ''] of rows)
    members.set(stream, [...(members.get(stream) ?? []), { column, pointer, member }])
  return members
}

/** Stores the columns of a table if they have changed. */
export function storeColumns({ name, columns }: Table, before: readonly Column[]): string[] {
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

/** Creates the view and the comments, unless they are those of this digest. */
export async function createView(
  connection: DuckDBConnection,
  description: Description,
  present?: string,
): Promise<void> {
  const statements = describe(description)
  const digest = createHash('sha256').update(statements.join('\n')).digest('hex')
  if (digest === present) return
  const stream = literal(description.spec.name)
  // There are hundreds of statements, which take half as long in one call.
  await connection.run(statements.join(';\n'))
  await run(connection, [
    `DELETE FROM _protime.described WHERE stream = ${stream}`,
    `INSERT INTO _protime.described VALUES (${stream}, ${literal(digest)})`,
  ])
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

/**
 * The columns that a sync has created and somebody has removed, perhaps with the whole table; `before` are the known ones.
 */
export function lostColumns(
  name: string,
  before: readonly Column[],
  present: PresentTables,
): string[] {
  if (before.length === 0) return []
  const there = present.columnsOf(name)
  return [...before.map((column) => column.name), GENERATION].filter(
    (column) => there?.has(column.toLowerCase()) !== true,
  )
}

/** The names of columns that exist but were not created by a sync. */
export function othersAmong(
  before: readonly Column[],
  present: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const ours = takenNames(before)
  return new Set([...present].filter((name) => !ours.has(name)))
}

/** Appends the columns that only the new schema has; existing columns keep their position and type. */
export function withNew(
  before: readonly Column[],
  now: readonly Column[],
  others: ReadonlySet<string>,
): Column[] {
  const known = new Set(before.map(({ property }) => property))
  const taken = takenNames(before, others)
  const added = now
    .filter(({ property }) => !known.has(property))
    .map((column) => ({ ...column, name: freeName(column.name, taken) }))
  return [...before, ...added]
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
 * The statements that create the table of a stream, or adapt that of an earlier sync with the columns `before`, and
 * whether rows wait in its next table.
 */
export function prepareTable(
  table: Table,
  before: readonly Column[],
  lost: readonly string[],
  { withState, withNext, withDeleted }: StoredTables,
): { readonly statements: string[]; readonly hasNext: boolean } {
  const next = nextOf(table)
  const isInterrupted = withNext.has(table.name) && !withState.has(table.name)
  const repaired = isInterrupted ? withoutRead(table) : []
  const hasNext = withNext.has(table.name) && lost.length === 0 && !isInterrupted
  const adapted = adapt(table, before, withDeleted.has(table.name))
  const statements = [
    ...(lost.length > 0 ? recreate(table, before, lost) : repaired),
    ...(before.length === 0 ? [createTable(table)] : adapted),
    ...(hasNext ? adapt(next, before, withDeleted.has(next.name)) : []),
    ...storeColumns(table, before),
  ]
  return { statements, hasNext }
}

/**
 * Creates what is lost again. The stream is then read from the beginning, which replaces all remaining rows.
 */
function recreate(table: Table, before: readonly Column[], lost: readonly string[]): string[] {
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
function withoutRead(table: Table): string[] {
  return [
    `UPDATE main.${quoted(table.name)} AS old SET ${GENERATION} = 0`,
    `DROP TABLE IF EXISTS main.${quoted(nextOf(table).name)}`,
    removeState(table.name),
  ]
}

/** The statements that adapt a table of an earlier sync to this one. */
function adapt(table: Table, before: readonly Column[], isMarked: boolean): string[] {
  const name = `main.${quoted(table.name)}`
  const statements = alterTable(table.name, before, table.columns)
  if (table.keepsDeleted === isMarked) return statements
  if (table.keepsDeleted)
    return [...statements, `ALTER TABLE ${name} ADD COLUMN ${DELETED_AT} TIMESTAMPTZ`]
  return [...statements, `DELETE FROM ${name} AS old WHERE old.${DELETED_AT} IS NOT NULL`]
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
export function removeState(stream: string): string {
  return `DELETE FROM _protime.states AS states WHERE states.stream = ${literal(stream)}`
}
