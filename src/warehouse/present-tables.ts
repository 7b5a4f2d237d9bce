import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { type Column, GENERATION } from './column.ts'
import { texts } from './duckdb.ts'
import { createTable, literal, nextOf, quoted, type Table } from './sql.ts'

/**
 * The visible tables and views of the file, by names in lower case: SQL ignores the case of names.
 */
export interface PresentTables {
  /** The columns of the table or view with this name in `main`; undefined if there is none. */
  columnsOf(name: string): ReadonlySet<string> | undefined
  /** The object with this name that prevents a table or view of ours, by its SQL name. */
  inTheWayOf(name: string): string | undefined
}

/** Reads what exists: others may have changed the file since the last sync. */
export async function presentTables(connection: DuckDBConnection): Promise<PresentTables> {
  const columns = new Map<string, Set<string>>()
  for (const [table = '', column = ''] of await texts(connection, COLUMNS)) {
    const ofTable = columns.get(table) ?? new Set()
    columns.set(table, ofTable.add(column))
  }
  const others = new Set((await texts(connection, OTHERS)).map(([name]) => name))
  return {
    columnsOf: (name) => columns.get(name),
    inTheWayOf: (name) => [`main.${name}`, `flat.${name}`].find((one) => others.has(one)),
  }
}

const COLUMNS = `SELECT lower(table_name), lower(column_name) FROM duckdb_columns()
  WHERE database_name = current_database() AND schema_name = 'main'`
/** Views in the place of our tables, and tables in the place of our views. */
const OTHERS = `SELECT lower(schema_name || '.' || view_name) FROM duckdb_views()
    WHERE database_name = current_database() AND schema_name = 'main'
  UNION ALL SELECT lower(schema_name || '.' || table_name) FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = 'flat'`

/**
 * Throws a config error if the name of a stream is taken in the file; `before` are the known tables.
 */
export function assertNameIsFree(
  name: string,
  before: readonly Column[],
  present: PresentTables,
): void {
  const isTaken = before.length === 0 && present.columnsOf(name) !== undefined
  const other = present.inTheWayOf(name) ?? (isTaken ? `main.${name}` : undefined)
  if (other === undefined) return
  throw new ConnectorError(
    'config',
    'name-taken',
    `The warehouse has a table or view ${other} that no sync has created, and the stream ${name} needs this name. Rename or drop it.`,
  )
}

/** The columns that a sync has created and somebody has removed, perhaps with the whole table. */
export function lostColumns(
  name: string,
  before: readonly Column[],
  present: PresentTables,
): string[] {
  const there = present.columnsOf(name)
  return [...before.map((column) => column.name), GENERATION].filter(
    (column) => there?.has(column.toLowerCase()) !== true,
  )
}

/** The message about a table that lacks columns. */
export function warningOfLost(
  name: string,
  lost: readonly string[],
  present: PresentTables,
): string {
  const isGone = present.columnsOf(name) === undefined
  const what = isGone ? 'its table is gone' : `its table lacks columns, ${lost.join(', ')}`
  return warningOf(
    'table-changed',
    `${name}: ${what}, though no sync has removed anything; the stream is read from the beginning.`,
  )
}

/**
 * Creates what is lost again. The stream is then read from the beginning, which replaces all remaining rows.
 */
export function makeAgain(
  table: Table,
  before: readonly Column[],
  lost: readonly string[],
): string[] {
  const name = `main.${quoted(table.name)}`
  const stream = literal(table.name)
  const types = new Map(before.map((column) => [column.name, column.type as string]))
  return [
    // The columns for deleted rows are added as to any table.
    createTable({ ...table, columns: before, keepsDeleted: false }),
    ...lost.map(
      (column) =>
        `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS ${quoted(column)} ${types.get(column) ?? 'BIGINT'}`,
    ),
    `UPDATE ${name} AS old SET ${GENERATION} = 0`,
    `DROP TABLE IF EXISTS main.${quoted(nextOf(table).name)}`,
    `DELETE FROM _protime.states AS states WHERE states.stream = ${stream}`,
    `DELETE FROM _protime.streams AS known WHERE known.stream = ${stream}`,
  ]
}
