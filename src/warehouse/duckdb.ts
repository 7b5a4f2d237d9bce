import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'

/** The part of DuckDB's package that is used. */
type DuckDb = Pick<typeof import('@duckdb/node-api'), 'DuckDBInstance'>

export interface Database {
  readonly connection: DuckDBConnection
  close(): void
}

/**
 * Opens a DuckDB file, or makes it; `temporary` is a folder for what does not fit into memory. DuckDB is
 * an optional dependency: a config error says how to get it. A file that another process has open
 * is a transient error.
 */
export async function openDatabase(path: string, temporary: string): Promise<Database> {
  const { DuckDBInstance } = await load()
  const instance = await open(DuckDBInstance, path, temporary)
  const connection = await instance.connect()
  const database = {
    connection,
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
  if (await isFile(connection)) return database
  database.close()
  throw new ConnectorError('config', `${path} is no DuckDB file. Name another file by --warehouse.`)
}

/** Instead of refusing a file of JSON, CSV or Parquet, DuckDB opens a database in memory that has it as a view. */
async function isFile(connection: DuckDBConnection): Promise<boolean> {
  const result = await connection.runAndReadAll(
    'SELECT path FROM duckdb_databases() WHERE database_name = current_database()',
  )
  return typeof result.getRows()[0]?.[0] === 'string'
}

async function load(): Promise<DuckDb> {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new ConnectorError(
      'config',
      'DuckDB is not installed, which the warehouse is a file of. Install it beside this package: npm install @duckdb/node-api',
      { cause: error },
    )
  }
}

async function open(
  instances: DuckDb['DuckDBInstance'],
  path: string,
  temporary: string,
): Promise<DuckDBInstance> {
  // Many tenants are synced side by side, each in a process of this size, however large the machine is. A
  // second thread would cost a commit half as much CPU again, and it would end no sooner.
  // With DuckDB's own blocks of 256 KiB the file of a small tenant would be four times as large.
  const limits = { threads: '1', memory_limit: '256MB', default_block_size: '65536' }
  try {
    return await instances.create(path, { ...limits, temp_directory: temporary })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (text.includes('lock'))
      throw new ConnectorError(
        'transient',
        `Another process has the warehouse open: ${path}. A warehouse is synced by one process at a time, and is not read meanwhile.`,
        { cause: error },
      )
    throw new ConnectorError(
      'config',
      `The warehouse ${path} cannot be opened: ${text.split('\n')[0]}`,
      { cause: error },
    )
  }
}
