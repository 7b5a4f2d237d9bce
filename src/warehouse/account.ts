import { ConnectorError } from '../ground/errors.ts'
import { DELETED_AT } from './column.ts'
import { closingOnError, openDatabase, type Patience, texts } from './duckdb.ts'
import { literal, quoted, type Table } from './sql.ts'

/** How a sync ended. */
export interface SyncEnd {
  readonly at: Date
  /** The exit code of the program. */
  readonly exit: number
  readonly records: number
  /** Why streams failed, by their names. */
  readonly failures: ReadonlyMap<string, string>
}

/** The file's account of its syncs: how old its rows are, and what went wrong. */
export const ACCOUNT = [
  'CREATE TABLE IF NOT EXISTS _protime.syncs (began TIMESTAMPTZ, ended TIMESTAMPTZ, exit INTEGER, records BIGINT)',
  'CREATE TABLE IF NOT EXISTS _protime.streams (stream VARCHAR, last_complete TIMESTAMPTZ, rows BIGINT, failure VARCHAR)',
]

/** A sync of these streams has started. A killed sync has no end. */
export function begin(streams: readonly string[], at: Date): string[] {
  return [
    `INSERT INTO _protime.syncs (began) VALUES (${time(at)})`,
    `INSERT INTO _protime.streams (stream)
      SELECT asked.stream FROM (VALUES (${streams.map(literal).join('), (')})) AS asked (stream)
      ANTI JOIN _protime.streams AS known ON known.stream = asked.stream`,
  ]
}

/**
 * Rows of a stream were committed; `complete` is the time when it was read to its end, if it was.
 */
export function committed({ name, keepsDeleted }: Table, complete: Date | undefined): string {
  const living = keepsDeleted ? ` WHERE source.${DELETED_AT} IS NULL` : ''
  const ended = complete === undefined ? '' : `, last_complete = ${time(complete)}, failure = NULL`
  return `UPDATE _protime.streams SET rows = (SELECT count(*) FROM main.${quoted(name)} AS source${living})${ended}
    WHERE stream = ${literal(name)}`
}

/** The sync with this start has ended. */
export function end(began: Date, { at, exit, records, failures }: SyncEnd): string[] {
  return [
    `UPDATE _protime.syncs SET ended = ${time(at)}, exit = ${exit}, records = ${records}
      WHERE began = ${time(began)}`,
    ...[...failures].map(
      ([stream, failure]) => `UPDATE _protime.streams SET failure = ${literal(failure)}
        WHERE stream = ${literal(stream)}`,
    ),
  ]
}

function time(at: Date): string {
  return `TIMESTAMPTZ ${literal(at.toISOString())}`
}

/** A warehouse's account of its syncs. */
export interface WarehouseAge {
  readonly tenant: string
  readonly environment: string
  /** The last sync; undefined if there was none. */
  readonly sync: SyncAccount | undefined
  readonly streams: readonly StreamAge[]
}

/** A sync in the file's account; times are ISO texts in UTC. */
interface SyncAccount {
  readonly began: string
  /** Undefined for a sync that was killed. */
  readonly ended: string | undefined
  readonly exit: number | undefined
}

export interface StreamAge {
  readonly stream: string
  readonly rows: number
  /** When it was last read to its end; undefined if it never was. */
  readonly lastComplete: string | undefined
  /** Why the last sync failed to read it. */
  readonly failure: string | undefined
}

const FORM = "'%Y-%m-%dT%H:%M:%SZ'"
const utc = (column: string) => `coalesce(strftime(${column} AT TIME ZONE 'UTC', ${FORM}), '')`

/**
 * Reads the age of the rows in a DuckDB file of `protime sync`. The file is only read; throws for any other
 * file.
 */
export async function readStatus(path: string, patience: Patience): Promise<WarehouseAge> {
  const database = await patience(() => openDatabase(path))
  const { connection } = database
  return closingOnError(database, async () => {
    const [owned] = await texts(
      connection,
      "SELECT count(*)::VARCHAR FROM duckdb_tables() WHERE schema_name = '_protime' AND table_name IN ('owner', 'syncs', 'streams')",
    )
    if (owned?.[0] !== '3')
      throw new ConnectorError(
        'config',
        'not-a-warehouse',
        `${path} is not a file of protime sync. Name one with --warehouse.`,
      )
    const [owner = []] = await texts(
      connection,
      'SELECT tenant, environment FROM _protime.owner LIMIT 1',
    )
    const [sync] = await texts(
      connection,
      `SELECT ${utc('began')}, ${utc('ended')}, coalesce(exit::VARCHAR, '') FROM _protime.syncs ORDER BY _protime.syncs.began DESC LIMIT 1`,
    )
    const streams = await texts(
      connection,
      `SELECT stream, coalesce(rows, 0)::VARCHAR, ${utc('last_complete')}, coalesce(failure, '') FROM _protime.streams ORDER BY stream`,
    )
    const [tenant = '', environment = ''] = owner
    return { tenant, environment, sync: sync && syncOf(sync), streams: streams.map(streamOf) }
  })
}

function syncOf([began = '', ended, exit]: readonly string[]): SyncAccount {
  return { began, ended: ended || undefined, exit: exit ? Number(exit) : undefined }
}

function streamOf([stream = '', rows, lastComplete, failure]: readonly string[]): StreamAge {
  return {
    stream,
    rows: Number(rows),
    lastComplete: lastComplete || undefined,
    failure: failure || undefined,
  }
}
