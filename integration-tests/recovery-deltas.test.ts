import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../emulator/emulator.ts'
import { type Scenario, startScenario } from './histories/scenario.ts'
import { withState } from './histories/with-state.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

async function start(streams: readonly string[], options?: EmulatorOptions): Promise<Scenario> {
  scenario = await startScenario(streams, options)
  return scenario
}

describe('a conflict', () => {
  it('at the start of a delta is asked four times in all, then explained', async () => {
    const { emulator, sync } = await start(['people'], { secondStart: 'conflict' })
    emulator.stealDelta('people')
    const { errors, requests, warnings } = await sync()
    expect(errors).toEqual([expect.stringContaining('one active delta for each collection')])
    expect(requests).toEqual(Array(4).fill('/people?delta'))
    expect(warnings).toEqual([expect.stringMatching(/^Sync failed for 1 of 1 stream/)])
  })

  it('on a stored link is asked four times in all, explained, and never a reason to start over', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    emulator.fail('/delta/people', 409)
    const { errors, requests } = await sync()
    expect(errors).toEqual([expect.stringContaining('one active delta for each collection')])
    expect(requests.map((text) => text.split('?')[0])).toEqual(Array(4).fill('/delta/people'))
    emulator.clearFaults()
    emulator.update('people', 1)
    const { records, warnings } = await sync()
    expect(records.map(({ id }) => id)).toEqual([1])
    expect(warnings).toEqual([])
  })
})

describe('a delta that ends early', () => {
  const ADVICE = /^The deltas of these streams ended early.*: (.*?)\./
  const advice = (warnings: readonly string[]) => warnings.filter((text) => ADVICE.test(text))

  it('is put down to another program, in one message for all streams', async () => {
    const { emulator, sync } = await start(['people', 'jobs', 'departments'])
    await sync()
    emulator.remove('people', 1)
    for (const collection of ['people', 'jobs']) emulator.stealDelta(collection)
    const { warnings } = await sync()
    expect(advice(warnings)).toEqual([
      expect.stringMatching(/: jobs, people\. Probably another program reads them/),
    ])
    expect(scenario.differences()).toEqual([])
  })

  it('while it is read is put down to one that reads at this moment', async () => {
    const { emulator, sync } = await start(['people'])
    const { warnings } = await sync({ onRequest: (n) => n === 3 && emulator.stealDelta('people') })
    expect(advice(warnings)).toEqual([expect.stringMatching(/with the same client at this moment/)])
  })

  it('with all the others may be a restart of the service', async () => {
    const { emulator, sync } = await start(['people', 'jobs'])
    await sync()
    for (const collection of ['people', 'jobs']) emulator.expireDelta(collection)
    const { warnings } = await sync()
    expect(advice(warnings)).toEqual([expect.stringMatching(/the service may have been restarted/)])
  })

  it('is not what a damaged link is put down to', async () => {
    const { sync } = await start(['people'])
    await sync()
    scenario.platform = withState(scenario.platform, 'people', (blob) => ({
      ...blob,
      link: 'nonsense',
    }))
    const { warnings } = await sync()
    expect(warnings).toEqual([expect.stringMatching(/^people: its link cannot be used any more/)])
    expect(scenario.differences()).toEqual([])
  })
})

describe('a delta link whose answer was lost', () => {
  const flavours = ['answers', 'conflict', 'gone'] as const

  it.each(flavours)('on the wire ends well when the service %s', async (usedDeltaLink) => {
    const { emulator, sync } = await start(['people'], { usedDeltaLink })
    await sync()
    emulator.update('people', 1)
    emulator.remove('people', 2)
    emulator.fault('/delta/people', 'after-last-byte', { times: 1 })
    const { exitCode } = await sync()
    expect(exitCode).toBe(0)
    expect(scenario.differences()).toEqual([])
  })

  it.each(flavours)('with the process ends well when the service %s', async (usedDeltaLink) => {
    const { emulator, sync } = await start(['people'], { usedDeltaLink })
    await sync()
    for (let lines = 1; lines <= 5; lines++) {
      emulator.update('people', 1)
      emulator.insert('people')
      await sync({ killAfter: lines })
      const { exitCode } = await sync()
      expect(exitCode, `line ${lines}`).toBe(0)
      expect(scenario.differences(), `line ${lines}`).toEqual([])
    }
  })
})

describe('a delta link that is asked after the history was listed anew', () => {
  it('is known to be used up when the process dies with its answer', async () => {
    const { emulator, sync, settings } = await start(['clockings'], {
      people: 0,
      usedDeltaLink: 'conflict',
    })
    Object.assign(settings, { start_date: '2024-06-01', history_refresh_days: 1 })
    for (const date of ['2024-07-02', '2026-10-01']) emulator.insert('clockings', { date })
    await sync()
    for (let lines = 1; lines <= 8; lines++) {
      emulator.update('clockings', 2)
      emulator.advance({ hours: 25 })
      await sync({ killAfter: lines })
      const { errors } = await sync()
      expect(errors, `line ${lines}`).toEqual([])
      expect(scenario.differences(), `line ${lines}`).toEqual([])
    }
  })
})
