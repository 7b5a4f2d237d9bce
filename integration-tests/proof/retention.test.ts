import { afterEach, describe, expect, it } from 'vitest'
import { type Scenario, startScenario, withState } from '../histories/scenario.ts'
import { inventoryDifferences } from '../testing/inventory.ts'
import { withDuckDb } from '../testing/protime.ts'
import { tap } from '../testing/run.ts'
import { type SyncedTenant, startSyncedTenant } from '../testing/synced-tenant.ts'
import { createSingerWarehouse } from '../testing/warehouse.ts'

/** The days that requests name, without those of a delta link. */
function firstDayOf(requests: readonly string[]): string {
  return requests.flatMap((text) => text.match(/20\d\d-\d\d-\d\d/g) ?? []).sort()[0] ?? '9999'
}

describe('the rows of protime sync that are older than what is kept', () => {
  let tenant: SyncedTenant
  afterEach(() => tenant.close())
  it('are before the first day that the inventory tells of each stream', async () => {
    const streams = ['calculated_totals', 'clockings', 'people', 'inventory']
    tenant = await startSyncedTenant(streams, { people: 2, months: 1 })
    const { sync, settings, ask, emulator } = tenant
    const told = () =>
      ask(`SELECT stream, CAST("from" AS VARCHAR) AS day FROM inventory WHERE part = 'all'`)
    settings['start_date'] = '2026-01-15'
    settings['retain_months'] = [{ stream: 'clockings', months: 2 }]
    await sync()
    const from = (clockings: string) => [
      { stream: 'calculated_totals', day: '2026-01-15' },
      { stream: 'clockings', day: clockings },
      { stream: 'people', day: null },
    ]
    expect(await told()).toEqual(from('2026-09-01'))
    settings['retain_months'] = [{ stream: 'clockings', months: 1 }]
    emulator.fail('/clockings', 400, { times: 999 })
    await sync()
    // Rows of September may have left already.
    expect(await told()).toEqual(from('2026-10-01'))
  })

  it('leave also if the service no longer lists them', async () => {
    tenant = await startSyncedTenant(['clockings', 'inventory'], { people: 2, months: 1 })
    const { emulator, sync, settings, ask } = tenant
    for (const date of ['2026-06-01', '2026-11-01']) emulator.insert('clockings', { date })
    Object.assign(settings, { start_date: '2026-01-01' })
    await sync()
    emulator.remove('clockings', Number(emulator.all('clockings').at(-2)?.['id']))
    emulator.fault('/delta', 'empty', { times: 1 })
    settings['retain_months'] = [{ stream: 'clockings', months: 2 }]
    await withDuckDb(tenant.warehouse, (file) =>
      file.run('INSERT INTO clockings (id) VALUES (777)'),
    )
    await sync()
    expect(await ask('SELECT date FROM clockings WHERE id = 777')).toEqual([{ date: null }])
    expect(await ask("SELECT count(*)::INT AS n FROM clockings WHERE date < '2026-09-01'")).toEqual(
      [{ n: 0 }],
    )
    emulator.advance({ hours: 73 })
    await sync()
    expect(await withDuckDb(tenant.warehouse, inventoryDifferences)).toEqual([])
  })
})

