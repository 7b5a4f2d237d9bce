import { afterEach, describe, expect, it } from 'vitest'
import {
  listsOf,
  makeDue,
  type Scenario,
  startScenario,
  startWithRows,
} from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

describe('a response to a delta link that was lost, with its changes,', () => {
  it('leads to another audit a day after one that had no list', async () => {
    scenario = await startWithRows('jobs', 12, { usedDeltaLink: 'continues' })
    const { emulator, sync, differences } = scenario
    await sync()
    emulator.update('jobs', 3)
    emulator.fault('/delta/jobs', 'after-last-byte', { times: 1 })
    emulator.fail(listsOf('jobs'), 403)
    expect((await sync()).exitCode).toBe(0)
    emulator.clearFaults()
    emulator.advance({ hours: 1 })
    expect((await sync()).requests).toHaveLength(1)
    emulator.advance({ hours: 24 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
    emulator.advance({ hours: 25 })
    expect((await sync()).requests).toHaveLength(1)
  })

  it('leads to another audit a day after one whose second list failed', async () => {
    scenario = await startWithRows('jobs', 12, { usedDeltaLink: 'continues', pageSize: 100 })
    const { emulator, sync, differences } = scenario
    await sync()
    emulator.update('jobs', 3)
    emulator.fault('/delta/jobs', 'after-last-byte', { times: 1 })
    emulator.fail(listsOf('jobs'), 400, { times: 1, skip: 1 })
    expect((await sync()).exitCode).toBe(0)
    emulator.advance({ hours: 25 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('leads to an audit if it was a later page of the response', async () => {
    scenario = await startWithRows('jobs', 12, { usedDeltaLink: 'continues', deltaPageSize: 2 })
    const { emulator, sync, differences } = scenario
    await sync()
    for (const id of [1, 2, 3, 4, 5, 6]) emulator.update('jobs', id)
    emulator.fault('/delta/jobs', 'after-last-byte', { times: 1, skip: 1 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })
})

it('a list that is due and fails each time does not delay those of days before the window', async () => {
  scenario = await startWithRows('clockings', 12, { paging: 'offset' })
  const { emulator, sync, settings, differences } = scenario
  Object.assign(settings, { start_date: '2024-01-01', history_refresh_days: 1 })
  for (let id = 1; id <= 12; id++)
    emulator.update('clockings', id, { date: id <= 2 ? '2024-03-10' : '2026-08-10' })
  emulator.fail(/^\/clockings[?]filter=date ge '2026-12-31' and/, 403)
  await sync({ onRequest: (n) => n === 3 && emulator.remove('clockings', 4) })
  emulator.update('clockings', 1, { date: '2024-03-11' })
  emulator.advance({ hours: 25 })
  expect((await sync()).warnings).toEqual([expect.stringContaining('could not be read')])
  expect(differences()).toEqual([])
})

describe('rows of days that are no longer kept, and not listed,', () => {
  const start = async (stream: string) => {
    scenario = await startWithRows(stream, 40, { pageSize: 100 })
    const { emulator, settings, sync } = scenario
    const collection = stream.replaceAll('_', '-')
    settings['start_date'] = '2026-03-01'
    for (let id = 1; id <= 40; id++)
      emulator.update(collection, id, { date: id <= 15 ? '2026-03-10' : '2026-08-10' })
    await sync()
    settings['start_date'] = '2026-05-01'
    emulator.fail(new RegExp(`^/${collection}[?]filter=date ge '2026-03`), 403)
    return scenario
  }

  it.each([
    ['an audit', () => makeDue(scenario)],
    ['a read from the beginning', () => scenario.emulator.advance({ hours: 73 })],
  ])('are not taken for missing ones by %s', async (_what, happens) => {
    const { sync, emulator } = await start('calculated_totals')
    happens()
    expect(await sync()).toMatchObject({ exitCode: 0, errors: [], deleted: [] })
    emulator.clearFaults()
    const { exitCode, deleted } = await sync()
    expect([exitCode, deleted.length]).toEqual([0, 15])
  })

  it('are not said to stay if they are found one by one, and leave', async () => {
    const { sync, emulator } = await start('clockings')
    emulator.advance({ hours: 73 })
    const { deleted, warnings } = await sync()
    expect(deleted).toHaveLength(15)
    expect(warnings.join()).not.toContain('a recheck found')
  })
})

it.each([
  ['department_histories', '/department-histories'],
  ['external_references', '/external-references/people'],
])('a list of %s that is refused after it was read deletes nothing', async (stream, path) => {
  scenario = await startScenario([stream], { people: 40, pageSize: 5 })
  const { emulator, sync, settings, differences } = scenario
  settings['max_missing'] = '60'
  const { requests } = await sync()
  const pages = requests.filter((text) => text.startsWith(path)).length
  emulator.fault(path, 'short', { times: 1 })
  // The first request of the recheck; the fault before has taken one.
  emulator.fail(path, 404, { times: 1, skip: pages - 1 })
  expect(await sync()).toMatchObject({ exitCode: 1, deleted: [] })
  expect([(await sync()).exitCode, differences()]).toEqual([0, []])
})

describe('a list that the service refuses once as if it did not offer it (404)', () => {
  it('proves nothing about the rows of a delta if it was read before', async () => {
    scenario = await startWithRows('calculated_totals', 30)
    const { emulator, sync, settings, differences } = scenario
    await sync()
    makeDue(scenario)
    // The audit reads the list.
    await sync()
    delete settings['audit_days']
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/calculated-totals[?].*delta/, 'short', { times: 1 })
    emulator.fail(listsOf('calculated-totals'), 404, { times: 1 })
    expect((await sync()).deleted).toEqual([])
    expect(differences()).toEqual([])
  })

  it('is no reason to do without the days before the window, of which another list was read', async () => {
    scenario = await startWithRows('clockings', 12)
    const { emulator, sync, settings, differences } = scenario
    settings['start_date'] = '2023-01-01'
    for (let id = 1; id <= 12; id++)
      emulator.update('clockings', id, { date: id <= 6 ? '2023-03-10' : '2024-06-10' })
    emulator.fail(/^\/clockings[?]filter=date ge '2024/, 404, { times: 1 })
    expect(await sync()).toMatchObject({ exitCode: 1, warnings: [expect.anything()] })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('is read a day later if it is due since the first load', async () => {
    scenario = await startWithRows('people', 12, { paging: 'offset' })
    const { emulator, sync, differences } = scenario
    emulator.fail(listsOf('people'), 404, { times: 1 })
    await sync({ onRequest: (n) => n === 3 && emulator.remove('people', 1) })
    emulator.advance({ hours: 25 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })
})
