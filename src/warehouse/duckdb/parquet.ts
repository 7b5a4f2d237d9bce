import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve, sep } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../../ground/errors.ts'
import { isJsonObject, tryParseJson } from '../../ground/json.ts'
import {
  ownFile,
  ownFolder,
  readOwnFile,
  removeLeft,
  temporaryBeside,
} from '../../ground/private-file.ts'
import type { Owner } from '../landing.ts'
import { quoted } from '../sql.ts'
import { texts } from './database.ts'
import { literal } from './dialect.ts'

/** What a folder of Parquet files says of them. It is written last, and before the first file of a stream, which it then announces. */
interface PublishedFolder {
  readonly tenant: string
  readonly environment: string
  /** When the sync ended that they show; null if they have never all been written. */
  readonly moment: string | null
  /** The number of rows of each file, by its stream. */
  readonly rows: Readonly<Record<string, number>>
  /** The streams that are being published for the first time, until all files have been written. */
  readonly begun?: readonly string[]
}

const PUBLISHED = 'published.json'
const PARQUET = '.parquet'
/** Nobody can write into a copy; its owner decides who else reads it. */
const MODE = 0o400

/** Whether a copy is a folder of Parquet files: its path ends with a slash. */
export function isParquetFolder(copy: string): boolean {
  return copy.endsWith('/') || copy.endsWith(sep)
}

/** Creates the folder if it is missing. Throws a config error if it cannot be written, or has the files of somebody else. */
export function assertParquetFolder(
  folder: string,
  owner: Pick<Owner, 'tenant' | 'environment'>,
): void {
  ownFolder(folder)
  accessSync(folder, constants.W_OK)
  const { tenant, environment } = publishedIn(folder) ?? {}
  const isFree = tenant === undefined && !readdirSync(folder).some((name) => name.endsWith(PARQUET))
  if (isFree || (tenant === owner.tenant && environment === owner.environment)) return
  throw new ConnectorError(
    'config',
    'not-a-copy',
    `The folder given by --publish has Parquet files that are not of this warehouse, so they are not replaced: ${folder}. Name another folder, or empty this one.`,
  )
}

/**
 * Writes a Parquet file for each view of the schema `flat`. Each replaces the earlier one at once: who reads that goes on
 * with it. Throws the first error after all views that can be read have been written. The folder must be among those that
 * DuckDB may write to.
 */
export async function publishParquet(connection: DuckDBConnection, folder: string): Promise<void> {
  const [[tenant = '', environment = '', moment = ''] = []] = await asTexts(connection, OWNER)
  // Another tenant may have taken it since the sync began.
  assertParquetFolder(folder, { tenant, environment })
  const before = publishedIn(folder)
  const views = await viewsOf(connection)
  const known = new Set([...Object.keys(before?.rows ?? {}), ...(before?.begun ?? [])])
  const added = [...views.keys()].filter((stream) => !known.has(stream))
  assertNotOfOthers(folder, added, before)
  const { moment: last = null, rows: counted = {} } = before ?? {}
  const begun = [...(before?.begun ?? []), ...added]
  // From now on, their files are known as ours, also if this process dies.
  if (added.length > 0 || before === undefined)
    await tell({ tenant, environment, moment: last, rows: counted, begun })
  const rows: Record<string, number> = {}
  let failure: unknown
  for (const [stream, columns] of views) {
    const path = join(folder, fileName(stream))
    const query = `SELECT ${columns.join(', ')} FROM flat.${quoted(stream)} AS source`
    try {
      rows[stream] = await replace(path, async (fresh) => {
        const copy = `COPY (${query}) TO ${literal(resolve(fresh))} (FORMAT parquet)`
        const [[count] = []] = await texts(connection, copy)
        return Number(count)
      })
    } catch (error) {
      // Its earlier file stays, and the streams after it get theirs.
      if (counted[stream] !== undefined) rows[stream] = counted[stream]
      failure ??= error
    }
  }
  // The note of a file stays until the file is gone.
  for (const stream of [...known].filter((one) => !(one in rows))) {
    const path = join(folder, fileName(stream))
    rmSync(path, { force: true })
    removeLeft(path)
  }
  if (failure === undefined) return await tell({ tenant, environment, moment, rows })
  await tell({ tenant, environment, moment: last, rows, begun })
  throw failure

  function tell(published: PublishedFolder): Promise<void> {
    return replace(join(folder, PUBLISHED), async (fresh) =>
      writeFileSync(fresh, `${JSON.stringify(published, null, 2)}\n`),
    )
  }
}

