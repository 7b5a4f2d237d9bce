import type { DuckDBConnection } from '@duckdb/node-api'
import { keyOf, streams } from '../../src/streams/streams.ts'

/**
 * Where the tables of a warehouse are not as its inventory says, in words: the sums are computed by SQL, as a user
 * would. What the inventory does not vouch for is left out.
 */
export async function inventoryDifferences(connection: DuckDBConnection): Promise<string[]> {
  const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
  const found: string[] = []
  for (const row of await ask('SELECT * FROM main.inventory WHERE "isComplete"')) {
    const stream = String(row['stream'])
    const columns = await ask(
      `SELECT column_name FROM duckdb_columns() WHERE schema_name = 'main' AND table_name = '${stream}'`,
    )
    const isMarked = columns.some((column) => column['column_name'] === '_deleted_at')
    const living = `main."${stream}"${isMarked ? ' WHERE _deleted_at IS NULL' : ''}`
    const [held] = columns.length === 0 ? [NOTHING] : await ask(`${sumsOf(stream)} FROM ${living}`)
    for (const name of ['records', 'keys'])
      if (String(held?.[name]) !== String(row[name]))
        found.push(
          `${stream} ${row['part']}: ${name} are ${held?.[name]} in the table and ${row[name]} in the inventory`,
        )
  }
  return found
}

const NOTHING: Readonly<Record<string, unknown>> = { records: 0, keys: '0:0' }

/** Counts and sums as the documents say that SQL computes them. */
function sumsOf(stream: string): string {
  const facts = streams.get(stream)
  if (facts === undefined) throw new Error(`the inventory has a stream ${stream}`)
  const key = keyOf(facts)
  const text = key.map((name) => `"${name}"`).join(' || chr(31) || ')
  const part = (at: number) => `CAST('0x' || substr(md5(${text}), ${at}, 8) AS BIGINT)`
  const isInteger = stream !== 'activity_definitions' && key.length === 1
  const [first, second] = isInteger ? ['id', '(id % 1000003) * (id % 1000003)'] : [part(1), part(9)]
  return `SELECT count(*) AS records, coalesce(sum(${first}), 0) || ':' || coalesce(sum(${second}), 0) AS keys`
}
