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
