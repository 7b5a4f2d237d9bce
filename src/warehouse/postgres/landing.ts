import { ConnectorError } from '../../ground/errors.ts'
import { type Column, HELPER } from '../column.ts'
import type { Landing, RowFile } from '../landing.ts'
import { presentOwn, presentTables, presentViews } from '../present.ts'
import { NULL, QUOTING, SEPARATOR } from '../row-file.ts'
import { quoted } from '../sql.ts'
import { BEGIN, type Connection, SETTINGS } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { failureOf, isBusy, isLost, readingFailureOf } from './failure.ts'
import type { Fence } from './fence.ts'
import { jsonRows } from './json-rows.ts'
import { selectOwn, selectsOf, selectViews } from './present.ts'
import { identifyPublishedRows } from './publication.ts'
import { replaceView } from './view.ts'

/** How often a transaction is tried for which others hold a lock. */
const ATTEMPTS = 3
/** The rows that are fetched at once. */
const CHUNK = 5_000
/** How the row files are read. */
const FORM = [
  'FORMAT csv',
  ...Object.entries({ DELIMITER: SEPARATOR, QUOTE: QUOTING, ESCAPE: QUOTING, NULL }).map(
    ([name, code]) => `${name} E'\\x${code.toString(16).padStart(2, '0')}'`,
  ),
].join(', ')

/** A database of PostgreSQL. */
export interface PostgresLanding extends Landing {
  /** Removes what deleted and replaced rows have left in a table and its statistics. */
  vacuum(table: string): Promise<void>
}

