import { ConnectorError } from '../ground/errors.ts'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import type { Dialect, Engine, Landing, Owner, Patience } from './landing.ts'
import type { Progress } from './load-rows.ts'

/** The form of the account and the tables that this program writes, and the one before, which it can take over. */
export const FORMAT = 3
export const FORMAT_BEFORE = 2

/**
 * Whether the landing has an owner yet. Throws a config error for one of another owner or of another form, or if it was
 * filled with other settings; only reads. `allowed` is the earliest form.
 */
export async function isOwned(
  landing: Landing,
  path: string,
  owner: Owner,
  allowed = FORMAT,
): Promise<boolean> {
  if (!(await hasAccount(landing, path, allowed))) return false
  const [[tenant, environment, redaction] = []] = await landing.query(
    `SELECT tenant, environment, redaction FROM ${landing.sql.schemas.account}.owner`,
  )
  if (tenant === owner.tenant && environment === owner.environment) {
    if (redaction === owner.redaction) return true
    throw new RedactedOtherwise(path)
  }
  throw new ConnectorError(
    'config',
    'warehouse-of-another-tenant',
    `${path} has the rows of another tenant: of ${tenant} in ${environment}, but the configuration is for ${owner.tenant} in ${owner.environment}. Name another warehouse with --warehouse.`,
  )
}

/** Whether the landing has an account. Throws a config error for one in a form that this program does not read. */
export async function hasAccount(
  landing: Landing,
  path: string,
  allowed = FORMAT,
): Promise<boolean> {
  const hasOwn = await landing.ownTables()
  // Before files had owners, each file had states.
  if (!hasOwn('owner') && hasOwn('states')) throw ofAnotherVersion(path, 0)
  if (!hasOwn('owner')) return false
  const [[text] = []] = await landing.query(
    `SELECT format FROM ${landing.sql.schemas.account}.owner`,
  )
  const format = Number(text)
  if (format < allowed || format > FORMAT) throw ofAnotherVersion(path, format)
  return true
}

/** Opens a landing of this owner only to read it. */
export async function openOwned(
  { read }: Pick<Engine, 'read'>,
  path: string,
  owner: Owner,
  patience: Patience,
): Promise<Landing> {
  const landing = await read(path, patience)
  try {
    if (await isOwned(landing, path, owner)) return landing
  } catch (error) {
    await landing.close()
    throw error
  }
  await landing.close()
  throw new ConnectorError(
    'config',
    'not-a-warehouse',
    `${path} is not a warehouse of protime sync. Name one with --warehouse.`,
  )
}

/**
 * Makes the tenant the owner of a landing. What has an owner has the whole account, also after a kill: whoever reads it need
 * not ask for each table.
 */
export function claim(sql: Dialect, { tenant, environment, redaction }: Owner): string[] {
  const { schemas, literal } = sql
  const { account } = schemas
  const owner = [tenant, environment, redaction].map(literal).join(', ')
  return [
    `CREATE TABLE ${account}.owner (format INTEGER, tenant VARCHAR, environment VARCHAR, redaction VARCHAR, history VARCHAR, moment TIMESTAMPTZ)`,
    `INSERT INTO ${account}.owner VALUES (${FORMAT}, ${owner}, NULL, NULL)`,
    ...accountTables(sql),
  ]
}

/** The last state of each stream, also of those that start over. */
export async function readStates(landing: Landing): Promise<ReadonlyMap<string, unknown>> {
  const rows = await landing.query(
    `SELECT stream, state FROM ${landing.sql.schemas.account}.states`,
  )
  return new Map(
    rows.map(([stream, state]) => [String(stream), JSON.parse(String(state)) as unknown]),
  )
}

/** Replaces the states of streams, as JSON, or removes them where there is none. */
export async function storeStates(
  { sql: { schemas, literal }, run }: Landing,
  states: ReadonlyMap<string, string | null>,
): Promise<void> {
  if (states.size === 0) return
  const table = `${schemas.account}.states`
  const streams = [...states.keys()].map(literal).join(', ')
  await run(`DELETE FROM ${table} WHERE stream IN (${streams})`)
  const stored = [...states].flatMap(([stream, state]) => (state === null ? [] : [[stream, state]]))
  const rows = stored.map((_, i) => `($${2 * i + 1}, $${2 * i + 2}, false)`)
  if (rows.length > 0) await run(`INSERT INTO ${table} VALUES ${rows.join(', ')}`, stored.flat())
}

/**
 * The streams whose next read starts over, because nobody knows which of their rows their states cover. Their states
 * still say which rows they had.
 */
export async function streamsToStartOver(landing: Landing): Promise<ReadonlySet<string>> {
  const rows = await landing.query(
    `SELECT stream FROM ${landing.sql.schemas.account}.states WHERE starts_over`,
  )
  return new Set(rows.map(([stream]) => String(stream)))
}

/**
 * The moment of a transaction, as an expression: the time, but later than that of each transaction before, which the
 * clock may not be.
 */
export async function nextMoment(landing: Landing, at: Date): Promise<string> {
  const { sql } = landing
  const { account } = sql.schemas
  const [[moment] = []] = await landing.query(
    `UPDATE ${account}.owner SET moment = greatest(${time(sql, at)}, moment + INTERVAL '1 microsecond')
      RETURNING ${sql.momentText('moment')}`,
  )
  return `CAST(${sql.literal(String(moment))} AS TIMESTAMPTZ)`
}

