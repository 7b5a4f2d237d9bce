import { afterEach, describe, expect, it } from 'vitest'
import { personCodes } from '../../src/privacy/person-codes.ts'
import { changeInSilence, makeDue, type Scenario, startWithRows } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const KEY = 'Wq3-xkT9_mB7vZ2p'
/** Twelve clockings, of which the sixth was of a suppressed person, and is now of another one, as the delta has reported. */
const start = async () => {
  scenario = await startWithRows('clockings', 12, { pageSize: 100 })
  const { emulator, sync, settings, platform } = scenario
  const tenant = String(emulator.config()['tenant'])
  settings['start_date'] = '2026-01-01'
  settings['privacy_key'] = KEY
  settings['suppressed_people'] = [personCodes({ key: KEY, tenant }).of('2')]
  for (let id = 1; id <= 12; id++)
    emulator.update('clockings', id, { date: '2026-08-10', person: { id: id === 6 ? 2 : 1 } })
  await sync()
  emulator.update('clockings', 6, { person: { id: 1 } })
  await sync()
  expect(platform.warehouses[0]?.rows('clockings').size).toBe(12)
  return scenario
}

const LISTS = /^\/clockings[?](?!.*delta)/

describe('a row that is no longer a suppressed person’s stays', () => {
  it('if the list of an audit is older', async () => {
    const { emulator, sync, differences } = await start()
    makeDue(scenario)
    emulator.fault(LISTS, 'stale', { changes: 1, times: 4 })
    const { exitCode, deleted } = await sync()
    expect(deleted).toEqual([])
    emulator.clearFaults()
    await sync()
    expect([exitCode, differences()]).toEqual([0, []])
  })

  it('if only the second list of an audit is older', async () => {
    const { emulator, sync, platform } = await start()
    await changeInSilence(scenario, () => emulator.update('clockings', 7, { date: '2026-08-11' }))
    emulator.fault(LISTS, 'stale', { changes: 2, skip: 3 })
    expect((await sync()).deleted).toEqual([])
    expect(platform.warehouses[0]?.rows('clockings').size).toBe(12)
  })

  it('if a recheck of other rows is older', async () => {
    const { emulator, sync, differences } = await start()
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/clockings[?].*delta/, 'short', { times: 1 })
    emulator.fail(/^\/clockings\/\d+/, 404)
    emulator.fault(LISTS, 'stale', { changes: 1 })
    const { exitCode, deleted } = await sync()
    expect([exitCode, deleted, differences()]).toEqual([0, [], []])
  })
})

it('a row that has become a suppressed person’s does not come back with an older list', async () => {
  const { emulator, sync, platform } = await start()
  emulator.update('clockings', 7, { person: { id: 2 } })
  expect((await sync()).deleted).toEqual([7])
  makeDue(scenario)
  emulator.fault(LISTS, 'stale', { changes: 1 })
  await sync()
  expect(platform.warehouses[0]?.rows('clockings').has('7')).toBe(false)
})

it('a row that has become a suppressed person’s in silence is deleted by an audit', async () => {
  const { emulator, sync, platform } = await start()
  emulator.update('clockings', 7, { person: { id: 2 } })
  emulator.fault('/delta', 'empty', { times: 1 })
  await sync()
  makeDue(scenario)
  expect((await sync()).deleted).toEqual([7])
  expect(platform.warehouses[0]?.rows('clockings').has('7')).toBe(false)
})
