import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { ask, protime } from '../integration-tests/testing/protime.ts'
import { guideBlock } from './guide-blocks.ts'

const attendance = guideBlock('sql demo', 'README.md')
const planned = guideBlock('sql demo', 'docs/warehouse.md')

let emulator: Emulator
let folder: string
beforeAll(async () => {
  emulator = await startEmulator({ people: 40, months: 2 })
  emulator.randomChanges({ inserts: 200, updates: 300, deletes: 100, softDeletes: 50 })
  folder = mkdtempSync(join(tmpdir(), 'readme-'))
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(emulator.config()))
  await protime('sync', '--config', config, '--warehouse', join(folder, 'w.duckdb'))
})
afterAll(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true })
})

/** What the warehouse answers, after a sync of the service. */
const answer = (sql: string) => ask(join(folder, 'w.duckdb'), sql)

it('by department count the hours of every person and day once', async () => {
  const october = emulator
    .all('calculated-totals')
    .filter(({ date }) => String(date).startsWith('2026-10-'))
  const hours = (property: string) =>
    Math.round(october.reduce((sum, row) => sum + Number(row[property]), 0) / 60)
  const [all, ...departments] = await answer(attendance)
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
  const rows = await answer(planned)
  expect(rows.reduce((sum, row) => sum + Number(row['to_approve']), 0)).toBe(december.length)
  expect(december.length).toBeGreaterThan(0)
})
