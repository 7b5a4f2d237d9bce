import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/** Opens a DuckDB file for a while. */
export async function withDuckDb<T>(
  path: string,
  use: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  try {
    return await use(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** What a question in SQL is answered, by column. */
export function ask(path: string, sql: string): Promise<Record<string, unknown>[]> {
  return withDuckDb(path, async (connection) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson(),
  )
}
