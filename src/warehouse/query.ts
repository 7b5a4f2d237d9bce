import { ConnectorError } from '../ground/errors.ts'
import { closingOnError, openDatabase, type Patience } from './duckdb.ts'

/** Numbers that JSON has with all their digits, and JavaScript may not. */
const EXACT = /^(U?(BIG|HUGE)INT|DECIMAL)/

/**
 * The rows of a query on a file that is only read, each as the JSON text of an object. Throws what `openDatabase` throws,
 * and a config error with DuckDB's words for a query that fails.
 */
export async function queryRows(path: string, sql: string, patience: Patience): Promise<string[]> {
  const database = await patience(() => openDatabase(path))
  return closingOnError(database, async () => {
    const reader = await database.connection.runAndReadAll(sql).catch((error) => {
      throw new ConnectorError('config', 'query-not-valid', `The query failed. ${error.message}`)
    })
    const names = reader.deduplicatedColumnNames()
    const isJson = reader
      .columnTypes()
      .map((type) => EXACT.test(String(type)) || type.alias === 'JSON')
    const rows = reader.getRowsJson().map((row) => {
      const members = row.map((value, i) => {
        const text = isJson[i] === true && value !== null ? String(value) : JSON.stringify(value)
        return `${JSON.stringify(names[i])}:${text}`
      })
      return `{${members.join(',')}}`
    })
    database.close()
    return rows
  })
}
