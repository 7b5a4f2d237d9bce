import { afterEach, describe, expect, it } from 'vitest'
import { personCodes } from '../../src/privacy/person-codes.ts'
import {
  changeInSilence,
  makeDue,
  type Scenario,
  startWithRows,
  withState,
} from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const KEY = 'Wq3-xkT9_mB7vZ2p'
/** Twelve clockings of the first person, but for some, which are of the second one; nothing was read. */
const startUnread = async (ofSecond: readonly number[], deltaLog = false) => {
  scenario = await startWithRows('clockings', 12, { pageSize: 100, deltaLog })
  const { emulator, settings } = scenario
  settings['start_date'] = '2026-01-01'
  settings['privacy_key'] = KEY
  for (let id = 1; id <= 12; id++) {
    const person = { id: ofSecond.includes(id) ? 2 : 1 }
    emulator.update('clockings', id, { date: '2026-08-10', person })
  }
  return scenario
}
const suppress = () => {
  const tenant = String(scenario.emulator.config()['tenant'])
  scenario.settings['suppressed_people'] = [personCodes({ key: KEY, tenant }).of('2')]
}
const held = () => [...(scenario.platform.warehouses[0]?.rows('clockings').keys() ?? [])]

/** Twelve clockings, of which the sixth was of a suppressed person, and is now of another one, as the delta has reported. */
const start = async () => {
  const { emulator, sync, platform } = await startUnread([6])
  suppress()
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

describe('of several records of a row, the last one decides whether it is a suppressed person’s', () => {
  it.each([
    ['it is', [{ timeOfDayInMinutes: 77 }, { person: { id: 2 } }]],
    ['it is, in both', [{ person: { id: 2 } }, { timeOfDayInMinutes: 77 }]],
  ])('%s', async (_, changes) => {
    const { emulator, sync } = await startUnread([], true)
    suppress()
    await sync()
    for (const change of changes) emulator.update('clockings', 6, change)
    expect([(await sync()).exitCode, held().includes('6')]).toEqual([0, false])
  })

  it('it is not, and the older one is on a later page', async () => {
    const { emulator, sync, platform } = await startUnread([6])
    suppress()
    await sync()
    const link = String(platform.stateOf('clockings')?.['link'])
    const older = emulator.update('clockings', 6, { timeOfDayInMinutes: 77 })
    const newer = emulator.update('clockings', 6, { person: { id: 1 } })
    for (const [data, links] of [
      [newer, { nextLink: `${link}&page=2` }],
      [older, { deltaLink: link }],
    ]) {
      const value = [{ changeType: 'InsertOrUpdate', data }]
      const body = JSON.stringify({ value, ...links })
      emulator.fail('/delta/clockings', 200, { body, times: 1 })
    }
    expect([(await sync()).exitCode, held().includes('6')]).toEqual([0, true])
  })
})

describe('rows of a person who is suppressed now are deleted, although no state knows them', () => {
  it('because their ids were not tracked', async () => {
    const { sync, platform } = await startUnread([1, 2, 3, 4, 5, 6])
    await sync()
    const untracked = { tracked: false, window_ids: null, backfill_ids: null, written_ids: null }
    scenario.platform = withState(platform, 'clockings', (blob) => ({ ...blob, ...untracked }))
    suppress()
    expect([(await sync()).exitCode, held().length]).toEqual([0, 6])
  })

  it('because their state cannot be used', async () => {
    const { sync, platform } = await startUnread([1, 2, 3, 4, 5, 6])
    await sync()
    scenario.platform = withState(platform, 'clockings', (blob) => ({ ...blob, tracked: 'yes' }))
    suppress()
    expect([(await sync()).exitCode, held().length]).toEqual([0, 6])
  })

  it('because the sync that had written them was killed', async () => {
    const { sync } = await startUnread([1, 2, 3, 4, 5, 6])
    await sync({ killAfter: 9 })
    suppress()
    expect([(await sync()).exitCode, held().length]).toEqual([0, 6])
    expect((await sync()).deleted).toEqual([])
  })
})

describe('a row becomes a suppressed person’s after a sync was killed that had written it, and is deleted', () => {
  it.each([
    ['among changes', true, 5],
    ['in a first read', false, 9],
  ])('%s', async (_, wasRead, killAfter) => {
    const { emulator, sync } = await startUnread([1])
    suppress()
    if (wasRead) await sync()
    emulator.insert('clockings', { date: '2026-08-10', person: { id: 1 } })
    const before = held().length
    await sync({ killAfter })
    const written = String(held().at(-1))
    expect(held().length).toBeGreaterThan(before)
    emulator.update('clockings', Number(written), { person: { id: 2 } })
    expect([(await sync()).exitCode, held().includes(written)]).toEqual([0, false])
    expect((await sync()).deleted).toEqual([])
  })
})
