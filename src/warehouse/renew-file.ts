import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { privately, resolvedFile } from '../ground/private-file.ts'
import { isOwned, type Owner } from './account.ts'
import { atomically, hasContent, openDatabase, type Patience, run, texts } from './duckdb.ts'
import { assertPublishable, publish, putInPlace } from './replace-file.ts'
import { literal, quoted } from './sql.ts'
import { removeOthers, withFolder } from './sync-warehouse.ts'
import { unwritable } from './unwritable.ts'

export interface RenewSettings {
  readonly path: string
  readonly owner: Owner
  readonly patience: Patience
  /** Copies of earlier syncs, which are replaced, too. */
  readonly copies: readonly string[]
}

/** What the new file has otherwise than the old one. */
export interface Renewal {
  /** The rows that it does not get, by the names of tables in `main`: a condition of the rows of `source`. */
  readonly omissions: ReadonlyMap<string, string>
  /** The new states of streams; a stream without one gets none, and is read from the beginning. */
  readonly states: ReadonlyMap<string, unknown>
  /** Statements that are executed in the new file before it is complete. */
  readonly statements: readonly string[]
}

/** A file that no other process has open. */
export interface RenewableFile {
  readonly connection: DuckDBConnection
  /**
   * Writes everything else into a new file, and puts that in the place of the copies and of this file. However it ends, the path
   * has the old file or the new one. Afterwards this one can no longer be read.
   */
  renew(renewal: Renewal): Promise<void>
}

/**
 * Opens a file of `protime sync` that is to be written anew without some of its rows, so that none of their bytes is left.
 * Throws what `openDatabase` throws, and a config error for a file of another owner.
 */
export function withRenewableFile<T>(
  { owner, patience, ...given }: RenewSettings,
  work: (file: RenewableFile) => Promise<T>,
): Promise<T> {
  const path = resolvedFile(given.path)
  const copies = given.copies.map(resolvedFile)
  return privately(async () => {
    for (const copy of copies) await assertPublishable(path, copy, owner)
    await openOwned(path, owner, patience).then((database) => database.close())
    return withFolder(path, async (folder) => {
      const database = await patience(() => openDatabase(path, folder))
      try {
        const { connection } = database
        removeOthers(folder)
        return await work({
          connection,
          async renew(renewal) {
            await removeRewrite(path, folder)
            const fresh = join(folder, 'fresh.duckdb')
            await copyWithout(connection, fresh, renewal).catch((error) => {
              throw unwritable(error)
            })
            for (const copy of copies) publish(fresh, copy)
            // This process still has the old file open, so no sync can begin to write it.
            putInPlace(fresh, path)
          },
        })
      } finally {
        database.close()
      }
    })
  })
}

/** Opens a file of this owner that is only read. */
export async function openOwned(path: string, owner: Owner, patience: Patience) {
  const database = await patience(() => openDatabase(path))
  try {
    if (await isOwned(database.connection, path, owner)) return database
  } catch (error) {
    database.close()
    throw error
  }
  database.close()
  throw new ConnectorError(
    'config',
    'not-a-warehouse',
    `${path} is not a file of protime sync. Name one with --warehouse.`,
  )
}

/** Removes what an interrupted `--rewrite` has left; throws if one is running. */
async function removeRewrite(path: string, folder: string): Promise<void> {
  const rewrite = `${path}.rewrite`
  if (hasContent(rewrite))
    await openDatabase(rewrite, folder).then(
      (database) => database.close(),
      (error) => {
        if (error instanceof ConnectorError && error.id === 'in-use') throw error
      },
    )
  for (const file of [rewrite, `${rewrite}.wal`, `${rewrite}.sync`])
    rmSync(file, { recursive: true, force: true })
}

/** The name of the new file in statements. */
const FRESH = '_protime_fresh'

const HERE = 'database_name = current_database()'
const TABLES = `SELECT schema_name, table_name FROM duckdb_tables() WHERE ${HERE} AND NOT temporary ORDER BY table_oid`

async function copyWithout(
  connection: DuckDBConnection,
  path: string,
  { omissions, states, statements }: Renewal,
): Promise<void> {
  const [[old = ''] = []] = await texts(connection, 'SELECT current_database()')
  await run(connection, [
    `SET memory_limit = '${MEMORY_MB}MB'`,
    `ATTACH ${literal(path)} AS ${FRESH}`,
  ])
  await atomically(connection, async () => {
    await run(connection, [`COPY FROM DATABASE ${quoted(old)} TO ${FRESH} (SCHEMA)`])
    for (const [schema = '', table = ''] of await texts(connection, TABLES)) {
      if (schema === '_protime' && table === 'states') continue
      const name = `${quoted(schema)}.${quoted(table)}`
      const omitted = (schema === 'main' && omissions.get(table)) || 'false'
      const from = `FROM ${quoted(old)}.${name} AS source WHERE (${omitted}) IS NOT TRUE`
      await run(connection, [`INSERT INTO ${FRESH}.${name} SELECT source.* ${from}`])
      await assertNone(
        connection,
        `SELECT 1 WHERE (SELECT count(*) ${from}) <> (SELECT count(*) FROM ${FRESH}.${name})`,
      )
    }
    for (const [stream, state] of states)
      await connection.run(`INSERT INTO ${FRESH}._protime.states VALUES ($stream, $state)`, {
        stream,
        state: JSON.stringify(state),
      })
    await run(connection, [`USE ${FRESH}`, ...statements, `USE ${quoted(old)}`])
    await assertNone(connection, differing(described(literal(old)), described(literal(FRESH))))
  })
  await run(connection, [`CHECKPOINT ${FRESH}`, `DETACH ${FRESH}`])
  if (existsSync(`${path}.wal`)) throw new Error('DuckDB has left a log beside the new file')
}

/** The rows of others may be long, and a file is written anew seldom. */
const MEMORY_MB = 512

/** Selects the tables, views and columns of a database, with their comments. */
function described(name: string): string {
  return `SELECT schema_name, table_name, '', '', comment FROM duckdb_tables() WHERE database_name = ${name}
    UNION ALL SELECT schema_name, view_name, '', '', comment FROM duckdb_views() WHERE database_name = ${name} AND NOT internal
    UNION ALL SELECT schema_name, table_name, column_name, data_type, comment FROM duckdb_columns() WHERE database_name = ${name} AND NOT internal`
}

function differing(one: string, other: string): string {
  return `((${one}) EXCEPT (${other})) UNION ALL ((${other}) EXCEPT (${one}))`
}

async function assertNone(connection: DuckDBConnection, query: string): Promise<void> {
  const found = await texts(connection, query)
  if (found.length > 0) throw new Error('the new file has not everything that the old one has')
}