/** Throws a config error if streams that were never published here have files: somebody else has written them. */
function assertNotOfOthers(
  folder: string,
  streams: readonly string[],
  before: PublishedFolder | undefined,
): void {
  // Earlier versions announced no streams, so what their first attempt has left is ours.
  if (before?.moment === null && before.begun === undefined) return
  const taken = streams.map(fileName).filter((name) => existsSync(join(folder, name)))
  if (taken.length === 0) return
  throw new ConnectorError(
    'config',
    'not-a-copy',
    `The folder given by --publish has files that no sync has written, so they are not replaced: ${taken.join(', ')} in ${folder}. Name another folder, or move them.`,
  )
}

/** Writes a new file in the place of another one, and keeps its mode. */
async function replace<T>(path: string, write: (fresh: string) => Promise<T>): Promise<T> {
  removeLeft(path)
  const fresh = temporaryBeside(path)
  try {
    const written = await write(fresh)
    const file = openSync(fresh, 'r+')
    fsyncSync(file)
    closeSync(file)
    chmodSync(fresh, existsSync(path) ? statSync(path).mode & 0o777 : MODE)
    ownFile(path)
    renameSync(fresh, path)
    return written
  } finally {
    rmSync(fresh, { force: true })
  }
}

/** A stream of another connector may have any name. */
function fileName(stream: string): string {
  return `${encodeURIComponent(stream)}${PARQUET}`
}

/** The views that syncs have made of tables that are still there, and their columns as expressions: readers know neither DuckDB's JSON nor nanoseconds. */
async function viewsOf(connection: DuckDBConnection): Promise<ReadonlyMap<string, string[]>> {
  const views = new Map<string, string[]>()
  for (const [view = '', column = '', type = ''] of await asTexts(connection, COLUMNS)) {
    const name = quoted(column)
    const as = AS[type]
    const value = as === undefined ? `source.${name}` : `CAST(source.${name} AS ${as}) AS ${name}`
    views.set(view, [...(views.get(view) ?? []), value])
  }
  return views
}

async function asTexts(connection: DuckDBConnection, sql: string): Promise<string[][]> {
  return (await texts(connection, sql)).map((row) => row.map(String))
}

/** The owner, and when the last sync ended: the clock may have been set back since an earlier one. */
const OWNER = `SELECT owner.tenant, owner.environment, strftime(last.ended AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')
  FROM _protime.owner AS owner, (SELECT ended FROM _protime.syncs ORDER BY rowid DESC LIMIT 1) AS last`
const COLUMNS = `SELECT columns.table_name, columns.column_name, columns.data_type FROM duckdb_columns() AS columns
  JOIN _protime.described AS made ON made.stream = columns.table_name
  WHERE columns.database_name = current_database() AND columns.schema_name = 'flat'
    AND lower(made.stream) IN (SELECT lower(present.table_name) FROM duckdb_columns() AS present
      WHERE present.database_name = current_database() AND present.schema_name = 'main')
  ORDER BY columns.table_name, columns.column_index`
const AS: Readonly<Record<string, string>> = { JSON: 'VARCHAR', TIMESTAMP_NS: 'TIMESTAMP' }

function publishedIn(folder: string): PublishedFolder | undefined {
  const text = readOwnFile(join(folder, PUBLISHED))
  if (text === undefined) return undefined
  const found = tryParseJson(text)
  if (isJsonObject(found) && isJsonObject(found['rows']) && typeof found['tenant'] === 'string')
    return found as unknown as PublishedFolder
  throw new ConnectorError(
    'config',
    'not-a-copy',
    `The folder given by --publish has a ${PUBLISHED} that no sync has written, so nothing is replaced: ${folder}. Name another folder, or empty this one.`,
  )
}
