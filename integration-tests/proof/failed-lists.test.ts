import { afterEach, describe, expect, it } from 'vitest'
import { type Scenario, startWithRows } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const lists = (collection: string) => new RegExp(`^/${collection}([?](?!(.*&)?delta)|$)`)

describe('a response to a delta link that was lost, with its changes,', () => {
  it('leads to another audit a day after one that had no list', async () => {
    scenario = await startWithRows('jobs', 12, { usedDeltaLink: 'continues' })
    const { emulator, sync, differences } = scenario
    await sync()
    emulator.update('jobs', 3)
    emulator.fault('/delta/jobs', 'after-last-byte', { times: 1 })
    emulator.fail(lists('jobs'), 403)
    expect((await sync()).exitCode).toBe(0)
    emulator.clearFaults()
    emulator.advance({ hours: 1 })
    expect((await sync()).requests).toHaveLength(1)
    emulator.advance({ hours: 24 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
    emulator.advance({ hours: 25 })
    expect((await sync()).requests).toHaveLength(1)
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
