import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { resolvedFile } from '../ground/private-file.ts'
import { packageFolder } from '../ground/project-files.ts'
import type { Tools } from '../protocol/connector.ts'
import { literal } from './sql.ts'

/** The part of DuckDB's package that is used. */
type DuckDb = Pick<typeof import('@duckdb/node-api'), 'DuckDBInstance'>

/** What DuckDB may take of memory: it fills it with blocks of the file, and is no faster with more of them. */
const MEMORY_MB = 128
/** Where a row is as long as this it may take so much more, and so much for each megabyte of the row. */
const LONG_MB = 2
const MEMORY_OF_LONG_MB = 128
const MEMORY_PER_LONG_MB = 16

const SETTINGS = {
  // Many tenants are synced side by side, each in a process of this size, however large the machine is. A
  // second thread would cost a commit half as much CPU again, and it would end no sooner.
  threads: '1',
  memory_limit: `${MEMORY_MB}MB`,
  // With DuckDB's own blocks of 256 KiB the file of a small tenant would be four times as large.
  default_block_size: '65536',
  // Nothing is asked of anybody else.
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
}

export interface Database {
  readonly connection: DuckDBConnection
  close(): void
}

/**
 * Opens a DuckDB file, or makes it; `temporary` is a folder for what does not fit into memory, without one
 * the file is only read. DuckDB is an optional dependency: a config error says how to get it. A file that
 * another process has open is a transient error.
 */
export async function openDatabase(path: string, temporary?: string): Promise<Database> {
  const { DuckDBInstance } = await load()
  // What follows it in a path is no part of it to DuckDB.
  if (path.includes('?')) throw badName(path, 'a question mark')
  if (temporary === undefined && !existsSync(path)) throw noFile(path)
  const instance = await open(DuckDBInstance, path, temporary)
  const connection = await instance.connect()
  // DuckDB reads files by their names; it needs those of the folder alone.
  if (temporary !== undefined)
    await run(connection, [
      `SET allowed_directories = [${literal(join(temporary, '/'))}]`,
      'SET enable_external_access = false',
    ])
  const database = {
    connection,
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
  const [name, file] = await databaseOf(connection)
  if (typeof file === 'string' && !OUR_SCHEMAS.has(String(name).toLowerCase())) return database
  database.close()
  throw typeof file === 'string' ? badName(path, `the name of a schema, ${name}`) : noDuckDb(path)
}

/** DuckDB calls a database as its file, and cannot tell it from a schema of that name. */
const OUR_SCHEMAS: ReadonlySet<string> = new Set(['flat', '_protime'])

function badName(path: string, what: string): ConnectorError {
  return new ConnectorError(
    'config',
    'warehouse-not-opened',
    `The warehouse ${path} cannot be opened: DuckDB takes no file that is called by ${what}. Name another file with --warehouse.`,
  )
}

/** DuckDB says this in its own words, and that its database is in read-only mode. */
function noFile(path: string): ConnectorError {
  return new ConnectorError(
    'config',
    'warehouse-not-opened',
    `The warehouse ${path} cannot be opened: there is no such file. Name another one with --warehouse, or create it with protime sync.`,
  )
}

function noDuckDb(path: string): ConnectorError {
  return new ConnectorError(
    'config',
    'not-duckdb',
    `${path} is not a DuckDB file. Name another file with --warehouse.`,
  )
}

/**
 * The name of the database, and its file: instead of refusing a file of JSON, CSV or Parquet, DuckDB opens a database
 * in memory that has it as a view.
 */
async function databaseOf(connection: DuckDBConnection): Promise<readonly unknown[]> {
  const result = await connection.runAndReadAll(
    'SELECT database_name, path FROM duckdb_databases() WHERE database_name = current_database()',
  )
  return result.getRows()[0] ?? []
}

async function load(): Promise<DuckDb> {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new ConnectorError(
      'config',
      'duckdb-missing',
      `The warehouse is a DuckDB file, and DuckDB is not installed. ${howToInstall(packageFolder())}`,
      { cause: error },
    )
  }
}

/** What brings DuckDB to an installation whose package lies in this folder. */
function howToInstall(folder: string): string {
  if (folder.split(sep).slice(-2).join('/') === 'source_protime/connector')
    return "Run: pip install 'source-protime[duckdb]'"
  if (folder === '/airbyte/integration_code')
    return 'Use the image source-protime/protime-sync, which has it.'
  return 'Run: npm install @duckdb/node-api'
}

async function open(
  instances: DuckDb['DuckDBInstance'],
  path: string,
  temporary: string | undefined,
): Promise<DuckDBInstance> {
  const access =
    temporary === undefined ? { access_mode: 'READ_ONLY' } : { temp_directory: temporary }
  try {
    return await instances.create(resolvedFile(path), { ...SETTINGS, ...access })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (text.includes('in-memory database in read-only mode')) throw noDuckDb(path)
    if (text.includes('newer version of DuckDB'))
      throw new ConnectorError(
        'config',
        'made-by-a-newer-duckdb',
        `${path} was written by a newer DuckDB than that of this program, which cannot read it. Name another file with --warehouse: newer versions can read the files of this one.`,
        { cause: error },
      )
    if (text.includes('Could not set lock'))
      throw new ConnectorError(
        'transient',
        'in-use',
        `Another process has the warehouse open: ${path}. Only one process can sync a warehouse, and none can read it meanwhile.`,
        { cause: error },
      )
    throw new ConnectorError(
      'config',
      'warehouse-not-opened',
      `The warehouse ${path} cannot be opened: ${text.split('\n')[0]}`,
      { cause: error },
    )
  }
}

/** Tries to open a file until it opens, or long enough. */
export type Patience = (open: () => Promise<Database>) => Promise<Database>

/** How often it is asked whether a file is free. */
const RETRY_MS = 1_000

/** Waits so many milliseconds in all for a file that another process has open, and says so once. */
export function createPatience(
  ms: number,
  { log, signal }: Pick<Tools, 'log' | 'signal'>,
): Patience {
  const until = performance.now() + ms
  let isTold = false
  return async function patience(open) {
    for (;;) {
      try {
        return await open()
      } catch (error) {
        const isTaken = error instanceof ConnectorError && error.failure === 'transient'
        if (!isTaken || performance.now() >= until) throw error
        if (!isTold) log.info(`${error.message} Waiting for it.`)
        isTold = true
        // An end that is asked for is thrown as itself.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
      }
    }
  }
}

/** Makes room for rows of so many bytes, which are many times in memory while they are read. */
export async function makeRoom(connection: DuckDBConnection, longest: number): Promise<void> {
  const megabytes = Math.ceil(longest / 1_000_000)
  if (megabytes < LONG_MB) return
  const limit = MEMORY_MB + MEMORY_OF_LONG_MB + megabytes * MEMORY_PER_LONG_MB
  await connection.run(`SET memory_limit = '${limit}MB'`)
}

/** The rows of an answer as texts. */
export async function texts(connection: DuckDBConnection, sql: string): Promise<string[][]> {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRows().map((row) => row.map(String))
}

/** Runs statements, one after the other. */
export async function run(
  connection: DuckDBConnection,
  statements: readonly string[],
): Promise<void> {
  for (const statement of statements) await connection.run(statement)
}

/** Does work in one transaction. */
export async function atomically<T>(
  connection: DuckDBConnection,
  work: () => Promise<T>,
): Promise<T> {
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

/** Does work with a database that is closed where the work fails. */
export async function closingOnError<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    database.close()
    throw error
  }
}
