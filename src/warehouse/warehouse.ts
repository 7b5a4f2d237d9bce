import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import type { ConnectorError } from '../ground/errors.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import {
  ACCOUNT,
  begin,
  claim,
  committed,
  end,
  isOwned,
  type Owner,
  type SyncEnd,
} from './account.ts'
import { bringRows, isOver, type Load, type Progress } from './bring-rows.ts'
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
import { type Description, describe } from './flat-view.ts'
import { publish } from './replace-file.ts'
import {
  alterTable,
  createTable,
  literal,
  madeByOthers,
  nextOf,
  quoted,
  removeOlder,
  STREAMS_WITH_NEXT,
  type Table,
} from './sql.ts'
import { unwritable } from './stream-rows.ts'
import {
  assertNameIsFree,
  DIGESTS,
  forget,
  KNOWN_TABLES,
  lostColumns,
  makeAgain,
  newMembers,
  presentTables,
  STATES_HAVE_INDEX,
  STATES_WITHOUT_INDEX,
  STREAMS_WITH_STATE,
  storedColumns,
  storedMembers,
  warningOfLost,
  withoutRead,
  writeDown,
} from './tables.ts'

/** Errors of the file, with which the commit of any stream fails. */
const OF_THE_FILE = /IO Error|FATAL|No space left|ENOSPC|has been invalidated/

/**
 * A DuckDB file with the rows of one tenant and their states. The schema `main` has a table per stream; the schema
 * `flat` has a view per stream, with nested objects as columns.
 */
export interface Warehouse {
  /** The last state of each stream. */
  states(): Promise<ReadonlyMap<string, unknown>>
  /** Creates missing tables and views for a sync; returns the columns of each table. */
  prepare(specs: readonly StreamSpec[], at: Date): Promise<ReadonlyMap<string, readonly Column[]>>
  /** The columns in lower case that others had added to the table when it was prepared. */
  othersIn(stream: string): ReadonlySet<string>
  /**
   * The highest generation of the table's rows when it was prepared; -1 without rows. Infinite if rows of an earlier
   * sync wait in a table of their own.
   */
  highestGeneration(stream: string): number
  /**
   * Loads rows, stores states, and then removes the files of rows. The rows and the state of a stream are committed
   * together or not at all. Rows of a complete read are in the stream's table when the read is over. Returns the
   * streams that could not be committed.
   */
  commit(loads: readonly Load[]): Promise<ReadonlyMap<string, ConnectorError>>
  /** Records how the sync ended, and drops variants without values after a complete read. */
  finish(outcome: SyncEnd): Promise<void>
  /**
   * Publishes a copy of what is committed; see `publish`. Write nothing afterwards, even if it fails: reading the file
   * makes the system release the lock of the process.
   */
  publish(copy: string): Promise<void>
  close(): void
}

export interface WarehouseSettings {
  readonly path: string
  /** The folder of the sync, for its files of rows and for data that does not fit into memory. */
  readonly folder: string
  readonly keepsDeleted: boolean
  readonly owner: Owner
  /** Waits for a file that another process has open. */
  readonly patience: Patience
  readonly log: Log
}

