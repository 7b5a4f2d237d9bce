import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import { DELETED_AT } from './column.ts'
import { closingOnError, openDatabase, type Patience, texts } from './duckdb.ts'
import { literal, quoted, type Table } from './sql.ts'

/** The owner of a file: a tenant, and the environment that distinguishes tenants of one name. */
export interface Owner {
  readonly tenant: string
  readonly environment: string
  /** A fingerprint of the settings that leave data out: equal for settings with the same effect. */
  readonly redaction: string
}

/** The form of `_protime` that this program reads and writes. */
const FORMAT = 2

const TABLES = `SELECT table_name FROM duckdb_tables()
  WHERE database_name = current_database() AND schema_name = '_protime'`

/**
 * Whether the file has an owner yet. Throws a config error for a file of another owner or of another form, or
 * if it was filled with other settings; only reads.
 */
export async function isOwned(
  connection: DuckDBConnection,
  path: string,
  owner: Owner,
): Promise<boolean> {
  const tables = (await connection.runAndReadAll(TABLES)).getRows().map(([name]) => name)
  if (!tables.includes('owner')) {
    // Before files had owners, each file had states.
    if (tables.includes('states')) throw ofAnotherVersion(path, 'earlier')
    return false
  }
  const form = await connection.runAndReadAll('SELECT format FROM _protime.owner')
  const [[format] = []] = form.getRows()
  if (format !== FORMAT) throw ofAnotherVersion(path, Number(format) > FORMAT ? 'later' : 'earlier')
  const reader = await connection.runAndReadAll(
    'SELECT tenant, environment, redaction FROM _protime.owner',
  )
  const [[tenant, environment, redaction] = []] = reader.getRows()
  if (tenant === owner.tenant && environment === owner.environment) {
    if (redaction === owner.redaction) return true
    throw new RedactedOtherwise(path)
  }
  throw new ConnectorError(
    'config',
    'warehouse-of-another-tenant',
    `${path} has the rows of another tenant: of ${tenant} in ${environment}, but the configuration is for ${owner.tenant} in ${owner.environment}. Name another file with --warehouse.`,
  )
}

/** Makes the tenant the owner of the file. */
export function claim({ tenant, environment, redaction }: Owner): string[] {
  const owner = [tenant, environment, redaction].map(literal).join(', ')
  return [
    'CREATE SCHEMA IF NOT EXISTS _protime',
    'CREATE TABLE _protime.owner (format INTEGER, tenant VARCHAR, environment VARCHAR, redaction VARCHAR)',
    `INSERT INTO _protime.owner VALUES (${FORMAT}, ${owner})`,
  ]
}

/** The last state of each stream in a file. */
export async function readStates(
  connection: DuckDBConnection,
): Promise<ReadonlyMap<string, unknown>> {
  const rows = await texts(connection, 'SELECT stream, state FROM _protime.states')
  return new Map(rows.map(([stream = '', state = '']) => [stream, JSON.parse(state) as unknown]))
}

/** Whether the file keeps deleted rows: once it does, it does for good. Only reads. */
export async function keepsDeletedRows(connection: DuckDBConnection): Promise<boolean> {
  const [owner] = (await connection.runAndReadAll('FROM _protime.owner')).getRowObjects()
  const stored = owner?.['keeps_deleted']
  if (typeof stored === 'boolean') return stored
  // Earlier versions of this program did not store it.
  return (await texts(connection, MARKED_TABLES)).length > 0
}

/** The tables of streams that have a column for deleted rows. */
export const MARKED_TABLES = `SELECT DISTINCT marked.table_name FROM duckdb_columns() AS marked
  JOIN _protime.columns AS known ON known.stream = marked.table_name
  WHERE marked.database_name = current_database() AND marked.schema_name = 'main' AND marked.column_name = ${literal(DELETED_AT)}`

/** Stores whether the file keeps deleted rows. */
export function keepDeletedRows(keeps: boolean): string[] {
  return [
    'ALTER TABLE _protime.owner ADD COLUMN IF NOT EXISTS keeps_deleted BOOLEAN',
    `UPDATE _protime.owner SET keeps_deleted = ${keeps} WHERE keeps_deleted IS DISTINCT FROM ${keeps}`,
  ]
}

