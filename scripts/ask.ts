import { existsSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { table, warehouseFile } from './demo/output.ts'

/** Asks a DuckDB file a question in SQL and prints the answer as a table. */
async function answer(sql: string, file: string): Promise<string> {
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll(sql)
    return table(
      reader.columnNames(),
      reader.getRowsJson().map((row) => row.map(cell)),
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function missing(file: string): string {
  return file === warehouseFile
    ? 'There is no warehouse yet: npm run demo'
    : `There is no file ${file}`
}

function cell(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

try {
  const [sql, file = warehouseFile] = process.argv.slice(2)
  if (sql === undefined)
    throw new Error('Give a question in SQL: npm run ask -- "SHOW TABLES" [file]')
  if (!existsSync(file)) throw new Error(missing(file))
  process.stdout.write(`${await answer(sql, file)}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
