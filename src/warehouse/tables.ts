import { createHash } from 'node:crypto'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import {
  type Column,
  type ColumnType,
  DELETED_AT,
  freeName,
  GENERATION,
  takenNames,
} from './column.ts'
import { run, texts } from './duckdb.ts'
import {
  type Description,
  describe,
  type OpenMember,
  openObjects,
  type ValuePlace,
} from './flat-view.ts'
import { type Damage, type PresentTables, presentTables, typesOf } from './present-tables.ts'
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
  'ALTER TABLE _protime.described ADD COLUMN IF NOT EXISTS view VARCHAR',
  'CREATE TABLE IF NOT EXISTS _protime.places (stream VARCHAR, place VARCHAR, name VARCHAR)',
]

/** What the file says of its tables and views, by the names of streams, and what of them exists. */
export interface StoredTables {
  /** See `storedColumns`. */
  readonly columns: ReadonlyMap<string, readonly Column[]>
  /** The members of open objects that the views have as columns. */
  readonly members: ReadonlyMap<string, readonly OpenMember[]>
  /** The views that `createView` has made. */
  readonly views: ReadonlyMap<string, StoredView>
  /** The names of the columns of the views. */
  readonly names: ReadonlyMap<string, ReadonlyMap<ValuePlace, string>>
  /** The streams with a state. */
  readonly withState: ReadonlySet<string>
  /** The streams with a next table. */
  readonly withNext: ReadonlySet<string>
  /** The tables with a column for deleted rows, from syncs that kept those. */
  readonly withDeleted: ReadonlySet<string>
  readonly present: PresentTables
}

/** A view that `createView` has made, by digests. */
interface StoredView {
  /** Of the statements. */
  readonly statements: string
  /** Of the view that they made; empty if an earlier version of this program did not store it. */
  readonly made: string
  /** Of the view that is there; empty if there is none. */
  readonly present: string
}

/** Reads what a sync has to know before it changes tables. */
export async function readTables(connection: DuckDBConnection): Promise<StoredTables> {
  const namesIn = async (sql: string) =>
    new Set((await texts(connection, sql)).map(([name = '']) => name))
  const views = (await texts(connection, VIEWS)).map(
    ([stream = '', statements = '', made = '', present = '']) =>
      [stream, { statements, made, present }] as const,
  )
  const names = new Map<string, Map<ValuePlace, string>>()
  for (const [stream = '', place = '', name = ''] of await texts(connection, PLACES))
    names.set(stream, (names.get(stream) ?? new Map()).set(place, name))
  return {
    columns: await storedColumns(connection),
    members: await storedMembers(connection),
    views: new Map(views),
    names,
    withState: await namesIn('SELECT states.stream FROM _protime.states AS states'),
    withNext: await namesIn(STREAMS_WITH_NEXT),
    withDeleted: await namesIn(WITH_DELETED),
    present: await presentTables(connection),
  }
}

/** DuckDB writes quotes around a type in a view that it has just made, and none when the file is opened again. */
const VIEW_DIGEST = `md5(replace(present.sql, '"', ''))`
const VIEWS = `SELECT described.stream, described.digest, coalesce(described.view, ''), coalesce(${VIEW_DIGEST}, '')
  FROM _protime.described AS described
  LEFT JOIN duckdb_views() AS present ON present.database_name = current_database()
    AND present.schema_name = 'flat' AND present.view_name = described.stream`
const PLACES = 'SELECT places.stream, places.place, places.name FROM _protime.places AS places'

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

/**
 * Creates the view and the comments, unless those of `stored` are there. Returns the names of the view's columns, and
 * whether somebody else had changed or dropped the view.
 */
