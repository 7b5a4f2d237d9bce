import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { type CatalogStream, columnsOf, DELETED_AT } from '../../scripts/demo/columns.ts'
import type { Checkpoint } from './checkpoints.ts'
import { SyncError } from './failure.ts'

const EMITTED_AT = '_emitted_at'
/**
 * For a tenant's process, however large the machine is: many run side by side. Many tables are small,
 * and each column of each takes a block at least: DuckDB's own 256 KiB would make the file four times
 * as large.
 */
const LIMITS = { threads: '2', memory_limit: '512MB', default_block_size: '16384' }

/** A DuckDB file with the rows of one tenant and, beside them, the states that belong to them. */
export interface Warehouse {
  /** The last state of each stream, as a read takes them; empty before the first load. */
  states(): Promise<readonly unknown[]>
  /** Makes a table and a view per stream, and columns that are new. */
  prepare(streams: readonly CatalogStream[]): Promise<void>
  /** Loads the records and stores the states in one transaction: both are there, or neither. */
  commit(checkpoint: Checkpoint): Promise<void>
  close(): void
}

/**
 * Opens the file, or makes it. Two processes cannot have it open: the second gets a transient
 * `SyncError`. The schema `raw` has a table per stream with one row per key, deleted ones included,
 * and the schema `main` a view of those that live.
 */
export async function openWarehouse(path: string, temporary: string): Promise<Warehouse> {
  const instance = await open(path, temporary)
  const connection = await instance.connect()
  const known = new Map<string, CatalogStream>()
  await connection.run(`CREATE SCHEMA IF NOT EXISTS raw;
    CREATE TABLE IF NOT EXISTS raw._states (stream VARCHAR PRIMARY KEY, state JSON NOT NULL)`)
  return {
    async states() {
      const result = await connection.runAndReadAll('SELECT state FROM raw._states')
      return result.getRows().map(([text]) => JSON.parse(String(text)) as unknown)
    },
    prepare: (streams) =>
      atomically(connection, async () => {
        for (const stream of streams) {
          known.set(stream.name, stream)
          await connection.run(makeTable(stream))
          await connection.run(makeView(stream))
        }
      }),
    commit: ({ files, states }) =>
      atomically(connection, async () => {
        for (const [name, paths] of files) {
          const stream = known.get(name)
          if (stream === undefined) throw new SyncError('system', `${name} is not in the catalog`)
          await connection.run(readFiles(stream, paths))
          await connection.run(merge(stream))
        }
        for (const [stream, state] of states)
          await connection.run('INSERT OR REPLACE INTO raw._states VALUES ($stream, $state)', {
            stream,
            state: JSON.stringify(state),
          })
      }),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function open(path: string, temporary: string): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(path, { ...LIMITS, temp_directory: temporary })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (!text.includes('lock')) throw error
    throw new SyncError(
      'transient',
      `Another process has the warehouse open: ${path}. One tenant is synced once at a time.`,
    )
  }
}

async function atomically(connection: DuckDBConnection, work: () => Promise<void>): Promise<void> {
  await connection.run('BEGIN')
  try {
    await work()
    await connection.run('COMMIT')
  } catch (error) {
    await connection.run('ROLLBACK')
    throw error
  }
}

function makeTable(stream: CatalogStream): string {
  const columns = columnsOf(stream).map(({ name, type }) => `${quoted(name)} ${type}`)
  const added = columns.map(
    (column) => `ALTER TABLE ${raw(stream)} ADD COLUMN IF NOT EXISTS ${column}`,
  )
  return [
    `CREATE TABLE IF NOT EXISTS ${raw(stream)} (${DELETED_AT} VARCHAR, ${columns.join(', ')})`,
    ...added,
  ].join(';')
}

function makeView(stream: CatalogStream): string {
  return `CREATE OR REPLACE VIEW main.${quoted(stream.name)} AS
    SELECT * EXCLUDE (${DELETED_AT}) FROM ${raw(stream)} WHERE ${DELETED_AT} IS NULL`
}

/** The records of the files in their order, in a table `batch` with the columns of the stream. */
function readFiles(stream: CatalogStream, files: readonly string[]): string {
  const columns = columnsOf(stream)
  const paths = [DELETED_AT, ...columns.map(({ property }) => property)].map(pathTo)
  const values = columns.map(
    ({ name, type }, i) => `CAST(v[${i + 2}] AS ${type}) AS ${quoted(name)}`,
  )
  return `CREATE OR REPLACE TEMP TABLE batch AS
    SELECT emitted_at AS ${EMITTED_AT}, v[1] AS ${DELETED_AT}, ${values.join(', ')}
    FROM (
      SELECT record.emitted_at, json_extract_string(record.data, [${paths.join(', ')}]) AS v
      FROM read_json([${files.map(literal).join(', ')}], format = 'newline_delimited',
        columns = { record: 'STRUCT(emitted_at BIGINT, data JSON)' })
    )`
}

/**
 * Of all versions of a row the one with the highest cursor stays (as text, unless the cursor is a
 * number), of equals the one emitted last; a deletion is a version like any other.
 */
function merge(stream: CatalogStream): string {
  const keys = stream.source_defined_primary_key.map(([column = '']) => quoted(column))
  const cursor = quoted(stream.default_cursor_field[0] ?? '')
  const columns = [DELETED_AT, ...columnsOf(stream).map(({ name }) => name)].map(quoted)
  return `MERGE INTO ${raw(stream)} AS old USING (
      FROM batch WHERE rowid IN (
        SELECT max_by(rowid, (${cursor} IS NOT NULL, ${cursor}, ${EMITTED_AT}, rowid))
        FROM batch GROUP BY ${keys.join(', ')})
    ) AS new ON (${keys.map((key) => `old.${key} = new.${key}`).join(' AND ')})
    WHEN MATCHED AND coalesce(new.${cursor} >= old.${cursor}, old.${cursor} IS NULL)
      THEN UPDATE SET ${columns.map((column) => `${column} = new.${column}`).join(', ')}
    WHEN NOT MATCHED
      THEN INSERT (${columns.join(', ')}) VALUES (${columns.map((column) => `new.${column}`).join(', ')})`
}

const raw = ({ name }: CatalogStream) => `raw.${quoted(name)}`
const pathTo = (property: string) => literal(`$."${property}"`)
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
