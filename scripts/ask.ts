import { existsSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { warehouseFile } from './demo/paths.ts'
import { table } from './demo/table.ts'

/** Asks the demo's DuckDB file a question in SQL and prints the answer as a table. */
async function answer(sql: string): Promise<string> {
  const instance = await DuckDBInstance.create(warehouseFile, { access_mode: 'READ_ONLY' })
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

function cell(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

try {
  const [sql] = process.argv.slice(2)
  if (sql === undefined) throw new Error('Give a question in SQL: npm run ask -- "SHOW TABLES"')
  if (!existsSync(warehouseFile)) throw new Error('There is no warehouse yet: npm run demo')
  process.stdout.write(`${await answer(sql)}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
