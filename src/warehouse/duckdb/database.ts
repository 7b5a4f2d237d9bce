import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { ConnectorError } from '../../ground/errors.ts'
import { notOwn, ownFile } from '../../ground/private-file.ts'
import { howToInstall } from '../how-to-install.ts'
import { isFull, unwritable } from '../unwritable.ts'
import { literal } from './dialect.ts'

/** The part of DuckDB's package that is used. */
type DuckDb = Pick<typeof import('@duckdb/node-api'), 'DuckDBInstance'>

/** The memory that DuckDB may use. It would fill more with blocks of the file, without being faster. */
const MEMORY_MB = 128
/** If a row is at least this long, DuckDB may use more memory: */
const LONG_MB = 2
/** this much once, */
const MEMORY_OF_LONG_MB = 128
/** and this much for each megabyte of the row. */
const MEMORY_PER_LONG_MB = 16

const SETTINGS = {
  // Many tenants may be synced at the same time, each in its own process, so a process does not use more on a larger
  // machine. With a second thread, a commit would need 50 % more CPU time, and would not end sooner.
  threads: '1',
  memory_limit: `${MEMORY_MB}MB`,
  // With DuckDB's default blocks of 256 KiB, the file of a small tenant would be four times as large.
  default_block_size: '65536',
  // DuckDB must not download anything.
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
}

/** The files that this process writes. DuckDB's lock holds back other processes only, and any closing of the file ends it. */
const written = new Set<string>()

export interface Database {
  readonly connection: DuckDBConnection
  close(): void
}

/**
 * Opens a DuckDB file, or creates it. `temporary` is a folder for data that does not fit into memory; without it, the
 * file must exist and is only read. DuckDB is an optional dependency: if it is missing, a config error says how to
 * install it. If another process has the file open, the error is transient. A file that is written, and its log, must be
 * regular files of this user; one that is read may be somebody else's.
 */
export async function openDatabase(
  path: string,
  temporary?: string,
  writable: readonly string[] = [],
): Promise<Database> {
  const { DuckDBInstance } = await load()
  const isBad = badNameOf(path)
  if (isBad !== undefined) throw badName(path, isBad)
  if (temporary !== undefined) for (const file of [path, `${path}.wal`]) ownFile(file)
  else if (sizeOf(path) === 0) throw noFile(path)
  else sizeOf(`${path}.wal`)
  const file = realFile(path)
  if (written.has(file)) throw inUse(path)
  if (temporary !== undefined) written.add(file)
  const free = () => temporary !== undefined && written.delete(file)
  const instance = await open(DuckDBInstance, path, file, temporary).catch((error) => {
    free()
    throw error
  })
  const connection = await instance.connect()
  // A statement or a view of somebody else can read any file by its name. Only files in these folders have to be.
  const folders = temporary === undefined ? [] : [temporary, ...writable]
  const allowed = folders.map((folder) => literal(join(resolve(folder), '/')))
  await connection.run(`SET allowed_directories = [${allowed.join()}]`)
  await connection.run('SET enable_external_access = false')
  const database = {
    connection,
    close() {
      connection.closeSync()
      instance.closeSync()
      free()
    },
  }
  if (await isOfFile(connection)) return database
  database.close()
  throw noDuckDb(path)
}

/**
 * The absolute path of a file without symbolic links. Of other paths, DuckDB takes some beginnings for a home folder, a URL or a
 * database of another kind.
 */
export function realFile(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}

/** Why DuckDB cannot use a file of this name; undefined if it can. */
export function badNameOf(path: string): string | undefined {
  // It takes what follows a question mark as options, not as a part of the path.
  if (path.includes('?')) return 'with a question mark'
  const [name = ''] = basename(path).split('.')
  return OUR_SCHEMAS.has(name.toLowerCase()) ? `after a schema, ${name}` : undefined
}

/**
 * Whether there is a file that a sync may continue: one without a byte is as good as none. Throws what `ownFile` throws of
 * the file or its log, and a config error for a log without its file: nobody knows whose it is.
 */
export function hasContent(path: string): boolean {
  const log = ownFile(`${path}.wal`)
  const hasBytes = (ownFile(path)?.size ?? 0) > 0
  if (!hasBytes && log !== undefined)
    throw notOwn(`${path}.wal`, 'is the log of a database that is not there')
  return hasBytes
}

/** The size of a file that is only read; 0 if there is none. To open a pipe would wait for its other end. */
function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === false) throw noDuckDb(path)
  return found?.size ?? 0
}