/** The file belongs to the owner, and was filled with other settings. */
export class RedactedOtherwise extends ConnectorError {
  override name = 'RedactedOtherwise'

  constructor(path: string) {
    super(
      'config',
      'redacted-otherwise',
      `${path} was filled with other settings of personal data, and rows that have not changed since would stay as those settings left them. Add --rewrite: the sync reads everything into a new file, which replaces this one when it is complete.`,
    )
  }
}

function ofAnotherVersion(path: string, version: 'earlier' | 'later'): ConnectorError {
  const advice =
    version === 'later'
      ? 'Update the program, or name another file with --warehouse.'
      : 'Remove it, or name another file with --warehouse: the sync reads everything into a new one.'
  return new ConnectorError(
    'config',
    'made-by-another-version',
    `${path} was written by a version of this program that is ${version}, in a form that this one does not read. ${advice}`,
  )
}

/** How a sync ended. */
export interface SyncEnd {
  readonly at: Date
  /** The exit code of the program. */
  readonly exit: number
  readonly records: number
  /** Why streams failed, by their names. */
  readonly failures: ReadonlyMap<string, IdentifiedMessage>
}

/** The file's account of its syncs: how old its rows are, and what went wrong. */
export const ACCOUNT = [
  'CREATE TABLE IF NOT EXISTS _protime.syncs (began TIMESTAMPTZ, ended TIMESTAMPTZ, exit INTEGER, records BIGINT)',
  'CREATE TABLE IF NOT EXISTS _protime.streams (stream VARCHAR, last_complete TIMESTAMPTZ, rows BIGINT, failure VARCHAR, failure_id VARCHAR)',
  // Files of earlier versions lack it.
  'ALTER TABLE _protime.streams ADD COLUMN IF NOT EXISTS failure_id VARCHAR',
]

/** A sync of these streams has started. A killed sync has no end. */
export function beginSync(streams: readonly string[], at: Date): string[] {
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
export function committed(
  { name, keepsDeleted }: Pick<Table, 'name' | 'keepsDeleted'>,
  complete: Date | undefined,
): string {
  const living = keepsDeleted ? ` WHERE source.${DELETED_AT} IS NULL` : ''
  const ended =
    complete === undefined
      ? ''
      : `, last_complete = ${time(complete)}, failure = NULL, failure_id = NULL`
  return `UPDATE _protime.streams SET rows = (SELECT count(*) FROM main.${quoted(name)} AS source${living})${ended}
    WHERE stream = ${literal(name)}`
}

/** The sync with this start has ended. */
export function endSync(began: Date, { at, exit, records, failures }: SyncEnd): string[] {
  return [
    `UPDATE _protime.syncs SET ended = ${time(at)}, exit = ${exit}, records = ${records}
      WHERE began = ${time(began)}`,
    ...[...failures].map(
      ([
        stream,
        { id, message },
      ]) => `UPDATE _protime.streams SET failure = ${literal(message)}, failure_id = ${literal(id)}
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
  /** The id of that message; files of earlier versions have none. */
  readonly failureId: string | undefined
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
    // The latest row: the clock may have been set back since an earlier sync.
    const [sync] = await texts(
      connection,
      `SELECT ${utc('began')}, ${utc('ended')}, coalesce(exit::VARCHAR, '') FROM _protime.syncs ORDER BY rowid DESC LIMIT 1`,
    )
    const streams = await texts(
      connection,
      `SELECT stream, coalesce(rows, 0)::VARCHAR, ${utc('last_complete')}, coalesce(failure, ''), coalesce(failure_id, '')
        FROM (FROM _protime.streams UNION ALL BY NAME SELECT NULL::VARCHAR AS failure_id WHERE false) ORDER BY stream`,
    )
    const [tenant = '', environment = ''] = owner
    return { tenant, environment, sync: sync && syncOf(sync), streams: streams.map(streamOf) }
  })
}

function syncOf([began = '', ended, exit]: readonly string[]): SyncAccount {
  return { began, ended: ended || undefined, exit: exit ? Number(exit) : undefined }
}

function streamOf([
  stream = '',
  rows,
  lastComplete,
  failure,
  failureId,
]: readonly string[]): StreamAge {
  return {
    stream,
    rows: Number(rows),
    lastComplete: lastComplete || undefined,
    failure: failure || undefined,
    failureId: failureId || undefined,
  }
}
