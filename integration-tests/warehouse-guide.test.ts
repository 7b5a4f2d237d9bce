import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { protime, withDuckDb } from './testing/protime.ts'

const page = readFileSync('docs/warehouse.md', 'utf8')
const [clockings = '', ages = ''] = [...page.matchAll(/```sql\n([^`]*)```/g)].map(
  ([, sql = '']) => sql,
)

let emulator: Emulator
let folder: string
const file = (name: string) => join(folder, name)

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
  await protime('sync', '--config', file('config.json'), '--warehouse', file('protime.duckdb'))
})
afterAll(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true })
})

describe('docs/warehouse.md', () => {
  it('queries the clockings of a month', () => {
    expect(ask(clockings, 'protime.duckdb')).toMatch(/^person_id +date +timeOfDayInMinutes\n/)
    expect(ask('SHOW TABLES', 'protime.duckdb')).toContain('clockings')
  })

  it('queries the age of the rows', () => {
    const answer = ask(ages, 'protime.duckdb')
    expect(answer).toMatch(/^stream +last_complete +rows +failure\n/)
    expect(answer).toMatch(/\nclockings +20\d\d-/)
  })

  it('has every option of protime verify, and no other', async () => {
    const { stdout } = await protime('verify', '--help')
    const [, table = ''] = page.split('## Verify the data')
    const options = (text: string) =>
      [...new Set(text.match(/(?<=^[ |`]*)--[a-z][a-z-]*/gm))].toSorted()
    const [, shown = ''] = stdout.split('Options:')
    const own = options(shown.split('Global')[0] ?? '').filter((name) => name !== '--help')
    expect(options(table.split('### Any other')[0] ?? '')).toEqual(own)
  })

  it('shows what protime verify prints', async () => {
    copyFileSync(file('protime.duckdb'), file('wrong.duckdb'))
    await withDuckDb(file('wrong.duckdb'), (connection) =>
      connection.run(
        'UPDATE clockings SET timeOfDayInMinutes = 1441 WHERE id = (SELECT min(id) FROM clockings)',
      ),
    )
    const words = ['--config', file('config.json'), '--warehouse', file('wrong.duckdb')]
    const { exitCode, stdout } = await protime('verify', ...words)
    const [, shown = ''] = /```\n(\{"stream"[^`]*)```/.exec(page) ?? []
    const masked = (text: string) => text.replaceAll(/\d+|"[0-9A-F]{20}"/g, 'n')
    expect([exitCode, masked(stdout)]).toEqual([3, masked(shown)])
  })
})
