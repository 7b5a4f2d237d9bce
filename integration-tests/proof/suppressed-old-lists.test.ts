import { afterEach, expect, it } from 'vitest'
import { personCodes } from '../../src/privacy/person-codes.ts'
import { makeDue, type Scenario, startWithRows } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const KEY = 'Wq3-xkT9_mB7vZ2p'
/** Twelve clockings, of which the fifth was of a suppressed person, and is now of another one, as the delta has reported. */
const start = async () => {
  scenario = await startWithRows('clockings', 12, { pageSize: 100 })
  const { emulator, sync, settings, platform } = scenario
  const tenant = String(emulator.config()['tenant'])
  settings['privacy_key'] = KEY
  settings['suppressed_people'] = [personCodes({ key: KEY, tenant }).of('2')]
  for (let id = 1; id <= 12; id++)
    emulator.update('clockings', id, { date: '2026-08-10', person: { id: id === 5 ? 2 : 1 } })
  await sync()
  emulator.update('clockings', 5, { person: { id: 1 } })
  await sync()
  expect(platform.warehouses[0]?.rows('clockings').size).toBe(12)
  return scenario
}

it('a row that is no longer a suppressed person’s stays, if the list of an audit is older', async () => {
  const { emulator, sync, differences } = await start()
  makeDue(scenario)
  emulator.fault(/^\/clockings[?](?!.*delta)/, 'stale', { changes: 1, times: 4 })
  const { exitCode, deleted } = await sync()
  expect(deleted).toEqual([])
  emulator.clearFaults()
  await sync()
  expect([exitCode, differences()]).toEqual([0, []])
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
