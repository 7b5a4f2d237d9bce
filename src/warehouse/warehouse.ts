import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { ConnectorError } from '../ground/errors.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import { ACCOUNT, begin, committed, end, type SyncEnd } from './account.ts'
import { type Column, columnsOf, DELETED_AT, freeName, GENERATION, takenNames } from './column.ts'
import {
  atomically,
  closingOnError,
  type Database,
  makeRoom,
  openDatabase,
  type Patience,
  run,
  texts,
} from './duckdb.ts'
import { type Description, describe, type OpenMember, openObjects } from './flat-view.ts'
import { DIGESTS, KNOWN_TABLES, storedColumns, storedMembers, writeDown } from './known-tables.ts'
import { claim, isOwned, type Owner } from './owner.ts'
import {
  assertNameIsFree,
  lostColumns,
  makeAgain,
  presentTables,
  warningOfLost,
} from './present-tables.ts'
import { publish } from './publish.ts'
import type { RowFile } from './row-encoder.ts'
import {
  type AddedRows,
  addedRows,
  alterTable,
  append,
  BATCH_ROWS,
  createTable,
  deduplicate,
  IS_PLAIN,
  literal,
  merge,
  quoted,
  readFiles,
  removeOlder,
  removeReplaced,
  type Table,
} from './sql.ts'
import { unwritable } from './stream-rows.ts'

/** An open object with more members than this has them in its JSON only. */
const MAX_MEMBERS = 100
/** What fails whatever stream is committed. */
const OF_THE_FILE = /IO Error|FATAL|No space left|ENOSPC|has been invalidated/

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
  /** The state that stands for everything up to here, as JSON; undefined while there is none. */
  readonly state: string | undefined
  /** Set when rows of older generations are gone. */
  readonly completeGeneration: number | undefined
  /** When the stream was read to its end, if it was. */
  readonly complete: Date | undefined
}

/**
 * A DuckDB file with the rows of one tenant and the states that belong to them: the schema `main` has a
 * table per stream, the schema `flat` a view per stream with nested objects as columns.
 */
export interface Warehouse {
  /** The last state of each stream. */
  states(): Promise<ReadonlyMap<string, unknown>>
  /** Makes what is missing of tables and views, for a sync; answers with the columns of each. */
  prepare(specs: readonly StreamSpec[], at: Date): Promise<ReadonlyMap<string, readonly Column[]>>
  /** The columns that somebody else has added to the table, in small letters, when it was prepared. */
  othersIn(stream: string): ReadonlySet<string>
  /** The highest generation of the table's rows when it was prepared; -1 without rows. */
  highestGeneration(stream: string): number
  /**
   * Loads rows and stores states; the files are removed when it is done. Rows and state of a stream come
   * together or not at all. Answers with the streams that could not be committed.
   */
  commit(loads: readonly Load[]): Promise<ReadonlyMap<string, ConnectorError>>
  /** Writes down how the sync ended, and drops variants that no value is in after a complete reading. */
  finish(outcome: SyncEnd): Promise<void>
  /**
   * Leaves a copy of what is committed; see `publish`. Nothing may be written from then on, also where it fails:
   * the system takes the lock of a file away from a process that has read it.
   */
  publish(copy: string): Promise<void>
  close(): void
}

export interface WarehouseSettings {
  readonly path: string
  /** A folder of the sync: for its files of rows, and for what does not fit into memory. */
  readonly folder: string
  readonly keepsDeleted: boolean
  readonly owner: Owner
  /** Waits for a file that another process has open. */
  readonly patience: Patience
  readonly log: Log
}

/**
 * Opens the file, or makes it; see `openDatabase` for what it throws. One that is not the owner's is a config
 * error, and stays as it is.
 */
export async function openWarehouse(settings: WarehouseSettings): Promise<Warehouse> {
  const { path, folder, owner, patience } = settings
  if (existsSync(path)) {
    const asked = await patience(() => openDatabase(path))
    await closingOnError(asked, () => isOwned(asked.connection, path, owner))
    asked.close()
  }
  const database = await patience(() => openDatabase(path, folder))
  return closingOnError(database, async () => {
    // Another process may have made the file meanwhile.
    const isOurs = await isOwned(database.connection, path, owner)
    await atomically(database.connection, () =>
      run(database.connection, [
        'CREATE SCHEMA IF NOT EXISTS flat',
        'CREATE SCHEMA IF NOT EXISTS _protime',
        ...(isOurs ? [] : claim(owner)),
        ...KNOWN_TABLES,
        ...ACCOUNT,
      ]),
    ).catch((error) => {
      throw unwritable(error)
    })
    return createWarehouse(database, settings)
  })
}

