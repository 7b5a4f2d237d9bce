import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { privately, resolvedFile } from '../../ground/private-file.ts'
import { openOwned } from '../account.ts'
import type { Landing, RenewableLanding, Renewal, RenewSettings } from '../landing.ts'
import { quoted } from '../sql.ts'
import { removeOthers, withFolder } from '../sync-folder.ts'
import { unwritable } from '../unwritable.ts'
import { openDatabase } from './database.ts'
import { literal } from './dialect.ts'
import { createLanding, readFile } from './landing.ts'
import { madeByOthers } from './others.ts'
import { publish } from './publish.ts'
import { assertPublishable, putInPlace, removeRewrite } from './replace-file.ts'

/**
 * Opens a file of `protime sync` that is to be written anew without some of its rows, so that none of their bytes is left.
 * Throws what `openDatabase` throws, and a config error for a file of another owner.
 */
export function withRenewableFile<T>(
  { owner, patience, ...given }: RenewSettings,
  work: (file: RenewableLanding) => Promise<T>,
): Promise<T> {
  const path = resolvedFile(given.path)
  const copies = given.copies.map(resolvedFile)
  return privately(async () => {
    for (const copy of copies) await assertPublishable(path, copy, owner, patience)
    await openOwned({ read: readFile }, path, owner, patience).then((landing) => landing.close())
    return withFolder(path, path, async (folder) => {
      const landing = createLanding(path, await patience(() => openDatabase(path, folder)))
      try {
        removeOthers(path, folder)
        return await work({
          landing,
          others: await madeByOthers(landing),
          async renew(renewal) {
            await removeRewrite(path, owner, patience)
            const fresh = join(folder, 'fresh.duckdb')
            await copyWithout(landing, fresh, renewal).catch((error) => {
              throw unwritable(error)
            })
            for (const copy of copies) publish(fresh, copy)
            // This process still has the old file open, so no sync can begin to write it.
            putInPlace(fresh, path)
          },
        })
      } finally {
        await landing.close()
      }
    })
  })
}

/** The name of the new file in statements. */
const FRESH = '_protime_fresh'

const HERE = 'database_name = current_database()'
const TABLES = `SELECT schema_name, table_name FROM duckdb_tables() WHERE ${HERE} AND NOT temporary ORDER BY table_oid`

async function copyWithout(
  landing: Landing,
  path: string,
  { omissions, states, statements }: Renewal,
): Promise<void> {
  const [[current] = []] = await landing.query('SELECT current_database()')
  const old = String(current)
  await landing.run(`SET memory_limit = '${MEMORY_MB}MB'; ATTACH ${literal(path)} AS ${FRESH}`)
  await landing.atomically(async () => {
    await landing.run(`COPY FROM DATABASE ${quoted(old)} TO ${FRESH} (SCHEMA)`)
    for (const place of await landing.query(TABLES)) {
      const [schema = '', table = ''] = place.map(String)
      if (schema === '_protime' && table === 'states') continue
      const name = `${quoted(schema)}.${quoted(table)}`
      const omitted = omissions.get(name) ?? 'false'
      const from = `FROM ${quoted(old)}.${name} AS source WHERE (${omitted}) IS NOT TRUE`
      const columns = await writableColumns(landing, name)
      if (columns !== '')
        await landing.run(`INSERT INTO ${FRESH}.${name} (${columns}) SELECT ${columns} ${from}`)
      await assertNone(
        landing,
        `SELECT 1 WHERE (SELECT count(*) ${from}) <> (SELECT count(*) FROM ${FRESH}.${name})`,
      )
    }
    for (const [stream, state] of states)
      await landing.run(
        `INSERT INTO ${FRESH}._protime.states SELECT $1, $2, old.starts_over
          FROM ${quoted(old)}._protime.states AS old WHERE old.stream = $1`,
        [stream, JSON.stringify(state)],
      )
    await landing.run([`USE ${FRESH}`, ...statements, `USE ${quoted(old)}`].join(';\n'))
    await assertNone(landing, differing(described(literal(old)), described(literal(FRESH))))
  })
  await landing.run(`CHECKPOINT ${FRESH}; DETACH ${FRESH}`)
  if (existsSync(`${path}.wal`)) throw new Error('DuckDB has left a log beside the new file')
}

/** The columns with values in the file, as others may have generated ones, which cannot be written; empty for a table without rows. */
async function writableColumns(landing: Landing, table: string): Promise<string> {
  const rows = await landing.query(
    `SELECT DISTINCT stored.column_id, stored.column_name FROM pragma_storage_info(${literal(table)}) AS stored
      ORDER BY stored.column_id`,
  )
  return rows.map(([, name]) => quoted(String(name))).join(', ')
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

async function assertNone(landing: Landing, query: string): Promise<void> {
  const found = await landing.query(query)
  if (found.length > 0) throw new Error('the new file has not everything that the old one has')
}
