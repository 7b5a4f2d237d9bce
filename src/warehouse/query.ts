import type { DuckDBConnection } from '@duckdb/node-api'
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
    const rows = await jsonRows(database.connection, sql).catch((error) => {
      throw new ConnectorError('config', 'query-not-valid', `The query failed. ${error.message}`)
    })
    database.close()
    return rows
  })
}

/** The rows of a query on an open file, each as the JSON text of an object. */
export async function jsonRows(connection: DuckDBConnection, sql: string): Promise<string[]> {
  const reader = await connection.runAndReadAll(sql)
  const names = reader.deduplicatedColumnNames()
  const isJson = reader
    .columnTypes()
    .map((type) => EXACT.test(String(type)) || type.alias === 'JSON')
  return reader.getRowsJson().map((row) => {
    const members = row.map((value, i) => {
      const text = isJson[i] === true && value !== null ? String(value) : JSON.stringify(value)
      return `${JSON.stringify(names[i])}:${text}`
    })
    return `{${members.join(',')}}`
  })
}
