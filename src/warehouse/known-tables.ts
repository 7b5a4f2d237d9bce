import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column, ColumnType } from './column.ts'
import { run, texts } from './duckdb.ts'
import { type Description, type OpenMember, openObjects } from './flat-view.ts'
import { type AddedRows, literal, quoted, type Table } from './sql.ts'

/** Members of an open object with more members than this are only in its JSON. */
const MAX_MEMBERS = 100

/** The file's account of its tables, their views, and the states of their rows. */
export const KNOWN_TABLES = [
  'CREATE TABLE IF NOT EXISTS _protime.states (stream VARCHAR PRIMARY KEY, state JSON NOT NULL)',
  // A property is its JSON text: no other has half of a surrogate pair.
  'CREATE TABLE IF NOT EXISTS _protime.columns (stream VARCHAR, position INTEGER, property VARCHAR, name VARCHAR, type VARCHAR, variant_of VARCHAR)',
  'CREATE TABLE IF NOT EXISTS _protime.members (stream VARCHAR, name VARCHAR, pointer VARCHAR, member VARCHAR)',
  'CREATE TABLE IF NOT EXISTS _protime.described (stream VARCHAR, digest VARCHAR)',
]

/** The existing views. */
export const DIGESTS = `SELECT described.stream, described.digest FROM _protime.described AS described
  JOIN duckdb_views() AS present ON present.schema_name = 'flat' AND present.view_name = described.stream`

/** The columns of each table, in their order. */
export async function storedColumns(connection: DuckDBConnection): Promise<Map<string, Column[]>> {
  const columns = new Map<string, Column[]>()
  const reader = await connection.runAndReadAll(
    'SELECT stream, property, name, type, variant_of FROM _protime.columns ORDER BY stream, position',
  )
  for (const [stream, property, name, type, variantOf] of reader.getRows() as string[][]) {
    const column = {
      property: JSON.parse(property as string) as string,
      name: name as string,
      type: type as ColumnType,
      variantOf: variantOf ?? undefined,
    }
    columns.set(stream as string, [...(columns.get(stream as string) ?? []), column])
  }
  return columns
}

/** The members of open objects that the views have as columns. */
export async function storedMembers(
  connection: DuckDBConnection,
): Promise<Map<string, OpenMember[]>> {
  const members = new Map<string, OpenMember[]>()
  const rows = await texts(connection, 'SELECT stream, name, pointer, member FROM _protime.members')
  for (const [stream = '', column = '', pointer = '', member = ''] of rows)
    members.set(stream, [...(members.get(stream) ?? []), { column, pointer, member }])
  return members
}

/** Stores the columns of a table if they have changed. */
export function writeDown({ name, columns }: Table, before: readonly Column[]): string[] {
  if (columns.length === before.length) return []
  const stream = literal(name)
  const values = columns.map(({ property, name: column, type, variantOf }, position) =>
    [
      ...[stream, position, literal(JSON.stringify(property)), literal(column), literal(type)],
      variantOf === undefined ? 'NULL' : literal(variantOf),
    ].join(', '),
  )
  return [
    `DELETE FROM _protime.columns WHERE stream = ${stream}`,
    `INSERT INTO _protime.columns VALUES (${values.join('), (')})`,
  ]
}

/** The members of open objects that only the records of `rows` have; they are stored. */
export async function newMembers(
  connection: DuckDBConnection,
  { spec, table, members }: Description,
  rows: AddedRows,
): Promise<OpenMember[]> {
  const found: OpenMember[] = []
  for (const { column, pointer } of openObjects(spec.schema, table.columns)) {
    const same = members.filter((one) => one.column === column && one.pointer === pointer)
    const value = `added.${quoted(column)}`
    const keys = pointer === '' ? 'one.value' : `one.value, ${literal(pointer)}`
    const last = pointer.split('/').at(-1) ?? ''
    const names = await texts(
      connection,
      `SELECT DISTINCT unnest(json_keys(${keys})) AS member
        FROM (SELECT DISTINCT ${value} AS value FROM ${rows} AND contains(${value}, ${literal(last)})) AS one
        ORDER BY member LIMIT ${MAX_MEMBERS}`,
    )
    const known = new Set(same.map(({ member }) => member))
    const added = names
      .flatMap(([member = '']) => (known.has(member) ? [] : [{ column, pointer, member }]))
      .slice(0, MAX_MEMBERS - same.length)
    await run(
      connection,
      added.map(
        ({ member }) =>
          `INSERT INTO _protime.members VALUES (${[spec.name, column, pointer, member].map(literal).join(', ')})`,
      ),
    )
    found.push(...added)
  }
  return found
}