/**
 * Opens the file, or creates it. Throws what `openDatabase` throws, and a config error if the file has another owner;
 * then it is not changed.
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
    // Another process may have created the file in the meantime.
    const isOurs = await isOwned(database.connection, path, owner)
    const [[indexes] = []] = await texts(database.connection, STATES_HAVE_INDEX)
    await atomically(database.connection, () =>
      run(database.connection, [
        'CREATE SCHEMA IF NOT EXISTS flat',
        'CREATE SCHEMA IF NOT EXISTS _protime',
        ...(isOurs ? [] : claim(owner)),
        ...KNOWN_TABLES,
        ...(indexes === '0' ? [] : STATES_WITHOUT_INDEX),
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
  let known: ReadonlyMap<string, Known> = new Map()
  const others = new Map<string, ReadonlySet<string>>()
  /** The streams whose complete reads were committed. */
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
        const withState = new Set(
          (await texts(connection, STREAMS_WITH_STATE)).map(([name]) => name),
        )
        const withNext = new Set((await texts(connection, STREAMS_WITH_NEXT)).map(([name]) => name))
        const prepared = new Map<string, Known>()
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
            withNext.delete(name)
          } else if (withNext.has(name) && !withState.has(name)) {
            await run(connection, withoutRead(table))
            withNext.delete(name)
          }
          if (before.length === 0) await run(connection, [createTable(table)])
          else await run(connection, adapt(table, before, marked.has(name)))
          const next = nextOf(table)
          if (withNext.has(name)) await run(connection, adapt(next, before, marked.has(next.name)))
          await run(connection, writeDown(table, before))
          const description = { spec, table, members: members.get(name) ?? [] }
          await show(description, digests.get(name))
          const highest = await numberOf(`coalesce(max(source.${GENERATION}), -1)`, name)
          prepared.set(name, { ...description, highest, hasNext: withNext.has(name) })
        }
        await run(connection, begin([...prepared.keys()], at))
        known = prepared
        return new Map([...prepared].map(([name, { table }]) => [name, table.columns]))
      }),
    othersIn: (stream) => others.get(stream) ?? new Set(),
    highestGeneration(stream) {
      const { highest, hasNext } = knownOf(stream)
      return hasNext ? Number.POSITIVE_INFINITY : highest
    },
    async commit(loads) {
      const failures = new Map<string, ConnectorError>()
      await commitAll(loads).catch(async (error) => {
        if (OF_THE_FILE.test(String(error))) throw error
        // A single stream may be the cause, so each is committed separately.
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
      // Afterwards everything is in the file, and DuckDB writes nothing more.
      await connection.run('CHECKPOINT')
      publish(path, copy)
    },
    close,
  }

  function tableOf({ name, key: keys }: StreamSpec, columns: readonly Column[]): Table {
    return { name, keys, columns, keepsDeleted }
  }

  async function commitAll(loads: readonly Load[]): Promise<void> {
    // DuckDB cannot rename a table in a transaction that has deleted from it, so the last rows of a read are committed
    // before, without a state. If the process ends in between, the stream is read from the beginning: a row of these that
    // is deleted until then would otherwise stay, because nobody would know of it.
    const last = loads.filter(
      (load) =>
        knownOf(load.stream).hasNext &&
        isOver(load) &&
        load.files.length > 0 &&
        load.risesFrom === undefined,
    )
    if (last.length > 0) await commitTogether(last.map(withoutEnd))
    await commitTogether(loads.map((load) => (last.includes(load) ? { ...load, files: [] } : load)))
  }

  async function commitTogether(loads: readonly Load[]): Promise<void> {
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

  function knownOf(stream: string): Known {
    const present = known.get(stream)
    if (present === undefined) throw new Error(`the warehouse was not prepared for ${stream}`)
    return present
  }

  async function numberOf(value: string, table: string): Promise<number> {
    const [[number] = []] = await texts(
      connection,
      `SELECT ${value} FROM main.${quoted(table)} AS source`,
    )
    return Number(number)
  }

  /** Returns what is known of the table afterwards. */
  async function bring(load: Load): Promise<Known> {
    const present = knownOf(load.stream)
    const table = { ...present.table, columns: load.columns }
    await change(present, table)
    const { added, isReplaced, ...progress } = await bringRows(connection, table, load, present)
    const columns = [...new Set(load.files.flatMap((file) => file.columns))]
    const found = added === undefined ? [] : await newMembers(connection, present, columns, added)
    if (load.completeGeneration !== undefined)
      await run(connection, [removeOlder(table, load.completeGeneration)])
    if (load.state !== undefined) await run(connection, [forget(load.stream)])
    if (typeof load.state === 'string')
      await connection.run('INSERT INTO _protime.states VALUES ($stream, $state)', {
        stream: load.stream,
        state: load.state,
      })
    await run(connection, [committed(table, load.complete)])
    const isSame = found.length === 0 && table.columns.length === present.table.columns.length
    const now = { ...present, ...progress, table, members: [...present.members, ...found] }
    if (!isSame || isReplaced) await show(now)
    return now
  }

  async function dropEmptyVariants(stream: string): Promise<void> {
    const present = knownOf(stream)
    const { columns } = present.table
    // Rows that wait may have values in them; and DuckDB drops no column of a table that has an index.
    const [[others] = []] = await texts(connection, madeByOthers(present.table))
    if (present.hasNext || others !== '0') return
    const variants = columns.filter(({ variantOf }) => variantOf !== undefined)
    const empty = new Set<Column>()
    for (const column of variants) {
      const count = `count(source.${quoted(column.name)})`
      if ((await numberOf(count, stream)) === 0) empty.add(column)
    }
    if (empty.size === 0) return
    const table = { ...present.table, columns: columns.filter((column) => !empty.has(column)) }
    await change(present, table)
    await show({ ...present, table })
  }

  async function change({ table, hasNext }: Known, now: Table): Promise<void> {
    for (const { name } of hasNext ? [now, nextOf(now)] : [now])
      await run(connection, alterTable(name, table.columns, now.columns))
    await run(connection, writeDown(now, table.columns))
  }

  /** Creates the view and the comments, unless they exist. */
  async function show(description: Description, present?: string): Promise<void> {
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
}

/** The rows of a load without its state and the end of its read. */
function withoutEnd({ stream, files, columns, generation }: Load): Load {
  const end = { state: null, completeGeneration: undefined, complete: undefined }
  return { stream, files, columns, generation, risesFrom: undefined, ...end }
}

/** A stream of this sync: its description and the progress of its rows. */
interface Known extends Description, Progress {}

/** Selects the tables with a column for deleted rows, from syncs that kept those. */
const MARKED = `SELECT table_name FROM information_schema.columns
  WHERE table_schema = 'main' AND column_name = ${literal(DELETED_AT)}`

/** The names of columns that exist but were not created by a sync. */
function othersAmong(
  before: readonly Column[],
  present: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const ours = takenNames(before)
  return new Set([...present].filter((name) => !ours.has(name)))
}

/** Appends the columns that only the new schema has; existing columns keep their position and type. */
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

/** The statements that adapt a table of an earlier sync to this one. */
function adapt(table: Table, before: readonly Column[], isMarked: boolean): string[] {
  const name = `main.${quoted(table.name)}`
  const statements = alterTable(table.name, before, table.columns)
  if (table.keepsDeleted === isMarked) return statements
  if (table.keepsDeleted)
    return [...statements, `ALTER TABLE ${name} ADD COLUMN ${DELETED_AT} TIMESTAMPTZ`]
  return [...statements, `DELETE FROM ${name} AS old WHERE old.${DELETED_AT} IS NOT NULL`]
}
