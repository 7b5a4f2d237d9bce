import { afterEach, describe, expect, it } from 'vitest'
import { startWithRows } from '../histories/scenario.ts'
import { type SyncedTenant, startSyncedTenant } from '../testing/synced-tenant.ts'

describe('rows that a complete read did not find, and for which nobody could look', () => {
  let tenant: SyncedTenant
  afterEach(() => tenant.close())
  const start = async () => {
    tenant = await startSyncedTenant(['calculated_totals'], { people: 4, months: 1 })
    return tenant
  }
  /** The delta is read from the beginning, a page of it is not whole, and lists are refused. */
  const readWithoutLists = () => {
    const { emulator } = tenant
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/calculated-totals[?].*delta/, 'short', { times: 1 })
    emulator.fail(/^\/calculated-totals[?](?!.*delta)/, 403)
  }

  it('stay in the file of protime sync', async () => {
    const { sync, counts, verify, emulator } = await start()
    await sync()
    const before = await counts()
    readWithoutLists()
    expect([(await sync()).exitCode, await counts()]).toEqual([0, before])
    emulator.clearFaults()
    expect((await verify()).summary).toMatchObject({ differences: 0 })
  })

  it.each(['in-process', 'singer'] as const)('stay in a warehouse: %s', async (place) => {
    const { read, held } = await start()
    await read(place)
    const before = held(place)
    readWithoutLists()
    const { exitCode, messages } = await read(place)
    expect([exitCode, held(place)]).toEqual([0, before])
    expect(messages.filter(({ activated }) => activated !== undefined)).toEqual([])
  })
})

it('rows of days before the window whose deletes the delta reports do not count as missing', async () => {
  const { emulator, sync, settings, differences } = await startWithRows('clockings', 12, {
    deltaFilterBound: false,
  })
  try {
    settings['start_date'] = '2024-01-01'
    for (let id = 1; id <= 12; id++) emulator.update('clockings', id, { date: '2024-08-10' })
    await sync()
    for (let id = 1; id <= 8; id++) emulator.remove('clockings', id)
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  } finally {
    await emulator.close()
  }
})