export async function createView(
  connection: DuckDBConnection,
  description: Description,
  stored?: StoredView,
): Promise<{ readonly names: Description['names']; readonly wasChanged: boolean }> {
  const { statements, names } = describe(description)
  const digest = createHash('sha256').update(statements.join('\n')).digest('hex')
  const isSame = digest === stored?.statements
  if (isSame && stored?.made === stored?.present) return { names, wasChanged: false }
  const stream = literal(description.spec.name)
  // There are hundreds of statements, which take half as long in one call.
  await connection.run(statements.join(';\n'))
  const places = [...names].filter(([place]) => !description.names.has(place))
  await run(connection, [
    ...places.map(
      (place) =>
        `INSERT INTO _protime.places VALUES (${[stream, ...place.map(literal)].join(', ')})`,
    ),
    `DELETE FROM _protime.described WHERE stream = ${stream}`,
    `INSERT INTO _protime.described SELECT ${stream}, ${literal(digest)}, ${VIEW_DIGEST} FROM duckdb_views() AS present
      WHERE present.database_name = current_database() AND present.schema_name = 'flat' AND present.view_name = ${stream}`,
  ])
  if (!isSame || stored?.made === '') return { names, wasChanged: false }
  // Another version of DuckDB may write the same view differently.
  const [[, , , made] = []] = await texts(connection, `${VIEWS} WHERE described.stream = ${stream}`)
  return { names, wasChanged: made !== stored?.present }
}

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

/** The names of columns that exist but were not created by a sync. */
export function othersAmong(
  before: readonly Column[],
  present: ReadonlyMap<string, unknown> = new Map(),
): ReadonlySet<string> {
  const ours = takenNames(before)
  return new Set([...present.keys()].filter((name) => !ours.has(name)))
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

/**
 * The statements that create the table of a stream, or adapt that of an earlier sync with the columns `before`, and
 * whether rows wait in its next table.
 */
export function prepareTable(
  table: Table,
  before: readonly Column[],
  damage: Damage,
  { withState, withNext, withDeleted }: StoredTables,
): { readonly statements: string[]; readonly hasNext: boolean } {
  const next = nextOf(table)
  const isInterrupted = withNext.has(table.name) && !withState.has(table.name)
  const repaired = isInterrupted ? withoutRead(table) : []
  const isDamaged = damage.lost.length > 0 || damage.retyped.length > 0
  const hasNext = withNext.has(table.name) && !isDamaged && !isInterrupted
  const adapted = adapt(table, before, withDeleted.has(table.name))
  const statements = [
    ...(isDamaged ? recreate(table, before, damage) : repaired),
    ...(before.length === 0 ? [createTable(table)] : adapted),
    ...(hasNext ? adapt(next, before, withDeleted.has(next.name)) : []),
    ...storeColumns(table, before),
  ]
  return { statements, hasNext }
}

/**
 * Creates what is lost again, and gives columns their types. The stream is then read from the beginning, which replaces
 * all remaining rows.
 */
function recreate(table: Table, before: readonly Column[], { lost, retyped }: Damage): string[] {
  const alter = `ALTER TABLE main.${quoted(table.name)}`
  const types = typesOf(before)
  return [
    // The columns for deleted rows are added as to any table.
    createTable({ ...table, columns: before, keepsDeleted: false }),
    ...lost.map(
      (column) => `${alter} ADD COLUMN IF NOT EXISTS ${quoted(column)} ${types.get(column)}`,
    ),
    ...retyped.map((column) => {
      const [name, type] = [quoted(column), types.get(column)]
      return `${alter} ALTER COLUMN ${name} SET DATA TYPE ${type} USING TRY_CAST(${name} AS ${type})`
    }),
    ...withoutRead(table),
    `DELETE FROM _protime.streams AS known WHERE known.stream = ${literal(table.name)}`,
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
  const statements = alterTable(table.name, before, table.columns)
  if (!table.keepsDeleted || isMarked) return statements
  return [
    ...statements,
    `ALTER TABLE main.${quoted(table.name)} ADD COLUMN ${DELETED_AT} TIMESTAMPTZ`,
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
export function removeState(stream: string): string {
  return `DELETE FROM _protime.states AS states WHERE states.stream = ${literal(stream)}`
}