/** The file belongs to the owner, and was filled with other settings. */
export class RedactedOtherwise extends ConnectorError {
  override name = 'RedactedOtherwise'

  constructor(path: string) {
    super(
      'config',
      'redacted-otherwise',
      `${path} was filled with other settings of personal data, and rows that have not changed since would stay as those settings left them. Add --rewrite: the sync then reads everything again.`,
    )
  }
}

function ofAnotherVersion(path: string, format: number): ConnectorError {
  const version = format > FORMAT ? 'later' : 'earlier'
  const advice =
    format > FORMAT
      ? 'Update the program, or name another warehouse with --warehouse.'
      : format === FORMAT_BEFORE
        ? 'Run protime sync, which takes it over.'
        : 'Remove it, or name another warehouse with --warehouse: the sync reads everything into a new one.'
  return new ConnectorError(
    'config',
    'made-by-another-version',
    `${path} was written by a version of this program that is ${version}, in a form that this one does not read. ${advice}`,
  )
}

/** How a sync ended. */
export interface SyncEnd {
  readonly at: Date
  /** The exit code of the program if publishing does not fail: a copy has the end of its sync, and nothing is written after it. */
  readonly exit: number
  readonly records: number
  /** Why streams failed, by their names. */
  readonly failures: ReadonlyMap<string, IdentifiedMessage>
}

/** The account, beside its owner. */
export function accountTables({ schemas: { account } }: Dialect): string[] {
  return [
    // Without a primary key: after a disk was full, DuckDB finds keys in an index that the table does not have.
    'states (stream VARCHAR, state JSON NOT NULL, starts_over BOOLEAN NOT NULL)',
    // A property is its JSON text: no other has half of a surrogate pair.
    'columns (stream VARCHAR, position INTEGER, property VARCHAR, name VARCHAR, type VARCHAR, variant_of VARCHAR)',
    'members (stream VARCHAR, name VARCHAR, pointer VARCHAR, member VARCHAR)',
    // Only those views are made whose statements have changed, or that others have changed.
    'described (stream VARCHAR, digest VARCHAR, view VARCHAR)',
    'places (stream VARCHAR, place VARCHAR, name VARCHAR)',
    // Of streams with a history, the members of records that complete reads have had, and since when.
    'fields (stream VARCHAR, property VARCHAR, known_from TIMESTAMPTZ)',
    // The periods that were closed, each with the moment of the last commit before.
    'closes (period VARCHAR, first_day DATE, last_day DATE, closed_at TIMESTAMPTZ)',
    // How old the rows are, and what went wrong.
    'syncs (number BIGINT, began TIMESTAMPTZ, ended TIMESTAMPTZ, exit INTEGER, records BIGINT)',
    'streams (stream VARCHAR, last_complete TIMESTAMPTZ, rows BIGINT, failure VARCHAR, failure_id VARCHAR, generation BIGINT, next_generation BIGINT, next_rows BIGINT, longest BIGINT, known_since TIMESTAMPTZ)',
  ].map((table) => `CREATE TABLE IF NOT EXISTS ${account}.${table}`)
}

/**
 * A sync of these streams has started. A killed sync has no end. No stream was completed later than this: if one seems to be, the
 * clock was set back.
 */
export function beginSync(sql: Dialect, streams: readonly string[], at: Date): string[] {
  const { account } = sql.schemas
  const began = time(sql, at)
  return [
    `UPDATE ${account}.streams SET last_complete = ${began} - INTERVAL '1 microsecond' WHERE last_complete > ${began}`,
    `INSERT INTO ${account}.syncs (number, began)
      SELECT coalesce(max(number), 0) + 1, ${began} FROM ${account}.syncs`,
    `INSERT INTO ${account}.streams (stream)
      SELECT asked.stream FROM (VALUES (${streams.map(sql.literal).join('), (')})) AS asked (stream)
      WHERE NOT EXISTS (SELECT 1 FROM ${account}.streams AS known WHERE known.stream = asked.stream)`,
  ]
}

/** Rows of a stream were committed; `complete` is the time when it was read to its end, if it was. */
export function committed(
  sql: Dialect,
  stream: string,
  { generation, rows, next, longest }: Progress,
  complete: Date | undefined,
): string {
  const ended =
    complete === undefined
      ? ''
      : `, last_complete = ${time(sql, complete)}, failure = NULL, failure_id = NULL`
  return `UPDATE ${sql.schemas.account}.streams SET rows = ${rows}, generation = ${generation},
    next_generation = ${next?.generation ?? 'NULL'}, next_rows = ${next?.rows ?? 'NULL'}, longest = ${longest}${ended}
    WHERE stream = ${sql.literal(stream)}`
}

/** The last sync has ended. */
export function endSync(sql: Dialect, { at, exit, records, failures }: SyncEnd): string[] {
  const { account } = sql.schemas
  return [
    `UPDATE ${account}.syncs SET ended = ${time(sql, at)}, exit = ${exit}, records = ${records}
      WHERE number = (SELECT max(number) FROM ${account}.syncs)`,
    ...[...failures].map(
      ([
        stream,
        { id, message },
      ]) => `UPDATE ${account}.streams SET failure = ${sql.literal(message)}, failure_id = ${sql.literal(id)}
        WHERE stream = ${sql.literal(stream)}`,
    ),
  ]
}

/** A time as an expression. */
export function time({ literal }: Dialect, at: Date): string {
  return `CAST(${literal(at.toISOString())} AS TIMESTAMPTZ)`
}
