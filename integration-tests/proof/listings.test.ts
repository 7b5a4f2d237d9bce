import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { type Scenario, startScenario } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

async function start(streams: readonly string[], options?: EmulatorOptions): Promise<Scenario> {
  scenario = await startScenario(streams, options)
  return scenario
}

describe('a listing that was interrupted', () => {
  /** Days before the delta's window, some rows on each. */
  const OLD_DAYS = Array.from(
    { length: 12 },
    (_, month) => `2024-${String(month + 1).padStart(2, '0')}-10`,
  )

  async function withOldRows(): Promise<Scenario> {
    const { emulator, settings } = await start(['clockings'], { people: 1, pageSize: 1 })
    Object.assign(settings, { start_date: '2024-01-01', history_refresh_days: 1, window_days: 30 })
    for (const date of OLD_DAYS) {
      for (let rows = 0; rows < 3; rows++) emulator.insert('clockings', { date })
    }
    return scenario
  }

  const LINES = [4, 5, 6, 7, 8, 9]

  it.each(LINES)(
    'after %d lines loads every row even if windows grow afterwards',
    async (lines) => {
      const { sync, settings } = await withOldRows()
      await sync({ killAfter: lines })
      settings['window_days'] = 365
      const { exitCode } = await sync()
      expect(exitCode).toBe(0)
      expect(scenario.differences()).toEqual([])
    },
  )

  it.each(LINES)(
    'after %d lines deletes no existing row if windows grow during a refresh',
    async (lines) => {
      const { emulator, sync, settings } = await withOldRows()
      await sync()
      emulator.advance({ hours: 25 })
      await sync({ killAfter: lines })
      settings['window_days'] = 365
      const { deleted } = await sync()
      expect(deleted).toEqual([])
      expect(scenario.differences()).toEqual([])
    },
  )

  it.each(['job_categories', 'work_locations', 'sectors'])(
    'of %s ends with the current rows, not with those at its beginning',
    async (stream) => {
      const collection = stream.replaceAll('_', '-')
      const { emulator, sync } = await start([stream], { people: 0, pageSize: 1 })
      for (let rows = 0; rows < 4; rows++) emulator.insert(collection)
      await sync({ killAfter: 7 })
      const [first] = emulator.all(collection)
      emulator.update(collection, first?.['id'] as number, { name: { default: 'Renamed' } })
      const { exitCode } = await sync()
      expect(exitCode).toBe(0)
      expect(scenario.differences()).toEqual([])
    },
  )
})

describe('a listing of the days before the window', () => {
  it('is made once, not at each sync, after the clock was set back', async () => {
    const { emulator, sync, settings } = await start(['clockings'], { people: 1 })
    Object.assign(settings, { start_date: '2024-01-01', history_refresh_days: 7 })
    await sync()
    expect((await sync()).requests).toHaveLength(1)
    emulator.advance({ hours: -72 })
    expect((await sync()).requests.length).toBeGreaterThan(1)
    expect((await sync()).requests).toHaveLength(1)
  })
})

describe('a list of references that is refused', () => {
  const NAMES = ['people', 'departments', 'jobs'] as const

  async function withReferences(): Promise<Scenario> {
    const { emulator } = await start(['external_references'])
    for (const collection of NAMES) {
      emulator.setReference(collection, 'hr', 'one', 1)
    }
    return scenario
  }

  it.each([400, 404, 409])(
    'with %d keeps the references that the warehouse has of it',
    async (status) => {
      const { emulator, sync } = await withReferences()
      await sync()
      emulator.fail('/external-references/departments', status, { times: 1 })
      const { deleted, warnings } = await sync()
      expect(deleted).toEqual([])
      expect(status === 409 || warnings.join().includes('departments')).toBe(true)
      expect(scenario.differences()).toEqual([])
    },
  )

  it('fails the stream if every list is refused, and deletes nothing', async () => {
    const { emulator, sync } = await withReferences()
    await sync()
    emulator.fail(/^\/external-references\//, 404, { times: 18 })
    expect(await sync()).toMatchObject({ exitCode: 1, deleted: [] })
    emulator.clearFaults()
    expect(await sync()).toMatchObject({ exitCode: 0, deleted: [] })
    expect(scenario.differences()).toEqual([])
  })

  it('fails a full refresh, too, that was cut off after some of them', async () => {
    const { emulator, sync } = await withReferences()
    emulator.fail(/^\/external-references\//, 404, { times: 100 })
    await sync({ mode: 'full_refresh', killAfter: 12 })
    expect(await sync({ mode: 'full_refresh' })).toMatchObject({ exitCode: 1 })
  })

  it('does not hold up the next sync if a setting has changed all keys', async () => {
    const { emulator, sync, settings } = await start(['external_references'], { people: 20 })
    await sync()
    Object.assign(settings, { personal_data: 'pseudonymised', privacy_key: 'Wq3-xkT9_mB7vZ2p' })
    emulator.fail('/external-references/people', 404, { times: 1 })
    await sync()
    expect([(await sync()).exitCode, scenario.differences()]).toEqual([0, []])
  })

  it('logs only INFO if there never were any', async () => {
    const { emulator, sync } = await withReferences()
    emulator.fail('/external-references/terminals', 404)
    await sync()
    expect((await sync()).warnings).toEqual([])
  })

  it('does not hide removals in the others, nor its own once it is listed again', async () => {
    const { emulator, sync } = await withReferences()
    await sync()
    for (const collection of NAMES) emulator.removeReference(collection, 'hr', 'one')
    emulator.fail('/external-references/departments', 404, { times: 1 })
    expect((await sync()).deleted).toHaveLength(2)
    expect((await sync()).deleted).toHaveLength(1)
    expect(scenario.differences()).toEqual([])
  })
})

describe('a row that moves before the start date', () => {
  it.each([
    ['within the window of the delta', '2026-03-01'],
    ['before the window of the delta', '2024-03-01'],
  ])('leaves the warehouse, as a full refresh would have it, %s', async (_where, startDate) => {
    const { emulator, sync, settings } = await start(['clockings'], { leavingRow: 'update' })
    settings['start_date'] = startDate
    const id = emulator.insert('clockings', { date: '2026-10-01' })['id'] as number
    await sync()
    emulator.update('clockings', id, { date: '2024-02-01' })
    expect((await sync()).deleted).toEqual([id])
  })
})
