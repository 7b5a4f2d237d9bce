import { KNOWN_FROM } from '../column.ts'
import type { Landing } from '../landing.ts'
import { literal } from './dialect.ts'
import { DELETED_BEFORE, GENERATION_BEFORE, NEXT_BEFORE } from './take-over.ts'

const HERE = 'database_name = current_database()'
const NOT_BUILT_IN = `${HERE} AND NOT internal`

/** Selects kind and name of what can be in a file; `ours` are the columns of the tables that syncs have created. */
function objects(ours: string, views: string): string {
  const streams = `(SELECT ours.stream FROM ${ours} AS ours UNION ALL SELECT ${NEXT_BEFORE} || ours.stream FROM ${ours} AS ours)`
  const isOurTable = `schema_name = 'main' AND table_name IN ${streams}`
  const columns = `(SELECT ours.name FROM ${ours} AS ours WHERE table_name IN (ours.stream, ${NEXT_BEFORE} || ours.stream))`
  const own = [KNOWN_FROM, DELETED_BEFORE, GENERATION_BEFORE].map(literal)
  return [
    `SELECT 'schema', schema_name FROM duckdb_schemas() WHERE ${NOT_BUILT_IN} AND schema_name NOT IN ('main', 'flat', 'history', '_protime')`,
    `SELECT 'table', schema_name || '.' || table_name FROM duckdb_tables() WHERE ${NOT_BUILT_IN}
      AND schema_name <> '_protime' AND NOT (${isOurTable})`,
    `SELECT 'view', schema_name || '.' || view_name FROM duckdb_views() WHERE ${NOT_BUILT_IN}
      AND NOT (schema_name = 'flat' AND view_name IN (SELECT made.stream FROM ${views} AS made))
      AND NOT (schema_name = 'history' AND 'closed_' || view_name IN (${CLOSED}))`,
    `SELECT 'column', table_name || '.' || column_name FROM duckdb_columns() WHERE ${NOT_BUILT_IN} AND ${isOurTable}
      AND column_name NOT IN (${own.join(', ')}) AND column_name NOT IN ${columns}`,
    `SELECT 'index', index_name FROM duckdb_indexes() WHERE ${HERE}`,
    `SELECT 'sequence', schema_name || '.' || sequence_name FROM duckdb_sequences() WHERE ${HERE}`,
    `SELECT 'type', schema_name || '.' || type_name FROM duckdb_types() WHERE ${NOT_BUILT_IN}`,
    `SELECT 'macro', schema_name || '.' || function_name FROM duckdb_functions() WHERE ${NOT_BUILT_IN}`,
  ].join(' UNION ')
}

const CLOSED = `SELECT table_name FROM duckdb_tables() WHERE ${HERE} AND schema_name = '_protime'`
const HAS_ACCOUNT = `SELECT 1 FROM duckdb_tables() WHERE ${HERE} AND schema_name = '_protime' AND table_name = 'described'`

/** The objects of a file that no sync has created: kind and name of each. */
export async function madeByOthers(landing: Landing): Promise<string[]> {
  const hasAccount = (await landing.query(HAS_ACCOUNT)).length > 0
  const none = "(SELECT '' AS stream, '' AS name WHERE false)"
  const query = hasAccount ? objects('_protime.columns', '_protime.described') : objects(none, none)
  const rows = await landing.query(`${query} ORDER BY ALL`)
  return rows.map(([kind, name]) => `${kind} ${name}`)
}
