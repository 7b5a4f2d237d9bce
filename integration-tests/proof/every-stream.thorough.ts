import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { streams } from '../../src/streams/streams.ts'
import { startTenant } from '../engines/tenant.ts'
import { temporaryFolder } from '../testing/files.ts'
import { inventoryDifferences } from '../testing/inventory.ts'
import { ask, protime, withDuckDb } from '../testing/protime.ts'
import { type SyncedTenant, startSyncedTenant } from '../testing/synced-tenant.ts'

// What the other files of this folder prove with a few streams, with every stream.

describe('rows that are older than what is kept', () => {
  let tenant: SyncedTenant
  afterEach(() => tenant.close())

  it('leave each dated stream once, and are not requested again', async () => {
    const dated = new Map(
      [...streams.values()].flatMap(({ stream, dateField }) =>
        dateField === undefined ? [] : [[stream, dateField] as const],
      ),
    )
    tenant = await startSyncedTenant([...dated.keys(), 'people'], { people: 6, months: 4 })
    const { emulator, sync, settings, ask, verify, counts } = tenant
    settings['history'] = true
    await sync()
    emulator.remove('clockings', Number(emulator.all('clockings')[0]?.['id']))
    await sync()
    const versions = () =>
      ask("SELECT count(*)::INT AS n FROM history.clockings WHERE date < '2026-09-01'")
    expect((await versions())[0]?.['n']).toBeGreaterThan(0)
    const before = await counts()
    settings['retain_months'] = 2
    const { exitCode, stderr } = await sync()
    expect([exitCode, stderr.includes('WARN') && /days|deleted/.test(stderr)]).toEqual([0, false])
    expect(await versions()).toEqual([{ n: 0 }])
    const after = await counts()
    expect(after['people']).toBe(before['people'])
    for (const [stream, day] of dated) {
      expect([stream, Number(after[stream]) < Number(before[stream])]).toEqual([stream, true])
      const old = `SELECT count(*)::INT AS n FROM ${stream} WHERE "${day}" < '2026-09-01'`
      expect([stream, await ask(old)]).toEqual([stream, [{ n: 0 }]])
    }
    expect((await verify()).summary).toMatchObject({ differences: 0, withheld: 0 })
    for (const hours of [1, 73]) {
      const asked = emulator.requests.length
      emulator.advance({ hours })
      expect((await sync()).exitCode).toBe(0)
      const requests = emulator.requests.slice(asked).map(({ path, query }) => `${path}?${query}`)
      const days = requests.flatMap((text) => text.match(/20\d\d-\d\d-\d\d/g) ?? [])
      expect(days.filter((day) => day < '2026-09-01')).toEqual([])
      expect(await counts()).toEqual(after)
    }
    delete settings['retain_months']
    expect((await sync()).exitCode).toBe(0)
    expect((await verify()).summary).toMatchObject({ differences: 0 })
  })
})

describe('the stream inventory', () => {
  const folder = temporaryFolder()
  afterEach(() => folder.remove())

  it('covers every stream, and after an audit has sums of versions and values by month, as SQL computes them', async () => {
    const { emulator, config, streams } = await startTenant()
    const [file, warehouse] = [join(folder.path, 'config.json'), join(folder.path, 'tenant.duckdb')]
    const sync = async (settings: object) => {
      const all = { ...config, retry_minutes: 0, ...settings }
      writeFileSync(file, JSON.stringify(all), { mode: 0o600 })
      const { exitCode } = await protime('sync', '--config', file, '--warehouse', warehouse)
      expect([exitCode, await withDuckDb(warehouse, inventoryDifferences)]).toEqual([0, []])
    }
    await sync({})
    const [counted] = await ask(
      warehouse,
      'SELECT count(*) AS streams, bool_and("isComplete" AND records > 0) AS whole FROM inventory',
    )
    expect(counted).toEqual({ streams: String(streams.length), whole: true })
    emulator.advance({ hours: 25 })
    emulator.randomChanges({ inserts: 30, updates: 40, deletes: 20, softDeletes: 10, seed: 2 })
    await sync({ audit_days: 1 })
    const [parts] = await ask(
      warehouse,
      "SELECT count(*) > 60 AS many, count(DISTINCT stream) AS streams FROM inventory WHERE level = 'rows'",
    )
    expect(parts).toEqual({ many: true, streams: String(streams.length) })
    await emulator.close()
  })
})
