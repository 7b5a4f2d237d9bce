import { rmSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { ConnectorError } from '../ground/errors.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import {
  ACCOUNT,
  beginSync,
  claim,
  committed,
  endSync,
  isOwned,
  keepDeletedRows,
  keepsDeletedRows,
  type Owner,
  readStates,
  type SyncEnd,
} from './account.ts'
import { type Column, columnsOf, GENERATION } from './column.ts'
import {
  atomically,
  closingOnError,
  type Database,
  hasContent,
  makeRoom,
  openDatabase,
  type Patience,
  run,
  texts,
} from './duckdb.ts'
import { valuesIn, warnOfEmptied } from './emptied-columns.ts'
import type { Description } from './flat-view.ts'
import { isOver, type Load, loadRows, type Progress } from './load-rows.ts'
import { createFile } from './new-file.ts'
import { damageOf, warningOfDamage, warningOfView } from './present-tables.ts'
import { publish } from './replace-file.ts'
import {
  alterTable,
  madeByOthers,
  nextOf,
  quoted,
  removeBefore,
  removeOlder,
  type Table,
} from './sql.ts'
import {
  assertNameIsFree,
  createView,
  KNOWN_TABLES,
  newMembers,
  othersAmong,
  prepareTable,
  readTables,
  removeState,
  STATES_HAVE_INDEX,
  STATES_WITHOUT_INDEX,
  type StoredTables,
  storeColumns,
  withNew,
} from './tables.ts'
import { unwritable } from './unwritable.ts'

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
   * sync wait in its next table.
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
  /** Keeps deleted rows from now on; a file that keeps them already goes on. */
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
  if (hasContent(path)) {
    const asked = await patience(() => openDatabase(path))
    await closingOnError(asked, () => isOwned(asked.connection, path, owner))
    asked.close()
  } else await createFile(path, folder, owner)
  const database = await patience(() => openDatabase(path, folder))
  return closingOnError(database, async () => {
    const { connection } = database
    // A file of somebody else who has no tables of ours becomes the tenant's.
    const isOurs = await isOwned(connection, path, owner)
    const [[indexes] = []] = await texts(connection, STATES_HAVE_INDEX)
    const keepsDeleted = await atomically(connection, async () => {
      await run(connection, [
        'CREATE SCHEMA IF NOT EXISTS flat',
        ...(isOurs ? [] : claim(owner)),
        ...KNOWN_TABLES,
        ...(indexes === '0' ? [] : STATES_WITHOUT_INDEX),
        ...ACCOUNT,
      ])
      const keeps = settings.keepsDeleted || (await keepsDeletedRows(connection))
      await run(connection, keepDeletedRows(keeps))
      return keeps
    }).catch((error) => {
      throw unwritable(error)
    })
    return createWarehouse(database, { ...settings, keepsDeleted })
  })
}

function createWarehouse(
  { connection, close }: Database,
  { path, keepsDeleted, log }: WarehouseSettings,
): Warehouse {
  let known: ReadonlyMap<string, Known> = new Map()
  let began = new Date(0)
  return {
    states: () => readStates(connection),
    prepare: (specs, at) =>
      atomically(connection, async () => {
        began = at
        const stored = await readTables(connection)
        const prepared = new Map<string, Known>()
        for (const spec of specs)
          prepared.set(spec.name, await prepareStream(connection, spec, stored, keepsDeleted, log))
        await run(connection, beginSync([...prepared.keys()], at))
        known = prepared
        return new Map([...prepared].map(([name, { table }]) => [name, table.columns]))
      }),
    othersIn: (stream) => knownOf(stream).others,
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
        for (const stream of known.values())
          if (stream.isReadWhole) await dropEmptyVariants(connection, stream)
        await run(connection, endSync(began, outcome))
      }),
    async publish(copy) {
      // Afterwards everything is in the file, and DuckDB writes nothing more.
      await connection.run('CHECKPOINT').catch((error) => {
        throw unwritable(error)
      })
      publish(path, copy)
    },
    close,
  }

  async function commitAll(loads: readonly Load[]): Promise<void> {
    const last = loads.filter((load) => hasLastRows(load, knownOf(load.stream)))
    if (last.length > 0) await commitTogether(last.map(withoutEnd))
    await commitTogether(loads.map((load) => (last.includes(load) ? { ...load, files: [] } : load)))
  }

  async function commitTogether(loads: readonly Load[]): Promise<void> {
    const lengths = loads.flatMap(({ files }) => files.map(({ longest }) => longest))
    await makeRoom(connection, Math.max(0, ...lengths))
    const next = new Map(known)
    await atomically(connection, async () => {
      for (const load of loads)
        next.set(load.stream, await commitLoad(connection, knownOf(load.stream), load, log))
    })
    known = next
  }

  function knownOf(stream: string): Known {
    const present = known.get(stream)
    if (present === undefined) throw new Error(`the warehouse was not prepared for ${stream}`)
    return present
  }
}

/** A stream of this sync: its description and the progress of its rows. */
interface Known extends Description, Progress {
  /** The columns in lower case that others have added to the table. */
  readonly others: ReadonlySet<string>
  /** Whether this sync has committed a complete read. */
  readonly isReadWhole: boolean
}