/** Only reads: everything as of one moment. */
export async function readLanding(connection: Connection, schema: string): Promise<Landing> {
  await connection.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${SETTINGS}`)
  return createLanding(connection, schema, undefined)
}

/** Without a fence, the caller has begun a transaction that only reads. */
export function createLanding(
  first: Connection,
  schema: string,
  fence: Fence | undefined,
  lock?: Connection,
): PostgresLanding {
  const sql = postgresDialect(schema)
  const { account } = sql.schemas
  const scratches = new Set<string>()
  let connection = first
  let isInside = fence === undefined
  return {
    sql,
    async query(text) {
      const { rows } = await inside(() => connection.query(text))
      return rows.map((row) => [...row])
    },
    jsonRows: (text) => jsonRows(connection, sql.schemas, text),
    texts: textsOf,
    async run(text, values) {
      await inside(() => connection.query(text, values))
    },
    present: () => inside(() => presentTables(rowsOf, selectsOf(sql.schemas))),
    views: (streams) => inside(() => presentViews(rowsOf, selectViews(sql.schemas, streams))),
    ownTables: () => inside(() => presentOwn(rowsOf, selectOwn(sql.schemas))),
    atomically: inside,
    makeRoom: async () => {},
    async indexKey(stream, key) {
      const isNumber = key.every(({ type }) => type === 'BIGINT')
      const isText = key.length === 1 && key[0]?.type === 'VARCHAR'
      // A long text would break a btree, and a hash has one column only.
      if (!isNumber && !isText) return
      const index = quoted(sql.limits.nameOf(stream, '_protime_key'))
      const table = `${sql.schemas.tables}.${quoted(stream)}`
      const kind = isNumber ? 'btree' : 'hash'
      await connection.query(
        `CREATE INDEX IF NOT EXISTS ${index} ON ${table} USING ${kind} (${key.map(named).join(', ')}); ANALYZE ${table}`,
      )
    },
    // Dropped columns go on counting towards the most that a table can have.
    canDropColumns: async () => false,
    async scratch(name, query) {
      const table = await fresh(name)
      await connection.query(`CREATE UNLOGGED TABLE ${table} AS ${query}; ANALYZE ${table}`)
      return table
    },
    async stage(name, files, columns) {
      const table = await fresh(name)
      const row = `${HELPER.row} BIGINT GENERATED ALWAYS AS IDENTITY (CACHE 1000)`
      await create(table, [row, `${HELPER.op} TEXT`], columns)
      for (const file of files) await copy(table, file)
      await connection.query(`ANALYZE ${table}`)
      return table
    },
    async append(table, files, columns, constants) {
      for (const file of files) {
        const staged = await fresh('_protime_appended')
        await create(staged, [`${HELPER.op} TEXT`], file.columns)
        await copy(staged, file)
        // A column that is not named would get a default of somebody else.
        const has = new Set(file.columns.map(({ name }) => name))
        const values = columns.map((column) => (has.has(column.name) ? named(column) : 'NULL'))
        await connection.query(
          `INSERT INTO ${table} (${[...columns.map(named), ...constants.keys()].join(', ')})
            SELECT ${[...values, ...constants.values()].join(', ')} FROM ${staged}`,
        )
      }
    },
    replaceView: (view) => replaceView(connection, view),
    failureOf,
    async vacuum(table) {
      // It cannot be in a transaction, so it has the settings of the role.
      await connection.query('SET statement_timeout = 0')
      await connection
        .query(`VACUUM (ANALYZE) ${table}`)
        .finally(() => connection.query('RESET statement_timeout'))
    },
    publish: (copy) => Promise.reject(notPublished(copy)),
    async close() {
      await connection.close()
      await lock?.close()
    },
  }

  async function rowsOf(text: string) {
    return (await connection.query(text)).rows
  }

  async function inside<T>(work: () => Promise<T>): Promise<T> {
    if (fence === undefined)
      return work().catch((error) => {
        throw readingFailureOf(error)
      })
    if (isInside) return work()
    for (let attempt = 1; ; attempt++)
      try {
        return await transaction(fence, work)
      } catch (error) {
        if (!isBusy(error) || attempt === ATTEMPTS) throw error
      }
  }

  async function transaction<T>(numbers: Fence, work: () => Promise<T>): Promise<T> {
    isInside = true
    try {
      await begin(numbers)
      const number = await numbers.begin(connection)
      await identifyPublishedRows(connection, sql.schemas)
      const result = await work()
      if (scratches.size > 0) await connection.query(`DROP TABLE ${[...scratches].join(', ')}`)
      connection = await numbers.commit(connection, number)
      return result
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => {})
      throw error
    } finally {
      isInside = false
      scratches.clear()
    }
  }

  /** A connection that was lost meanwhile, such as by a limit of idle time, is replaced: nothing was written by it. */
  async function begin(numbers: Fence): Promise<void> {
    const first = () => connection.query(`${BEGIN}; ${SETTINGS}`)
    await first().catch(async (error) => {
      if (!isLost(error)) throw error
      connection = await numbers.reconnect(connection)
      await first()
    })
  }

  /** The name of a scratch table that does not exist. */
  async function fresh(name: string): Promise<string> {
    const table = `${account}.${name}`
    if (scratches.has(table)) await connection.query(`DROP TABLE ${table}`)
    scratches.add(table)
    return table
  }

  async function create(table: string, own: readonly string[], columns: readonly Column[]) {
    const all = [...own, ...columns.map((column) => `${named(column)} ${sql.type(column.type)}`)]
    await connection.query(`CREATE UNLOGGED TABLE ${table} (${all.join(', ')})`)
  }

  async function copy(table: string, { path, columns }: RowFile): Promise<void> {
    const names = [HELPER.op, ...columns.map(named)].join(', ')
    await connection.copy(`COPY ${table} (${names}) FROM STDIN WITH (${FORM})`, path)
  }

  async function* textsOf(table: string, text: string): AsyncIterable<Buffer[]> {
    const query = `SELECT ${text} FROM ${table} AS source`
    await inside(() => connection.query(`DECLARE protime_rows NO SCROLL CURSOR FOR ${query}`))
    for (;;) {
      const { rows } = await inside(() => connection.query(`FETCH ${CHUNK} FROM protime_rows`))
      if (rows.length === 0) break
      yield rows.map(([value]) => Buffer.from(value ?? ''))
    }
    await inside(() => connection.query('CLOSE protime_rows'))
  }
}

function named({ name }: Column): string {
  return quoted(name)
}

/** The error for --publish, whose copy would be of no use. */
export function notPublished(copy: string): ConnectorError {
  return new ConnectorError(
    'config',
    'publish-not-supported',
    `The copy given by --publish is not written: ${copy}. The warehouse is in PostgreSQL, where readers never see half of a sync and do not hold it up. Leave --publish out.`,
  )
}
