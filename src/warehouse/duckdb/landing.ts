import { existsSync } from 'node:fs'
import type { DuckDBBlobValue, DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../../ground/errors.ts'
import { type Column, HELPER } from '../column.ts'
import type { Landing, LandingFailure, Patience, RowFile } from '../landing.ts'
import { lowerCase, presentOwn, presentTables, presentViews } from '../present.ts'
import { NULL, QUOTING, SEPARATOR } from '../row-file.ts'
import { quoted } from '../sql.ts'
import { dependedOn, unwritable } from '../unwritable.ts'
import { type Database, makeRoom, openDatabase, texts } from './database.ts'
import { duckDbDialect, literal } from './dialect.ts'
import { isParquetFolder, publishParquet } from './parquet.ts'
import { publish, unpublished } from './publish.ts'
import { jsonRows } from './query.ts'

/** Opens a file only to read it; throws what `openDatabase` throws, and a config error for a log that is not of this file. */
export async function readFile(path: string, patience: Patience): Promise<Landing> {
  const landing = createLanding(path, await patience(() => openDatabase(path)))
  try {
    if (existsSync(`${path}.wal`)) await assertOwnLog(landing, path)
    return landing
  } catch (error) {
    await landing.close()
    throw error
  }
}

/**
 * If an older copy is put in the place of a file whose process was killed, DuckDB adds to it what is in the log of the newer
 * one, whatever has happened in between. Then the account lacks the syncs in between.
 */
async function assertOwnLog(landing: Landing, path: string): Promise<void> {
  const isNumbered = (await landing.query(NUMBERED)).length > 0
  if (!isNumbered || (await landing.query(GAP)).length === 0) return
  throw new ConnectorError(
    'config',
    'warehouse-not-opened',
    `The warehouse ${path} cannot be opened: the log ${path}.wal belongs to a newer file. Move it away, then sync.`,
  )
}

/** Not in a file of the form before. */
const NUMBERED = `SELECT 1 FROM duckdb_columns() WHERE database_name = current_database()
  AND schema_name = '_protime' AND table_name = 'syncs' AND column_name = 'number'`
const GAP = `SELECT 1 FROM (SELECT number, lag(number) OVER (ORDER BY number) AS before FROM _protime.syncs)
  WHERE number > before + 1`

/** A DuckDB file that is open. `isFirst`: there was no copy yet at the path of its copy. */
export function createLanding(
  path: string,
  { connection, close }: Database,
  isFirst?: boolean,
): Landing {
  const query = (sql: string) => texts(connection, sql)
  let room = 0
  return {
    sql: duckDbDialect,
    query,
    jsonRows: (sql) => jsonRows(connection, sql),
    texts: (table, text) => textsOf(connection, table, text),
    async run(sql, values) {
      await connection.run(sql, values === undefined ? undefined : [...values])
    },
    present: () => presentTables(query, PRESENT),
    views: () => presentViews(query, VIEWS),
    ownTables: () => presentOwn(query, OWN),
    async atomically(work) {
      await connection.run('BEGIN')
      try {
        const result = await work()
        await connection.run('COMMIT')
        return result
      } catch (error) {
        // If a COMMIT fails, DuckDB has ended the transaction itself.
        await connection.run('ROLLBACK').catch(() => {})
        throw error
      }
    },
    // DuckDB finds them without an index, which a kill might damage.
    indexKey: async () => {},
    makeRoom: makeRoomFor,
    async canDropColumns(stream) {
      const of = `${HERE} AND schema_name = 'main' AND table_name = ${literal(stream)}`
      const [[count] = []] = await texts(
        connection,
        `SELECT (SELECT count(*) FROM duckdb_indexes() ${of}) + (SELECT count(*) FROM duckdb_constraints() ${of})`,
      )
      return count === '0'
    },
    async scratch(name, query) {
      await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} AS ${query}`)
      return `temp.${name}`
    },
    async stage(name, files, columns) {
      await makeRoomFor(longestOf(files))
      let before = 0
      for (const file of files) {
        const into =
          before === 0 ? `CREATE OR REPLACE TEMP TABLE ${name} AS` : `INSERT INTO temp.${name}`
        const number = `row_number() OVER () + ${before} AS ${HELPER.row}, file.${HELPER.op} AS ${HELPER.op}`
        await connection.run(
          `${into} SELECT ${number}, ${valuesOf(file, columns)} FROM ${rowsOf(file)}`,
        )
        before += file.count
      }
      return `temp.${name}`
    },
    async append(table, files, columns, constants) {
      await makeRoomFor(longestOf(files))
      const names = [...columns.map(({ name }) => quoted(name)), ...constants.keys()].join(', ')
      for (const file of files) {
        const values = [valuesOf(file, columns), ...constants.values()].join(', ')
        await connection.run(
          `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${rowsOf(file)}`,
        )
      }
    },
    async replaceView({ schema, name, query, comments }) {
      const view = `CREATE OR REPLACE VIEW ${schema}.${quoted(name)} AS ${query}`
      // There are hundreds of statements, which take half as long in one call.
      await connection.run([view, ...comments].join(';\n'))
      return true
    },
    failureOf,
    async publish(copy) {
      // Afterwards everything is in the file, and DuckDB writes nothing more. Reading the file makes the system release the
      // lock of the process.
      await connection.run('CHECKPOINT').catch((error) => {
        throw unwritable(error)
      })
      if (!isParquetFolder(copy)) return publish(path, copy, isFirst)
      await publishParquet(connection, copy).catch((error) => {
        throw unpublished(copy, error)
      })
    },
    close: async () => close(),
  }

  async function makeRoomFor(longest: number): Promise<void> {
    if (longest <= room) return
    room = longest
    await makeRoom(connection, room)
  }
}

/** Errors of the file, with which the commit of any stream fails. */
const OF_THE_FILE = /IO Error|FATAL|No space left|ENOSPC|has been invalidated/

/** Errors about an index on a table whose column is changed. */
const DEPENDED_ON = /Dependency Error|an index depends on it/

/** See `Landing.failureOf`. */
export function failureOf(error: unknown): LandingFailure {
  const isOfAll = OF_THE_FILE.test(String(error))
  if (/Ambiguous reference to catalog or schema "history"/.test(String(error)))
    return {
      error: new ConnectorError(
        'config',
        'warehouse-not-opened',
        'The warehouse cannot have a history: DuckDB does not distinguish a file called history from the schema of that name. Give the file another name.',
        { cause: error },
      ),
      isOfAll: true,
    }
  const [text = ''] = String(error).split('\n')
  if (DEPENDED_ON.test(text)) return { error: dependedOn(text, error), isOfAll }
  // After a kill, DuckDB may restore an index that does not fit its table. It then fails at each delete, until the index
  // is dropped; the connector creates none.
  if (error instanceof ConnectorError || !/rows from index/.test(String(error)))
    return { error: unwritable(error), isOfAll }
  const damaged = new ConnectorError(
    'config',
    'damaged-index',
    'The warehouse cannot be written: an index that you have added to a table is damaged. Drop it (SELECT * FROM duckdb_indexes() lists all), sync again, and create it again. The warehouse has the rows of the last commit.',
    { cause: error },
  )
  return { error: damaged, isOfAll }
}

/** The memory for reading all rows, in megabytes; with more, DuckDB would keep blocks of the file that are read once. */
const READING_MB = 8
/** What it may become for the sake of one row. */
const MOST_MB = 4096
/** DuckDB has several copies of so many rows at once. */
const VECTOR = 2048

/** As bytes: DuckDB's package would make a string of each. If the rows are too long to be read at once, there are more queries. */
async function* textsOf(
  connection: DuckDBConnection,
  table: string,
  text: string,
): AsyncIterable<Buffer[]> {
  const [[last] = []] = await texts(connection, `SELECT max(rowid) FROM ${table}`)
  // By default, a megabyte waits to be read.
  await connection.run("SET streaming_buffer_size = '100KB'")
  let memory = READING_MB
  await connection.run(`SET memory_limit = '${memory}MB'`)
  let count = Number(last) + 1
  for (let first = 0; first <= Number(last); ) {
    const until = first + count
    try {
      const result = await connection.stream(
        `SELECT encode(${text}), rowid FROM ${table} AS source WHERE rowid >= ${first} AND rowid < ${until}`,
      )
      for (;;) {
        const chunk = await result.fetchChunk()
        if (!chunk?.rowCount) break
        yield (chunk.getColumnValues(0) as DuckDBBlobValue[]).map(({ bytes }) => bytes as Buffer)
        first = Number(chunk.getColumnValues(1).at(-1)) + 1
      }
      first = until
      count *= 2
    } catch (error) {
      if (!/Out of Memory/.test(String(error)) || (count === 1 && memory === MOST_MB)) throw error
      if (count === 1) {
        memory *= 2
        await connection.run(`SET memory_limit = '${memory}MB'`)
      }
      count = Math.ceil(Math.min(count, VECTOR) / 8)
    }
  }
}

function longestOf(files: readonly RowFile[]): number {
  return Math.max(0, ...files.map(({ longest }) => longest))
}

/** The size of the parts in which DuckDB reads a file, in bytes. */
const BUFFER = 4 * 1024 * 1024

/** Selects the values of a file for these columns; the file may lack some of them. */
function valuesOf({ columns }: RowFile, wanted: readonly Column[]): string {
  const places = new Map(columns.map(({ name }, i) => [name, `file._protime_${i}`]))
  return wanted
    .map(({ name, type }) => `${places.get(name) ?? `NULL::${type}`} AS ${quoted(name)}`)
    .join(', ')
}

/**
 * Reads a file. Its columns are numbered, so names of the service cannot conflict. Its parts are read in parallel, unless
 * one may begin in a text that looks like rows.
 */
function rowsOf({ path, columns, longest, imitatesRows }: RowFile): string {
  const types = [
    `${HELPER.op}: 'VARCHAR'`,
    ...columns.map(({ type }, i) => `_protime_${i}: ${literal(type)}`),
  ]
  const line = longest + 1
  return `read_csv(${literal(path)}, auto_detect = false, header = false,
    delim = ${byte(SEPARATOR)}, new_line = '\\n', quote = ${byte(QUOTING)}, escape = ${byte(QUOTING)},
    nullstr = ${byte(NULL)}, allow_quoted_nulls = false, parallel = ${!imitatesRows}, columns = {${types.join(', ')}},
    max_line_size = ${line}, buffer_size = ${Math.max(BUFFER, line * 2)}) AS file`
}

const byte = (code: number) => literal(String.fromCharCode(code))

const HERE = 'WHERE database_name = current_database()'
const PRESENT = {
  columns: `SELECT table_name, column_name, data_type FROM duckdb_columns() ${HERE} AND schema_name = 'main'`,
  others: `SELECT schema_name || '.' || view_name FROM duckdb_views() ${HERE} AND schema_name = 'main'
    UNION ALL SELECT schema_name || '.' || table_name FROM duckdb_tables() ${HERE} AND schema_name IN ('flat', 'history')`,
  nameOf: lowerCase,
}
/** DuckDB writes quotes around a type in a view that it has just made, and none when the file is opened again. */
const VIEWS = `SELECT schema_name || '.' || view_name, md5(replace(sql, '"', '')) FROM duckdb_views() ${HERE}`
const OWN = `SELECT table_name FROM duckdb_tables() ${HERE} AND schema_name = '_protime'`
