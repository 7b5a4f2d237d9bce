import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { type CatalogStream, columnsOf, DELETED_AT } from './columns.ts'

const EMITTED_AT = '_emitted_at'

/** What a load did to the final table of a stream. */
export interface Outcome {
  readonly rows: number
  /** Rows that are new or differ in any column. */
  readonly changed: number
  /** Rows that were there before. */
  readonly deleted: number
}

/** An embedded warehouse that loads as an Airbyte destination does in append + dedup mode. */
export interface Destination {
  /**
   * Appends a file of RECORD messages, one a line, to the raw table of the stream, and makes the
   * final table anew from all raw rows. Without a file nothing is appended.
   */
  load(stream: CatalogStream, file: string | undefined): Promise<Outcome>
  /** The final table as JSON texts by the names of the service, without nulls left out. */
  rows(stream: CatalogStream): AsyncIterable<string>
  /** Stops the statement that runs; its promise rejects. */
  interrupt(): void
  close(): void
}

/** Opens a DuckDB file, or `:memory:`. Raw rows are in the schema `raw`, final tables in `main`. */
export async function openDestination(path: string): Promise<Destination> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run('CREATE SCHEMA IF NOT EXISTS raw')
  return {
    async load(stream, file) {
      await connection.run(rawTable(stream))
      if (file !== undefined) await connection.run(append(stream), { file })
      await connection.run(finalTable(stream))
      const outcome = await outcomeOf(stream, connection)
      await connection.run(
        `DROP TABLE IF EXISTS ${final(stream)}; ALTER TABLE ${next(stream)} RENAME TO ${quoted(stream.name)}`,
      )
      return outcome
    },
    async *rows(stream) {
      const result = await connection.stream(recordsOf(stream))
      for await (const batch of result.yieldRows()) yield* batch.map(([text]) => String(text))
    },
    interrupt: () => connection.interrupt(),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** Raw rows have the columns of the final table, so that every record is parsed once only. */
function rawTable(stream: CatalogStream): string {
  const columns = columnsOf(stream).map(({ name, type }) => `${quoted(name)} ${type}`)
  return `CREATE TABLE IF NOT EXISTS ${raw(stream)} (
    ${EMITTED_AT} BIGINT, ${DELETED_AT} VARCHAR, ${columns.join(', ')})`
}

function append(stream: CatalogStream): string {
  const columns = columnsOf(stream)
  const paths = [DELETED_AT, ...columns.map(({ property }) => property)].map(pathTo)
  const values = columns.map(({ type }, i) => `CAST(v[${i + 2}] AS ${type})`)
  return `INSERT INTO ${raw(stream)}
    SELECT emitted_at, v[1], ${values.join(', ')}
    FROM (
      SELECT record.emitted_at, json_extract_string(record.data, [${paths.join(', ')}]) AS v
      FROM read_json($file, format = 'newline_delimited', maximum_object_size = 67108864,
        columns = { record: 'STRUCT(emitted_at BIGINT, data JSON)' })
    )`
}

/**
 * Of all versions of a row the one with the highest cursor wins (as text, unless the cursor is a
 * number), of equals the one emitted last. A row whose winner is a deletion is gone.
 */
function finalTable(stream: CatalogStream): string {
  const key = keyColumns(stream).join(', ')
  const cursor = quoted(stream.default_cursor_field[0] ?? '')
  return `CREATE OR REPLACE TABLE ${next(stream)} AS
    SELECT * EXCLUDE (${EMITTED_AT}, ${DELETED_AT}) FROM ${raw(stream)}
    WHERE ${DELETED_AT} IS NULL AND rowid IN (
      SELECT max_by(rowid, (${cursor} IS NOT NULL, ${cursor}, ${EMITTED_AT}, rowid))
      FROM ${raw(stream)} GROUP BY ${key})`
}

async function outcomeOf(stream: CatalogStream, connection: DuckDBConnection): Promise<Outcome> {
  const before = `(SELECT * EXCLUDE (_generation) FROM ${final(stream)})`
  const after = `(SELECT * EXCLUDE (_generation) FROM ${next(stream)})`
  const keys = keyColumns(stream).join(', ')
  const read = await connection.run(
    `SELECT count(*) AS n FROM information_schema.tables WHERE table_schema = 'main' AND table_name = $name`,
    { name: stream.name },
  )
  const [[existing] = []] = await read.getRowsJson()
  const counts =
    Number(existing) === 0
      ? '0, 0'
      : `(SELECT count(*) FROM (FROM ${after} EXCEPT FROM ${before})),
         (SELECT count(*) FROM (SELECT ${keys} FROM ${before} EXCEPT SELECT ${keys} FROM ${after}))`
  const result = await connection.run(`SELECT (SELECT count(*) FROM ${after}), ${counts}`)
  const [[rows, changed, deleted] = []] = await result.getRowsJson()
  return { rows: Number(rows), changed: Number(changed), deleted: Number(deleted) }
}

function recordsOf(stream: CatalogStream): string {
  const members = columnsOf(stream)
    .filter(({ property }) => property !== '_generation')
    .map(({ name, property }) => `${literal(property)}, ${quoted(name)}`)
  return `SELECT json_object(${members.join(', ')})::VARCHAR FROM ${final(stream)}`
}

function keyColumns(stream: CatalogStream): string[] {
  return stream.source_defined_primary_key.map(([column = '']) => quoted(column))
}

const raw = ({ name }: CatalogStream) => `raw.${quoted(name)}`
const final = ({ name }: CatalogStream) => `main.${quoted(name)}`
const next = ({ name }: CatalogStream) => `main.${quoted(`${name}__next`)}`
const pathTo = (property: string) => literal(`$."${property}"`)
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