/** DuckDB names a database after its file, and cannot distinguish it from a schema with the same name. */
const OUR_SCHEMAS: ReadonlySet<string> = new Set(['flat', '_protime'])

function badName(path: string, what: string): ConnectorError {
  return new ConnectorError(
    'config',
    'warehouse-not-opened',
    `The warehouse ${path} cannot be opened: DuckDB does not open a file named ${what}. Name another file with --warehouse.`,
  )
}

/** Made before DuckDB is asked, because its message would speak of a database in read-only mode. */
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
 * Whether the open database is that of a file. It is not if the file is JSON, CSV or Parquet: DuckDB does not refuse it, but
 * opens a database in memory with the file as a view.
 */
async function isOfFile(connection: DuckDBConnection): Promise<boolean> {
  const result = await connection.runAndReadAll(
    'SELECT path FROM duckdb_databases() WHERE database_name = current_database()',
  )
  return typeof result.getRows()[0]?.[0] === 'string'
}

async function load(): Promise<DuckDb> {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw notLoaded(error)
  }
}

/** The error for a package of DuckDB that is missing, or whose library this machine cannot load. */
function notLoaded(error: unknown): ConnectorError {
  const { code, message } = error as NodeJS.ErrnoException
  const what =
    code === 'ERR_DLOPEN_FAILED'
      ? `installed, but its library cannot be loaded on this machine: ${message.split('\n')[0]}. It needs a system as its package describes, and enough memory and address space (ulimit -v).`
      : `not installed. ${howToInstall('duckdb')}`
  return new ConnectorError(
    'config',
    'duckdb-missing',
    `The warehouse is a DuckDB file, and DuckDB is ${what}`,
    { cause: error },
  )
}

async function open(
  instances: DuckDb['DuckDBInstance'],
  path: string,
  file: string,
  temporary: string | undefined,
): Promise<DuckDBInstance> {
  const access =
    temporary === undefined ? { access_mode: 'READ_ONLY' } : { temp_directory: temporary }
  try {
    return await instances.create(file, { ...SETTINGS, ...access })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (isFull(error)) throw unwritable(error)
    if (text.includes('in-memory database in read-only mode')) throw noDuckDb(path)
    if (text.includes('newer version of DuckDB'))
      throw new ConnectorError(
        'config',
        'made-by-a-newer-duckdb',
        `${path} was written by a newer DuckDB than that of this program, which cannot read it. Name another file with --warehouse: newer versions can read the files of this one.`,
        { cause: error },
      )
    if (text.includes('Could not set lock')) throw inUse(path, error)
    throw new ConnectorError(
      'config',
      'warehouse-not-opened',
      `The warehouse ${path} cannot be opened: ${text.split('\n')[0]}${adviceFor(text, path)}`,
      { cause: error },
    )
  }
}

function inUse(path: string, cause?: unknown): ConnectorError {
  return new ConnectorError(
    'transient',
    'in-use',
    `Another process has the warehouse open: ${path}. Only one process can sync a warehouse, and none can read it meanwhile.`,
    { cause },
  )
}

/** What to do about a file that DuckDB cannot read. */
function adviceFor(text: string, path: string): string {
  if (/\bWAL\b/.test(text))
    return `. The log ${path}.wal is damaged, or belongs to another file: then move it away. Rows that are only in the log are read again.`
  return /Corrupt|Could not read|not a valid DuckDB/.test(text)
    ? '. The file is damaged: restore it, or remove it, and the next sync reads everything into a new one.'
    : ''
}

/** Allows DuckDB more memory for long rows, of which it has several copies while it reads. `longest` is in bytes. */
export async function makeRoom(connection: DuckDBConnection, longest: number): Promise<void> {
  const megabytes = Math.ceil(longest / 1_000_000)
  if (megabytes < LONG_MB) return
  const limit = MEMORY_MB + MEMORY_OF_LONG_MB + megabytes * MEMORY_PER_LONG_MB
  await connection.run(`SET memory_limit = '${limit}MB'`)
}

/** Runs a query; returns its rows, with all values as texts. */
export async function texts(
  connection: DuckDBConnection,
  sql: string,
): Promise<(string | null)[][]> {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRows().map((row) => row.map((value) => (value === null ? null : String(value))))
}

/** Does work with a database, which is closed if the work fails. */
export async function closingOnError<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    database.close()
    throw error
  }
}