/** Creates the table and the view of a stream, or adapts those of earlier syncs. */
async function prepareStream(
  connection: DuckDBConnection,
  spec: StreamSpec,
  stored: StoredTables,
  keepsDeleted: boolean,
  log: Log,
): Promise<Known> {
  const { name, key: keys, schema } = spec
  const { present, members, views } = stored
  const before = stored.columns.get(name) ?? []
  const others = othersAmong(before, present.columnsOf(name))
  const table = { name, keys, columns: withNew(before, columnsOf(schema), others), keepsDeleted }
  assertNameIsFree(name, before, present)
  const damage = damageOf(name, before, present)
  const warning = warningOfDamage(name, damage, present)
  if (warning !== undefined) log.warn(warning)
  const { statements, hasNext } = prepareTable(table, before, damage, stored)
  await run(connection, statements)
  const own = { members: members.get(name) ?? [], names: stored.names.get(name) ?? new Map() }
  const description = { spec, table, ...own }
  const { names, wasChanged } = await createView(connection, description, views.get(name))
  if (wasChanged) log.warn(warningOfView(name))
  const highest = await numberOf(connection, `coalesce(max(source.${GENERATION}), -1)`, name)
  return { ...description, names, highest, hasNext, others, isReadWhole: false }
}

/**
 * Whether a load has the last rows of a read that replaces the table. DuckDB cannot rename a table in a transaction that
 * has deleted from it, so these rows are committed before, without a state. If the process ends in between, the stream is
 * read from the beginning: a row of these that is deleted until then would otherwise stay, because nobody would know of it.
 */
function hasLastRows(load: Load, { hasNext }: Known): boolean {
  return hasNext && isOver(load) && load.files.length > 0 && load.risesFrom === undefined
}

/** Writes the rows and the state of a load. Returns what is known of the stream afterwards. */
async function commitLoad(
  connection: DuckDBConnection,
  present: Known,
  load: Load,
  log: Log,
): Promise<Known> {
  const { stream, files, state, completeGeneration, left } = load
  const table = { ...present.table, columns: load.columns }
  await alter(connection, present, table)
  const isCompared = completeGeneration !== undefined && present.highest >= 0
  const before = isCompared ? await valuesIn(connection, table) : undefined
  const { added, isReplaced, ...progress } = await loadRows(connection, table, load, present)
  const columns = [...new Set(files.flatMap((file) => file.columns))]
  const found = added === undefined ? [] : await newMembers(connection, present, columns, added)
  if (completeGeneration !== undefined)
    await run(connection, [removeOlder(table, completeGeneration)])
  if (left !== undefined)
    for (const one of progress.hasNext ? [table, nextOf(table)] : [table])
      await run(connection, removeBefore(one, left))
  if (before !== undefined) warnOfEmptied(before, await valuesIn(connection, table), stream, log)
  if (state !== undefined) await run(connection, [removeState(stream)])
  if (typeof state === 'string')
    await connection.run('INSERT INTO _protime.states VALUES ($stream, $state)', { stream, state })
  await run(connection, [committed(table, load.complete)])
  const now: Known = {
    ...present,
    ...progress,
    table,
    members: [...present.members, ...found],
    isReadWhole: present.isReadWhole || completeGeneration !== undefined,
  }
  const isSame = found.length === 0 && table.columns.length === present.table.columns.length
  if (isSame && !isReplaced) return now
  return { ...now, names: (await createView(connection, now)).names }
}

/** Drops the variants of a table that have no values. */
async function dropEmptyVariants(connection: DuckDBConnection, present: Known): Promise<void> {
  const { columns, name } = present.table
  // Rows that wait may have values in them; and DuckDB drops no column of a table that has an index.
  const [[others] = []] = await texts(connection, madeByOthers(present.table))
  if (present.hasNext || others !== '0') return
  const empty = new Set<Column>()
  for (const column of columns.filter(({ variantOf }) => variantOf !== undefined)) {
    const count = `count(source.${quoted(column.name)})`
    if ((await numberOf(connection, count, name)) === 0) empty.add(column)
  }
  if (empty.size === 0) return
  const table = { ...present.table, columns: columns.filter((column) => !empty.has(column)) }
  await alter(connection, present, table)
  await createView(connection, { ...present, table })
}

/** Gives the tables of a stream the columns that they have from now on. */
async function alter(
  connection: DuckDBConnection,
  { table, hasNext }: Known,
  now: Table,
): Promise<void> {
  for (const { name } of hasNext ? [now, nextOf(now)] : [now])
    await run(connection, alterTable(name, table.columns, now.columns))
  await run(connection, storeColumns(now, table.columns))
}

/** The value of an expression over the rows of a table. */
async function numberOf(
  connection: DuckDBConnection,
  value: string,
  table: string,
): Promise<number> {
  const [[number] = []] = await texts(
    connection,
    `SELECT ${value} FROM main.${quoted(table)} AS source`,
  )
  return Number(number)
}

/** The rows of a load without its state and the end of its read. */
function withoutEnd({ stream, files, columns, generation }: Load): Load {
  const end = { state: null, completeGeneration: undefined, complete: undefined }
  return { stream, files, columns, generation, risesFrom: undefined, ...end }
}
