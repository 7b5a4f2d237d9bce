import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { readStreamSchema } from '../src/streams/streams.ts'
import { type PropertySchema, sqlType } from './demo/columns.ts'

type Row = Readonly<Record<string, unknown>>

const [attendance = '', planned = ''] = [
  ...readFileSync('README.md', 'utf8').matchAll(/ask -- "\n([^"]*)"\n/g),
].map(([, sql = '']) => sql)

let emulator: Emulator
let folder: string
beforeAll(async () => {
  emulator = await startEmulator({ people: 40, months: 2 })
  emulator.randomChanges({ inserts: 200, updates: 300, deletes: 100, softDeletes: 50 })
  folder = mkdtempSync(join(tmpdir(), 'readme-'))
})
afterAll(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true })
})

/** What DuckDB answers when it holds what the service holds. */
async function ask(sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    for (const [, name = ''] of sql.matchAll(/(?:FROM|JOIN) (\w+)/g)) {
      const file = join(folder, `${name}.ndjson`)
      const records = emulator.all(name.replaceAll('_', '-'))
      writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
      const columns = Object.entries(readStreamSchema(name).properties).map(
        ([property, schema]) => `"${property}": '${sqlType(schema as PropertySchema)}'`,
      )
      await connection.run(
        `CREATE TABLE ${name} AS FROM read_json('${file}', format = 'newline_delimited', columns = {${columns}})`,
      )
    }
    return (await connection.runAndReadAll(sql)).getRowObjectsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

it('by department count the hours of every person and day once', async () => {
  const october = emulator
    .all('calculated-totals')
    .filter(({ date }) => String(date).startsWith('2026-10-'))
  const hours = (property: string) =>
    Math.round(october.reduce((sum, row) => sum + Number(row[property]), 0) / 60)
  const [all, ...departments] = await ask(attendance)
  expect(all).toMatchObject({
    department: 'All',
    people: '40',
    hours_due: hours('normalTimeDurationInMinutes'),
    hours_present: hours('timePresentDurationInMinutes'),
  })
  expect(departments.length).toBeGreaterThan(5)
})

it('by kind of absence count every planned absence once', async () => {
  const december = emulator
    .all('absences')
    .filter(({ date }) => String(date).startsWith('2026-12-'))
    .filter(({ approvalLevel }) => approvalLevel === 'AwaitingApproval')
  const rows = await ask(planned)
  expect(rows.reduce((sum, row) => sum + Number(row['to_approve']), 0)).toBe(december.length)
  expect(december.length).toBeGreaterThan(0)
})