describe('days that are no longer kept', () => {
  let scenario: Scenario
  afterEach(() => scenario.emulator.close())
  const start = async (days: readonly string[], settings: object = {}, pageSize = 2) => {
    scenario = await startScenario(['clockings'], { people: 0, pageSize })
    Object.assign(scenario.settings, { start_date: '2024-01-01', ...settings })
    for (const date of days) scenario.emulator.insert('clockings', { date })
    return scenario
  }
  const keys = () => [...(scenario.platform.warehouses[0]?.rows('clockings').keys() ?? [])].sort()
  const DAYS = ['2024-03-01', '2024-04-01', '2025-03-01', '2026-02-01', '2026-06-01', '2026-11-01']

  it.each([
    ['before the window', '2024-04-01', 1],
    ['with the whole history', '2025-01-01', 2],
    ['of the window, too', '2026-06-01', 4],
  ])('are deleted by key alone: %s', async (_which, startDate, left) => {
    const { sync, settings, differences } = await start(DAYS)
    await sync()
    settings['start_date'] = startDate
    const { deleted, records, exitCode } = await sync()
    expect([exitCode, deleted.length]).toEqual([0, left])
    for (const row of records.filter(({ id }) => deleted.includes(id)))
      expect(Object.keys(row).filter((name) => !name.startsWith('_'))).toEqual(['id'])
    expect(keys()).toHaveLength(DAYS.length - left)
    expect(differences()).toEqual([])
    scenario.emulator.advance({ hours: 73 })
    const next = await sync()
    expect([next.deleted, firstDayOf(next.requests) >= startDate]).toEqual([[], true])
  })

  it('have no values in a record that the service marks as deleted later', async () => {
    const { emulator, sync, settings } = await start(['2026-03-10', '2026-08-10'])
    await sync()
    settings['start_date'] = '2026-05-01'
    await sync()
    emulator.update('clockings', 1, { status: 'Deleted' })
    const { records, deleted } = await sync()
    expect(deleted).toEqual([1])
    expect(records.map((row) => row['date'])).toEqual([undefined])
  })

  it('leave a target of Singer, too', async () => {
    const { emulator } = await start(DAYS)
    const warehouse = createSingerWarehouse(false)
    const stream = { tap_stream_id: 'clockings', stream: 'clockings', schema: {} }
    const metadata = [{ breadcrumb: [], metadata: { selected: true } }]
    const catalog = { streams: [{ ...stream, metadata }] }
    let state: unknown
    for (const start_date of ['2024-01-01', '2026-06-01']) {
      const config = { ...emulator.config(), start_date }
      const run = await tap({ in: 'process', config, catalog, state })
      expect(run.exitCode).toBe(0)
      warehouse.load(run.messages)
      state = run.state
    }
    expect([...warehouse.rows('clockings').keys()].sort()).toEqual(['5', '6'])
  })

  it('come back with an earlier first day', async () => {
    const { sync, settings, differences } = await start(DAYS)
    await sync()
    settings['retain_months'] = 3
    await sync()
    expect(keys()).toHaveLength(1)
    delete settings['retain_months']
    await sync()
    expect(keys()).toHaveLength(6)
    expect(differences()).toEqual([])
  })

  it('stay as they are if the service reports a time far ahead for one sync', async () => {
    const { sync, emulator } = await start(DAYS, { retain_months: 40 })
    await sync()
    const before = keys()
    emulator.options.dateHeader = '2100-01-01T00:00:00Z'
    await sync()
    expect(keys()).toEqual(before)
    emulator.options.dateHeader = undefined
    expect((await sync()).exitCode).toBe(0)
    expect(keys()).toEqual(before)
  })

  it('have left if a sync is killed anywhere', async () => {
    for (let killAfter = 1; killAfter <= 13; killAfter += 2) {
      const { sync, settings, differences, emulator } = await start(DAYS)
      await sync()
      settings['start_date'] = '2026-06-01'
      await sync({ killAfter, kept: 'committed' })
      expect((await sync()).exitCode).toBe(0)
      expect(differences()).toEqual([])
      expect(keys()).toHaveLength(2)
      if (killAfter < 13) await emulator.close()
    }
  })

  it('come back if they are kept again before all of them have left', async () => {
    for (let killAfter = 1; killAfter <= 13; killAfter += 2) {
      const never = { audit_days: 0, history_refresh_days: 0 }
      const { sync, settings, differences, emulator } = await start(DAYS, never)
      await sync()
      settings['start_date'] = '2026-06-01'
      await sync({ killAfter, kept: 'committed' })
      settings['start_date'] = '2024-01-01'
      expect((await sync()).exitCode).toBe(0)
      expect([killAfter, keys()]).toEqual([killAfter, ['1', '2', '3', '4', '5', '6']])
      expect(differences()).toEqual([])
      if (killAfter < 13) await emulator.close()
    }
  })

  it('are crossed by rows in both directions', async () => {
    const { sync, emulator, settings, differences } = await start(DAYS)
    await sync()
    settings['start_date'] = '2026-06-01'
    await sync()
    emulator.update('clockings', 4, { date: '2026-11-02' })
    emulator.update('clockings', 6, { date: '2026-02-02' })
    await sync()
    expect(differences()).toEqual([])
    expect(keys()).toEqual(['4', '5'])
  })

  it.each([
    ['has never offered', true, 404, 'so rows of these days stay until it does'],
    ['refuses', false, 404, 'stay as they are, until a later sync reads it'],
    ['refuses as wrong', false, 400, 'stay as they are, until a later sync reads it'],
  ])(
    'stay with a warning if the service %s their list, and the delta is followed',
    async (_, isNever, status, what) => {
      const { sync, emulator, settings, differences } = await start(DAYS)
      const refuse = () => emulator.fail(/\/clockings[?](?!(.*&)?delta)/, status)
      if (isNever) refuse()
      await sync()
      settings['start_date'] = '2026-06-01'
      refuse()
      emulator.update('clockings', 6)
      const { warnings, exitCode } = await sync()
      expect([exitCode, keys().length]).toEqual([0, 4])
      expect(warnings).toEqual([expect.stringContaining(what)])
      emulator.clearFaults()
      await sync()
      expect(differences()).toEqual([])
      expect(keys()).toHaveLength(2)
    },
  )

  it('are told by the dates of their rows, whatever else a list contains', async () => {
    const { sync, emulator, settings, differences } = await start(DAYS)
    await sync()
    settings['start_date'] = '2026-06-01'
    const body = JSON.stringify({ value: emulator.all('clockings') })
    emulator.fail(/\/clockings[?](?!(.*&)?delta)/, 200, { body })
    expect((await sync()).deleted).toHaveLength(4)
    expect(keys()).toHaveLength(2)
    expect(differences()).toEqual([])
  })

  it('do not take along a row that has moved to a kept day, if their list is older than its change', async () => {
    const { sync, emulator, settings, differences } = await start(DAYS)
    await sync()
    emulator.update('clockings', 1, { date: '2026-11-02' })
    await sync()
    settings['start_date'] = '2026-06-01'
    emulator.fault('/clockings', 'stale', { times: 1, changes: 1 })
    await sync()
    expect(differences()).toEqual([])
  })

  it('are changed without any of their values being sent', async () => {
    const { sync, emulator, settings, differences } = await start(DAYS)
    await sync()
    settings['start_date'] = '2026-06-01'
    await sync()
    emulator.update('clockings', 4, { timeOfDayInMinutes: 77 })
    emulator.insert('clockings', { date: '2026-02-03' })
    const { records } = await sync()
    const members = records.map((row) => Object.keys(row).filter((name) => !name.startsWith('_')))
    expect(members).toEqual([['id'], ['id']])
    expect(differences()).toEqual([])
  })

  it('leave also if the ids are not tracked', async () => {
    const { sync, settings, platform } = await start(DAYS)
    await sync()
    settings['start_date'] = '2026-06-01'
    const untracked = { tracked: false, window_ids: null, backfill_ids: null, written_ids: null }
    scenario.platform = withState(platform, 'clockings', (blob) => ({ ...blob, ...untracked }))
    expect((await sync()).deleted).toHaveLength(4)
    expect(keys()).toHaveLength(2)
  })

  it.each([
    ['the ids were not tracked, and the stream is read from the beginning', false],
    ['the sync that had written them was killed', true],
  ])('leave also if no state knows their rows: %s', async (_, isKilled) => {
    const { sync, settings, platform, emulator } = await start(DAYS, {}, 100)
    await sync(isKilled ? { killAfter: 6 } : {})
    const untracked = { tracked: false, window_ids: null, backfill_ids: null, written_ids: null }
    if (!isKilled)
      scenario.platform = withState(platform, 'clockings', (blob) => ({ ...blob, ...untracked }))
    emulator.advance({ hours: 73 })
    settings['start_date'] = '2026-06-01'
    expect([(await sync()).exitCode, keys()]).toEqual([0, ['5', '6']])
  })

  it('leave with a row that moves there, if the service offers no delta', async () => {
    const { sync, settings, emulator, differences } = await start(DAYS)
    settings['start_date'] = '2026-01-01'
    emulator.fail(/^\/clockings[?].*delta/, 404)
    await sync()
    emulator.update('clockings', 6, { date: '2025-02-03' })
    expect([(await sync()).exitCode, keys(), differences()]).toEqual([0, ['4', '5'], []])
  })

  it.each([
    ['before', false],
    ['when', true],
  ])('leave once they are seen again, if rows were hidden %s they left', async (_when, atOnce) => {
    const days = Array.from({ length: 220 }, (_, i) => (i < 210 ? '2026-02-01' : '2026-11-01'))
    const { sync, settings, differences, emulator } = await start(days, {}, 500)
    for (const [i, { id }] of emulator.all('clockings').entries())
      emulator.update('clockings', Number(id), { person: { id: i } })
    await sync()
    emulator.hide((person) => person % 2 === 0)
    emulator.advance({ hours: 73 })
    if (!atOnce) expect((await sync()).exitCode).toBe(1)
    settings['start_date'] = '2026-06-01'
    expect([(await sync()).exitCode, keys().length]).toEqual([1, 115])
    emulator.hide(() => false)
    emulator.advance({ hours: 73 })
    expect([(await sync()).exitCode, keys().length, differences()]).toEqual([0, 10, []])
    const { requests } = await sync()
    expect(firstDayOf(requests) >= '2026-06-01').toBe(true)
  })

  it('do not count as missing', async () => {
    const days = Array.from({ length: 30 }, () => '2026-02-01')
    const { sync, settings, differences, emulator } = await start([...days, '2026-11-01'])
    await sync()
    settings['start_date'] = '2026-06-01'
    expect(await sync()).toMatchObject({ exitCode: 0, warnings: [] })
    emulator.advance({ hours: 73 })
    expect((await sync()).exitCode).toBe(0)
    expect(differences()).toEqual([])
  })
})
