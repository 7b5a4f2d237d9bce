import { quoted } from '../../src/warehouse/sql.ts'
import { askOf, withDuckDb } from '../testing/protime.ts'
import type { TestServer } from './server.ts'

/** What the flat views of a warehouse in PostgreSQL and of a DuckDB file do not have in common. */
export function flatDifferences(
  server: TestServer,
  schema: string,
  file: string,
): Promise<string[]> {
  // The file is open once, because that costs as much as the questions about a view.
  return withDuckDb(file, async (connection) => {
    const ask = askOf(connection)
    const views = await ask(
      "SELECT view_name AS name FROM duckdb_views() WHERE schema_name = 'flat' AND view_name <> 'inventory' ORDER BY ALL",
    )
    const found: string[] = []
    for (const { name } of views) {
      const columns = await ask(
        `SELECT column_name AS name, data_type AS type FROM duckdb_columns() WHERE schema_name = 'flat' AND table_name = '${name}' ORDER BY column_index`,
      )
      const theirs = await ask(
        `SELECT ${columns.map((column, i) => `${inDuckDb(column)} AS c${i}`).join(', ')} FROM flat."${name}"`,
      )
      const ours = (
        await server.query(
          `SELECT json_build_array(${columns.map(inPostgres).join(', ')}) FROM ${schema}_flat."${name}"`,
        )
      )
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.stringify(JSON.parse(line)))
      const before = new Set(theirs.map((row) => JSON.stringify(Object.values(row))))
      const now = new Set(ours)
      for (const row of before) if (!now.has(row)) found.push(`${name}: DuckDB alone has ${row}`)
      for (const row of now)
        if (!before.has(row)) found.push(`${name}: PostgreSQL alone has ${row}`)
      if (theirs.length !== ours.length)
        found.push(`${name}: ${theirs.length} and ${ours.length} rows`)
    }
    return found
  })
}

type Described = Record<string, unknown>

function inDuckDb({ name, type }: Described): string {
  const column = quoted(String(name))
  if (type === 'TIMESTAMP_NS') return `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%f')`
  if (type === 'DOUBLE') return `${column} + 0.0`
  const text = `CAST(${column} AS VARCHAR)`
  // In PostgreSQL, a value with a NUL is in the second column.
  return `CASE WHEN NOT contains(${text}, chr(0)) AND NOT contains(${text}, '\\u0000') THEN ${text} END`
}

/** ASCII letters are small there. */
function inPostgres({ name, type }: Described): string {
  const column = quoted(String(name).replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
  if (type === 'TIMESTAMP_NS')
    return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
  return type === 'DOUBLE' ? column : `CAST(${column} AS TEXT)`
}
