import { ConnectorError } from '../ground/errors.ts'
import { DELETED_AT } from './column.ts'
import type { Dialect, Landing, Owner } from './landing.ts'
import { quoted, type Table } from './sql.ts'

/** The form of the account that this program reads and writes. */
const FORMAT = 2

/**
 * Whether the landing has an owner yet. Throws a config error for one of another owner or of another form, or if it was
 * filled with other settings; only reads.
 */
export async function isOwned(landing: Landing, path: string, owner: Owner): Promise<boolean> {
  const { account } = landing.sql.schemas
  const present = await landing.present()
  if (!present.hasOwn('owner')) {
    // Before files had owners, each file had states.
    if (present.hasOwn('states')) throw ofAnotherVersion(path, 'earlier')
    return false
  }
  const [[format] = []] = await landing.query(`SELECT format FROM ${account}.owner`)
  if (Number(format) !== FORMAT)
    throw ofAnotherVersion(path, Number(format) > FORMAT ? 'later' : 'earlier')
  const [[tenant, environment, redaction] = []] = await landing.query(
    `SELECT tenant, environment, redaction FROM ${account}.owner`,
  )
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

/** Makes the tenant the owner of a landing. */
export function claim(
  { schemas: { account }, literal }: Dialect,
  { tenant, environment, redaction }: Owner,
): string[] {
  const owner = [tenant, environment, redaction].map(literal).join(', ')
  return [
    `CREATE SCHEMA IF NOT EXISTS ${account}`,
    `CREATE TABLE ${account}.owner (format INTEGER, tenant VARCHAR, environment VARCHAR, redaction VARCHAR, keeps_deleted BOOLEAN)`,
    `INSERT INTO ${account}.owner VALUES (${FORMAT}, ${owner}, false)`,
  ]
}

/** Whether the landing keeps deleted rows: once it does, it does for good. Only reads. */
export async function keepsDeletedRows(landing: Landing): Promise<boolean> {
  const { account } = landing.sql.schemas
  const [[stored] = []] = await landing
    .query(`SELECT keeps_deleted FROM ${account}.owner`)
    .catch(() => [])
  if (typeof stored === 'string') return stored === 'true'
  // Earlier versions of this program did not store it.
  return (await markedTables(landing)).length > 0
}

/** The tables of streams that have a column for deleted rows. */
export async function markedTables(landing: Landing): Promise<string[]> {
  const streams = await landing.query(
    `SELECT DISTINCT stream FROM ${landing.sql.schemas.account}.columns`,
  )
  const present = await landing.present()
  return streams
    .map(([stream]) => String(stream))
    .filter((stream) => present.columnsOf(stream)?.has(DELETED_AT) === true)
}

/** Stores whether the landing keeps deleted rows. */
export function keepDeletedRows({ schemas: { account } }: Dialect, keeps: boolean): string[] {
  return [
    `ALTER TABLE ${account}.owner ADD COLUMN IF NOT EXISTS keeps_deleted BOOLEAN`,
    `UPDATE ${account}.owner SET keeps_deleted = ${keeps} WHERE keeps_deleted IS DISTINCT FROM ${keeps}`,
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
  readonly failures: ReadonlyMap<string, string>
}

/** The account of the syncs: how old the rows are, and what went wrong. */
export function accountTables({ schemas: { account } }: Dialect): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${account}.syncs (began TIMESTAMPTZ, ended TIMESTAMPTZ, exit INTEGER, records BIGINT)`,
    `CREATE TABLE IF NOT EXISTS ${account}.streams (stream VARCHAR, last_complete TIMESTAMPTZ, rows BIGINT, failure VARCHAR)`,
  ]
}

/** A sync of these streams has started. A killed sync has no end. */
export function beginSync(sql: Dialect, streams: readonly string[], at: Date): string[] {
  const { account } = sql.schemas
  return [
    `INSERT INTO ${account}.syncs (began) VALUES (${time(sql, at)})`,
    `INSERT INTO ${account}.streams (stream)
      SELECT asked.stream FROM (VALUES (${streams.map(sql.literal).join('), (')})) AS asked (stream)
      WHERE NOT EXISTS (SELECT 1 FROM ${account}.streams AS known WHERE known.stream = asked.stream)`,
  ]
}

/**
 * Rows of a stream were committed; `complete` is the time when it was read to its end, if it was.
 */
export function committed(
  sql: Dialect,
  { name, keepsDeleted }: Table,
  complete: Date | undefined,
): string {
  const { account, tables } = sql.schemas
  const living = keepsDeleted ? ` WHERE source.${DELETED_AT} IS NULL` : ''
  const ended =
    complete === undefined ? '' : `, last_complete = ${time(sql, complete)}, failure = NULL`
  return `UPDATE ${account}.streams SET rows = (SELECT count(*) FROM ${tables}.${quoted(name)} AS source${living})${ended}
    WHERE stream = ${sql.literal(name)}`
}

/** The sync with this start has ended. */
export function endSync(
  sql: Dialect,
  began: Date,
  { at, exit, records, failures }: SyncEnd,
): string[] {
  const { account } = sql.schemas
  return [
    `UPDATE ${account}.syncs SET ended = ${time(sql, at)}, exit = ${exit}, records = ${records}
      WHERE began = ${time(sql, began)}`,
    ...[...failures].map(
      ([stream, failure]) => `UPDATE ${account}.streams SET failure = ${sql.literal(failure)}
        WHERE stream = ${sql.literal(stream)}`,
    ),
  ]
}

function time({ literal }: Dialect, at: Date): string {
  return `CAST(${literal(at.toISOString())} AS TIMESTAMPTZ)`
}
