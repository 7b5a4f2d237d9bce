import type { DuckDBConnection } from '@duckdb/node-api'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { type Column, GENERATION } from './column.ts'
import { texts } from './duckdb.ts'

/**
 * The visible tables and views of the file, by names in lower case: SQL ignores the case of names.
 */
export interface PresentTables {
  /** The columns of the table or view with this name in `main`, and their types; undefined if there is none. */
  columnsOf(name: string): ReadonlyMap<string, string> | undefined
  /** The object with this name that prevents a table or view of ours, by its SQL name. */
  inTheWayOf(name: string): string | undefined
}

/** Reads what exists: others may have changed the file since the last sync. */
export async function presentTables(connection: DuckDBConnection): Promise<PresentTables> {
  const columns = new Map<string, Map<string, string>>()
  for (const [table = '', column = '', type = ''] of await lowerCased(COLUMNS))
    columns.set(table, (columns.get(table) ?? new Map()).set(column, type.toUpperCase()))
  const others = new Set((await lowerCased(OTHERS)).map(([name]) => name))
  return {
    columnsOf: (name) => columns.get(name),
    inTheWayOf: (name) => [`main.${name}`, `flat.${name}`].find((one) => others.has(one)),
  }

  /** DuckDB's own `lower` gives a few letters another lower case than the names are looked up by. */
  async function lowerCased(sql: string): Promise<string[][]> {
    return (await texts(connection, sql)).map((row) => row.map((name) => name.toLowerCase()))
  }
}

const COLUMNS = `SELECT table_name, column_name, data_type FROM duckdb_columns()
  WHERE database_name = current_database() AND schema_name = 'main'`
/** Views in the place of our tables, and tables in the place of our views. */
const OTHERS = `SELECT schema_name || '.' || view_name FROM duckdb_views()
    WHERE database_name = current_database() AND schema_name = 'main'
  UNION ALL SELECT schema_name || '.' || table_name FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = 'flat'`

/** The columns of a table that are no longer as a sync has created them, by their names. */
export interface Damage {
  /** Removed, perhaps with the whole table. */
  readonly lost: readonly string[]
  /** Those whose values may have been changed with their type. */
  readonly retyped: readonly string[]
}

/** What somebody else has done to the columns of a table; `before` are the known ones. */
export function damageOf(name: string, before: readonly Column[], present: PresentTables): Damage {
  if (before.length === 0) return { lost: [], retyped: [] }
  const there = present.columnsOf(name)
  const typeNow = (column: string) => there?.get(column.toLowerCase())
  const columns = [...typesOf(before)]
  return {
    lost: columns.flatMap(([column]) => (typeNow(column) === undefined ? [column] : [])),
    retyped: columns.flatMap(([column, type]) =>
      [undefined, type].includes(typeNow(column)) ? [] : [column],
    ),
  }
}

/** The types of all columns that each table has. */
export function typesOf(columns: readonly Column[]): Map<string, string> {
  return new Map([
    ...columns.map(({ name, type }) => [name, type] as const),
    [GENERATION, 'BIGINT'],
  ])
}

/** The message about a table that somebody else has changed; undefined if nobody has. */
export function warningOfDamage(
  name: string,
  { lost, retyped }: Damage,
  present: PresentTables,
): IdentifiedMessage | undefined {
  const isGone = present.columnsOf(name) === undefined
  const lacks = isGone ? 'its table is gone' : `its table lacks columns, ${lost.join(', ')}`
  const what = [
    ...(lost.length > 0 ? [lacks] : []),
    ...(retyped.length > 0
      ? [`columns of its table have another type, ${retyped.join(', ')}`]
      : []),
  ]
  if (what.length === 0) return undefined
  return warningOf(
    'table-changed',
    `${name}: ${what.join(', and ')}, though no sync has done that; the stream is read from the beginning.`,
  )
}

/** The message about a view that somebody else has changed. */
export function warningOfView(name: string): IdentifiedMessage {
  return warningOf(
    'table-changed',
    `${name}: the view flat.${name} was changed or dropped, though no sync has done that; it is made again. Give a view of your own another name.`,
  )
}
