import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { protime, withDuckDb } from './testing/protime.ts'

const page = readFileSync('docs/warehouse.md', 'utf8')
const [clockings = '', ages = '', comparison = ''] = [...page.matchAll(/```sql\n([^`]*)```/g)].map(
  ([, sql = '']) => sql,
)

let emulator: Emulator
let folder: string
const file = (name: string) => join(folder, name)
const sync = (name: string) =>
  protime('sync', '--config', file('config.json'), '--warehouse', file(name))

/** What `npm run ask` prints, in the folder of the warehouses. */
const ask = (sql: string, ...words: readonly string[]) =>
  execFileSync(process.execPath, [join(process.cwd(), 'dist/scripts/ask.js'), sql, ...words], {
    cwd: folder,
    encoding: 'utf8',
  })

beforeAll(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
  folder = mkdtempSync(join(tmpdir(), 'warehouse-guide-'))
  writeFileSync(file('config.json'), JSON.stringify(emulator.config()))
  await sync('protime.duckdb')
  emulator.randomChanges({ inserts: 30, updates: 30, deletes: 20, softDeletes: 5 })
  await sync('protime.duckdb')
  await sync('again.duckdb')
})
afterAll(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true })
})

describe('docs/warehouse.md', () => {
  it('asks for the clockings of a month', () => {
    expect(ask(clockings, 'protime.duckdb')).toMatch(/^person_id +date +timeOfDayInMinutes\n/)
    expect(ask('SHOW TABLES', 'protime.duckdb')).toContain('clockings')
  })

  it('asks how old the rows are', () => {
    expect(ask(ages, 'protime.duckdb')).toMatch(/^stream +last_complete +rows +failure\n/)
    expect(ask(ages, 'protime.duckdb')).toMatch(/\nclockings +20\d\d-/)
  })

  it('finds no row that only one of two readings has', () => {
    expect(ask(comparison, 'protime.duckdb').trim().split('\n')).toHaveLength(2)
  })

  it.each([
    ['is missing', 'DELETE FROM clockings WHERE id = (SELECT min(id) FROM clockings)', 1],
    [
      'is another',
      "UPDATE clockings SET date = DATE '2000-01-01' WHERE id = (SELECT min(id) FROM clockings)",
      2,
    ],
  ])('finds a row that %s', async (_, wrong, differences) => {
    copyFileSync(file('protime.duckdb'), file('wrong.duckdb'))
    await withDuckDb(file('wrong.duckdb'), (connection) => connection.run(wrong))
    expect(ask(comparison, 'wrong.duckdb').trim().split('\n')).toHaveLength(2 + differences)
  })
})
