import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { ask, withDuckDb } from './protime.ts'

/** An empty folder for each test of a file, with the path of a warehouse in it, which can be asked and changed. */
export function eachWithWarehouse() {
  let path: string
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'warehouse-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))
  const folder = () => path
  const file = () => join(path, 'w.duckdb')
  const rows = (sql: string) => ask(file(), sql)
  const change = (sql: string) => withDuckDb(file(), (connection) => connection.run(sql))
  return { folder, file, rows, change }
}
