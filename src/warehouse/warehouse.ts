import { rmSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { StreamSpec } from '../records/stream-spec.ts'
import {
  type Column,
  type ColumnType,
  columnsOf,
  DELETED_AT,
  freeName,
  GENERATION,
  takenNames,
} from './column.ts'
import { openDatabase } from './duckdb.ts'
import {
  alterTable,
  append,
  createTable,
  deduplicate,
  flatColumns,
  IS_PLAIN,
  isAdded,
  literal,
  merge,
  type OpenMember,
  openObjects,
  quoted,
  readFiles,
  removeOlder,
  removeReplaced,
  type Table,
} from './sql.ts'
import type { RowFile } from './stream-rows.ts'

/** An open object with more members than this has them in its JSON only. */
const MAX_MEMBERS = 100

/** What a commit brings of one stream. */
export interface Load {
  readonly stream: string
  readonly files: readonly RowFile[]
  /** The columns of the rows that come after the files. */
  readonly columns: readonly Column[]
  /**
   * Set when each row has a key of its own, an integer above this one, that no row of this sync had before;
   * and when all rows of this sync are of later generations than those before it.
   */
  readonly risesFrom: number | undefined
  /** The bookmark that stands for everything up to here, as JSON; undefined while there is none. */
  readonly state: string | undefined
  /** Set when rows of older generations are gone. */
  readonly completeGeneration: number | undefined
}

/**
 * A DuckDB file with the rows of one tenant and the states that belong to them: the schema `main` has a
 * table per stream, the schema `flat` a view per stream with nested objects as columns.
 */
export interface Warehouse {
  /** The last state of each stream. */
  states(): Promise<ReadonlyMap<string, unknown>>
  /** Makes what is missing of tables and views; answers with the columns of each. */
  prepare(specs: readonly StreamSpec[]): Promise<ReadonlyMap<string, readonly Column[]>>
  /** The highest generation of the table's rows when it was prepared; -1 without rows. */
  highestGeneration(stream: string): number
  /** Loads rows and stores states in one transaction; the files are removed when it is done. */
  commit(loads: readonly Load[]): Promise<void>
  close(): void
}

export interface WarehouseSettings {
  readonly path: string
  /** A folder for what does not fit into memory. */
  readonly temporary: string
  readonly keepsDeleted: boolean
}

/** What is known of a stream's table. */
interface Known {
  readonly spec: StreamSpec
  readonly table: Table
  readonly members: readonly OpenMember[]
}

/** Opens the file, or makes it; see `openDatabase` for what it throws. */
export async function openWarehouse(settings: WarehouseSettings): Promise<Warehouse> {
  const { path, temporary, keepsDeleted } = settings
  const { connection, close } = await openDatabase(path, temporary)
  const known = new Map<string, Known>()
  const highest = new Map<string, number>()
  const run = async (statements: readonly string[]) => {
    for (const statement of statements) await connection.run(statement)
  }
  await run([
    'CREATE SCHEMA IF NOT EXISTS flat',
    'CREATE SCHEMA IF NOT EXISTS _protime',
    'CREATE TABLE IF NOT EXISTS _protime.states (stream VARCHAR PRIMARY KEY, state JSON NOT NULL)',
    'CREATE TABLE IF NOT EXISTS _protime.columns (stream VARCHAR, position INTEGER, property VARCHAR, name VARCHAR, type VARCHAR)',
    'CREATE TABLE IF NOT EXISTS _protime.members (stream VARCHAR, name VARCHAR, pointer VARCHAR, member VARCHAR)',
  ])
  return {
    async states() {
      const rows = await texts(connection, 'SELECT stream, state FROM _protime.states')
      return new Map(
        rows.map(([stream = '', state = '']) => [stream, JSON.parse(state) as unknown]),
      )
    },
    prepare: (specs) =>
      atomically(connection, async () => {
        const stored = await storedColumns(connection)
        const marked = new Set((await texts(connection, MARKED)).map(([name]) => name))
        const members = await storedMembers(connection)
        for (const spec of specs) {
          const before = stored.get(spec.name) ?? []
          const table = { ...tableOf(spec, withNew(before, columnsOf(spec.schema))), keepsDeleted }
          if (before.length === 0) await run([createTable(table)])
          else await run(adapt(table, before, marked.has(spec.name)))
          await run(describe(table, before))
          const entry = { spec, table, members: members.get(spec.name) ?? [] }
          known.set(spec.name, entry)
          await run([viewOf(entry)])
          const [[generation] = []] = await texts(
            connection,
            `SELECT coalesce(max(${GENERATION}), -1) FROM main.${quoted(spec.name)}`,
          )
          highest.set(spec.name, Number(generation))
        }
        return new Map([...known].map(([name, { table }]) => [name, table.columns]))
      }),
    highestGeneration: (stream) => highest.get(stream) ?? -1,
    async commit(loads) {
      await atomically(connection, async () => {
        for (const load of loads) await bring(load)
      })
      for (const { path } of loads.flatMap(({ files }) => files)) rmSync(path)
    },
    close,
  }

  async function bring(load: Load): Promise<void> {
    const entry = known.get(load.stream)
    if (entry === undefined) throw new Error(`the warehouse was not prepared for ${load.stream}`)
    const before = entry.table.columns
    const table = { ...entry.table, columns: [...load.columns] }
    await run(alterTable(table.name, before, table.columns))
    await run(describe(table, before))
    let members = entry.members
    if (load.files.length > 0) {
      const rows = await bringRows(table, load)
      members = [...members, ...(await newMembers(connection, { ...entry, table }, rows))]
    }
    if (load.completeGeneration !== undefined)
      await run([removeOlder(table, load.completeGeneration)])
    if (load.state !== undefined)
      await connection.run('INSERT OR REPLACE INTO _protime.states VALUES ($stream, $state)', {
        stream: load.stream,
        state: load.state,
      })
    const next = { ...entry, table, members }
    const isSame = members.length === entry.members.length && table.columns.length === before.length
    if (!isSame || table.columns.some(({ type }, i) => type !== before[i]?.type))
      await run([viewOf(next)])
    known.set(load.stream, next)
  }

  /** Answers where the rows are found: a table, and the condition that they meet. */
  async function bringRows(table: Table, { files, risesFrom }: Load): Promise<string> {
    if (risesFrom !== undefined) {
      await run(append(table, files))
      const generation = highest.get(table.name) ?? -1
      if (generation >= 0) await run([removeReplaced(table, risesFrom, generation)])
      return `main.${quoted(table.name)} WHERE ${isAdded(table, risesFrom, generation)} AND`
    }
    await run(readFiles(files, table.columns))
    await run(deduplicate(table))
    const [[isPlain] = []] = await texts(connection, IS_PLAIN)
    await run(merge(table, isPlain === 'true'))
    return 'batch WHERE'
  }
}

/** Tables that hold marked rows of a sync that kept them. */
const MARKED = `SELECT table_name FROM information_schema.columns
  WHERE table_schema = 'main' AND column_name = ${literal(DELETED_AT)}`

function tableOf({ name, key: keys }: StreamSpec, columns: readonly Column[]) {
  return { name, keys, columns }
}

/** Columns keep their place and type; those that a newer schema has come behind them. */
function withNew(before: readonly Column[], now: readonly Column[]): Column[] {
  const known = new Set(before.map(({ property }) => property))
  const taken = takenNames(before)
  const added = now
    .filter(({ property }) => !known.has(property))
    .map((column) => ({ ...column, name: freeName(column.name, taken) }))
  return [...before, ...added]
}

/** What makes a table of an earlier sync one of this sync. */
function adapt(table: Table, before: readonly Column[], isMarked: boolean): string[] {
  const name = `main.${quoted(table.name)}`
  const statements = alterTable(table.name, before, table.columns)
  if (table.keepsDeleted === isMarked) return statements
  if (table.keepsDeleted)
    return [...statements, `ALTER TABLE ${name} ADD COLUMN ${DELETED_AT} TIMESTAMPTZ`]
  return [...statements, `DELETE FROM ${name} WHERE ${DELETED_AT} IS NOT NULL`]
}

/** Writes down columns that are new or have another type than before. */
function describe({ name, columns }: Table, before: readonly Column[]): string[] {
  const stream = literal(name)
  const changed = columns.flatMap((column, i) =>
    before[i]?.type === column.type ? [] : [{ ...column, position: i }],
  )
  if (changed.length === 0) return []
  const values = changed.map(({ position, property, name: column, type }) =>
    [stream, position, literal(property), literal(column), literal(type)].join(', '),
  )
  const positions = changed.map(({ position }) => position).join(', ')
  return [
    `DELETE FROM _protime.columns WHERE stream = ${stream} AND position IN (${positions})`,
    `INSERT INTO _protime.columns VALUES (${values.join('), (')})`,
  ]
}

function viewOf({ spec, table, members }: Known): string {
  const name = quoted(spec.name)
  const living = table.keepsDeleted ? ` WHERE ${DELETED_AT} IS NULL` : ''
  const columns = flatColumns(spec.schema, table.columns, members)
  return `CREATE OR REPLACE VIEW flat.${name} AS SELECT ${columns.join(', ')} FROM main.${name}${living}`
}

async function storedColumns(connection: DuckDBConnection): Promise<Map<string, Column[]>> {
  const columns = new Map<string, Column[]>()
  const rows = await texts(
    connection,
    'SELECT stream, property, name, type FROM _protime.columns ORDER BY stream, position',
  )
  for (const [stream = '', property = '', name = '', type = ''] of rows) {
    const column = { property, name, type: type as ColumnType }
    columns.set(stream, [...(columns.get(stream) ?? []), column])
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

/** The members of open objects that only the records of `rows` have; they are written down. */
async function newMembers(
  connection: DuckDBConnection,
  { spec, table, members }: Known,
  rows: string,
): Promise<OpenMember[]> {
  const found: OpenMember[] = []
  for (const { column, pointer } of openObjects(spec.schema, table.columns)) {
    const same = members.filter((one) => one.column === column && one.pointer === pointer)
    const value = quoted(column)
    const keys = pointer === '' ? value : `${value}, ${literal(pointer)}`
    const last = pointer.split('/').at(-1) ?? ''
    const names = await texts(
      connection,
      `SELECT DISTINCT unnest(json_keys(${keys})) AS member
        FROM (SELECT DISTINCT ${value} FROM ${rows} contains(${value}, ${literal(last)}))
        ORDER BY member LIMIT ${MAX_MEMBERS}`,
    )
    const known = new Set(same.map(({ member }) => member))
    const added = names
      .flatMap(([member = '']) => (known.has(member) ? [] : [{ column, pointer, member }]))
      .slice(0, MAX_MEMBERS - same.length)
    for (const { member } of added)
      await connection.run(
        `INSERT INTO _protime.members VALUES (${[spec.name, column, pointer, member].map(literal).join(', ')})`,
      )
    found.push(...added)
  }
  return found
}

async function texts(connection: DuckDBConnection, sql: string): Promise<string[][]> {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRows().map((row) => row.map(String))
}

async function atomically<T>(connection: DuckDBConnection, work: () => Promise<T>): Promise<T> {
  await connection.run('BEGIN')
  try {
    const result = await work()
    await connection.run('COMMIT')
    return result
  } catch (error) {
    // DuckDB ends a transaction itself when its COMMIT fails.
    await connection.run('ROLLBACK').catch(() => {})
    throw error
  }
}
