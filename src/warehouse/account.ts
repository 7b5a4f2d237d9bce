import { DELETED_AT } from './column.ts'
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
