import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { scattered } from '../src/sync/testing/scattered.ts'
import { type Scenario, startScenario } from './histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

describe('the states of a run', () => {
  it('of more than 20 MB with scattered ids take less than 5 % of its records', async () => {
    scenario = await startScenario(['people'], { people: 1, pageSize: 1000 })
    const [person] = scenario.emulator.all('people')
    const ids = new Set(Array.from({ length: 26_000 }, (_, i) => scattered(i, 2 ** 32)))
    for (const id of ids)
      scenario.emulator.restore('people', { ...person, id, comments: 'x'.repeat(300) })
    const { messages } = await scenario.sync()
    const sizes = { RECORD: 0, STATE: 0 }
    for (const message of messages) {
      if (message.type === 'RECORD' || message.type === 'STATE')
        sizes[message.type] += JSON.stringify(message).length
    }
    expect(sizes.RECORD).toBeGreaterThan(20e6)
    expect(sizes.STATE).toBeLessThan(sizes.RECORD * 0.05)
    expect(messages.filter(({ type }) => type === 'STATE').length).toBeGreaterThan(3)
    expect(scenario.differences()).toEqual([])
  })
})

describe('a stream with more ids than a bookmark can hold', () => {
  it('says so, and its ghosts are the rows of older generations', async () => {
    scenario = await startScenario(['activity_definitions'], { people: 1, pageSize: 5000 })
    const { emulator, sync } = scenario
    const [sample] = emulator.all('activity-definitions')
    for (let i = 0; i < 80_000; i++) {
      emulator.restore('activity-definitions', { ...sample, id: randomUUID() })
    }
    const first = await sync()
    expect(first.warnings).toEqual([expect.stringContaining('set of live ids is too large')])
    const events = first.messages.flatMap(({ trace }) => trace?.analytics ?? [])
    expect(events).toEqual([{ type: 'untracked-deletes', value: 'activity_definitions' }])
    emulator.remove('activity-definitions', String(sample?.['id']))
    emulator.advance({ hours: 1 })
    const second = await sync()
    expect(second.deleted).toEqual([])
    const newest = new Map([...first.records, ...second.records].map((row) => [row['id'], row]))
    const generations = [...newest.values()].map((row) => Number(row['_generation']))
    const generation = generations.reduce((a, b) => Math.max(a, b))
    const ghosts = [...newest.values()].filter((row) => Number(row['_generation']) < generation)
    expect(ghosts.map(({ id }) => id)).toEqual([sample?.['id']])
  })
})