function createWarehouse(
  { connection, close }: Database,
  { path, keepsDeleted, log }: WarehouseSettings,
): Warehouse {
  let known: ReadonlyMap<string, Description> = new Map()
  const highest = new Map<string, number>()
  const others = new Map<string, ReadonlySet<string>>()
  /** The streams whose complete readings were committed. */
  const settled = new Set<string>()
  let began = new Date(0)
  return {
    async states() {
      const rows = await texts(connection, 'SELECT stream, state FROM _protime.states')
      return new Map(
        rows.map(([stream = '', state = '']) => [stream, JSON.parse(state) as unknown]),
      )
    },
    prepare: (specs, at) =>
      atomically(connection, async () => {
        began = at
        const columns = await storedColumns(connection)
        const marked = new Set((await texts(connection, MARKED)).map(([name]) => name))
        const members = await storedMembers(connection)
        const present = await presentTables(connection)
        const digests = new Map(
          (await texts(connection, DIGESTS)).map(([stream = '', digest]) => [stream, digest]),
        )
        const prepared = new Map<string, Description>()
        for (const spec of specs) {
          const { name } = spec
          const before = columns.get(name) ?? []
          others.set(name, othersAmong(before, present.columnsOf(name)))
          const all = withNew(before, columnsOf(spec.schema), others.get(name))
          const table = tableOf(spec, all)
          assertNameIsFree(name, before, present)
          const lost = before.length === 0 ? [] : lostColumns(name, before, present)
          if (lost.length > 0) {
            log.warn(warningOfLost(name, lost, present))
            await run(connection, makeAgain(table, before, lost))
          }
          if (before.length === 0) await run(connection, [createTable(table)])
          else await run(connection, adapt(table, before, marked.has(name)))
          await run(connection, writeDown(table, before))
          const description = { spec, table, members: members.get(name) ?? [] }
          await show(description, digests.get(name))
          prepared.set(name, description)
          const [[generation] = []] = await texts(
            connection,
            `SELECT coalesce(max(source.${GENERATION}), -1) FROM main.${quoted(name)} AS source`,
          )
          highest.set(name, Number(generation))
        }
        await run(connection, begin([...prepared.keys()], at))
        known = prepared
        return new Map([...prepared].map(([name, { table }]) => [name, table.columns]))
      }),
    othersIn: (stream) => others.get(stream) ?? new Set(),
    highestGeneration: (stream) => highest.get(stream) ?? -1,
    async commit(loads) {
      const failures = new Map<string, ConnectorError>()
      await commitAll(loads).catch(async (error) => {
        if (OF_THE_FILE.test(String(error))) throw error
        // One stream may be why, so each is committed by itself.
        for (const load of loads)
          await commitAll([load]).catch((reason) => {
            if (OF_THE_FILE.test(String(reason))) throw reason
            failures.set(load.stream, unwritable(reason))
          })
      })
      for (const { path } of loads.flatMap(({ files }) => files)) rmSync(path)
      return failures
    },
    finish: (outcome) =>
      atomically(connection, async () => {
        for (const stream of settled) await dropEmptyVariants(stream)
        await run(connection, end(began, outcome))
      }),
    async publish(copy) {
      // Then all of it is in the file, and DuckDB writes no more.
      await connection.run('CHECKPOINT')
      publish(path, copy)
    },
    close,
  }

  function tableOf({ name, key: keys }: StreamSpec, columns: readonly Column[]): Table {
    return { name, keys, columns, keepsDeleted }
  }

  async function commitAll(loads: readonly Load[]): Promise<void> {
    const lengths = loads.flatMap(({ files }) => files.map(({ longest }) => longest))
    await makeRoom(connection, Math.max(0, ...lengths))
    const next = new Map(known)
    await atomically(connection, async () => {
      for (const load of loads) next.set(load.stream, await bring(load))
    })
    known = next
    for (const { stream, completeGeneration } of loads)
      if (completeGeneration !== undefined) settled.add(stream)
  }

  function descriptionOf(stream: string): Description {
    const description = known.get(stream)
    if (description === undefined) throw new Error(`the warehouse was not prepared for ${stream}`)
    return description
  }

  /** Answers with what the table is then. */
  async function bring(load: Load): Promise<Description> {
    const present = descriptionOf(load.stream)
    const table = { ...present.table, columns: load.columns }
    await change(present.table, table)
    let members = present.members
    if (load.files.length > 0) {
      const rows = await bringRows(table, load)
      members = [...members, ...(await newMembers(connection, { ...present, table }, rows))]
    }
    if (load.completeGeneration !== undefined)
      await run(connection, [removeOlder(table, load.completeGeneration)])
    if (load.state !== undefined)
      await connection.run('INSERT OR REPLACE INTO _protime.states VALUES ($stream, $state)', {
        stream: load.stream,
        state: load.state,
      })
    await run(connection, [committed(table, load.complete)])
    const isSame =
      members.length === present.members.length &&
      table.columns.length === present.table.columns.length
    const description = { ...present, table, members }
    if (!isSame) await show(description)
    return description
  }

  /** Answers where the rows are found. */
  async function bringRows(table: Table, { files, risesFrom }: Load): Promise<AddedRows> {
    if (risesFrom !== undefined) {
      await run(connection, append(table, files))
      const generation = highest.get(table.name) ?? -1
      if (generation >= 0) await run(connection, [removeReplaced(table, risesFrom, generation)])
      return addedRows(table, risesFrom, generation)
    }
    await run(connection, [...readFiles(files, table.columns), ...deduplicate(table)])
    const [[isPlain] = []] = await texts(connection, IS_PLAIN)
    await run(connection, merge(table, isPlain === 'true'))
    return BATCH_ROWS
  }

  async function dropEmptyVariants(stream: string): Promise<void> {
    const present = descriptionOf(stream)
    const { columns } = present.table
    const variants = columns.filter(({ variantOf }) => variantOf !== undefined)
    const empty = new Set<Column>()
    for (const column of variants) {
      const [[count] = []] = await texts(
        connection,
        `SELECT count(source.${quoted(column.name)}) FROM main.${quoted(stream)} AS source`,
      )
      if (count === '0') empty.add(column)
    }
    if (empty.size === 0) return
    const table = { ...present.table, columns: columns.filter((column) => !empty.has(column)) }
    await change(present.table, table)
    await show({ ...present, table })
  }

  async function change(before: Table, now: Table): Promise<void> {
    await run(connection, alterTable(now.name, before.columns, now.columns))
    await run(connection, writeDown(now, before.columns))
  }

  /** Makes the view and the comments, unless they are there. */
  async function show(description: Description, present?: string): Promise<void> {
    const statements = describe(description)
    const digest = createHash('sha256').update(statements.join('\n')).digest('hex')
    if (digest === present) return
    const stream = literal(description.spec.name)
    // There are hundreds: they cost half as much at once.
    await connection.run(statements.join(';\n'))
    await run(connection, [
      `DELETE FROM _protime.described WHERE stream = ${stream}`,
      `INSERT INTO _protime.described VALUES (${stream}, ${literal(digest)})`,
    ])
  }
}

/** Tables that hold marked rows of a sync that kept them. */
const MARKED = `SELECT table_name FROM information_schema.columns
  WHERE table_schema = 'main' AND column_name = ${literal(DELETED_AT)}`

/** The names that are there and that no sync has made. */
function othersAmong(
  before: readonly Column[],
  present: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const ours = takenNames(before)
  return new Set([...present].filter((name) => !ours.has(name)))
}

/** Columns keep their place and type; those that a newer schema has come behind them. */
function withNew(
  before: readonly Column[],
  now: readonly Column[],
  others: ReadonlySet<string> | undefined,
): Column[] {
  const known = new Set(before.map(({ property }) => property))
  const taken = takenNames(before, others)
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
  return [...statements, `DELETE FROM ${name} AS old WHERE old.${DELETED_AT} IS NOT NULL`]
}

/** The members of open objects that only the records of `rows` have; they are written down. */
async function newMembers(
  connection: DuckDBConnection,
  { spec, table, members }: Description,
  rows: AddedRows,
): Promise<OpenMember[]> {
  const found: OpenMember[] = []
  for (const { column, pointer } of openObjects(spec.schema, table.columns)) {
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
