import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../../ground/errors.ts'

/** Numbers that JSON has with all their digits, and JavaScript may not. */
const EXACT = /^(U?(BIG|HUGE)INT|DECIMAL)/

/** See `Landing.jsonRows`. */
export async function jsonRows(connection: DuckDBConnection, sql: string): Promise<string[]> {
  const reader = await connection.runAndReadAll(sql).catch((error) => {
    throw new ConnectorError('config', 'query-not-valid', `The query failed. ${error.message}`)
  })
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
