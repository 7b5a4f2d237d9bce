import { afterEach, describe, expect, it } from 'vitest'
import {
  changeInSilence,
  makeDue,
  type Scenario,
  startDueJobs,
  startScenario,
} from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const startJobs = async (rows?: number) => (scenario = await startDueJobs(rows))
const unheard = (change: () => void) => changeInSilence(scenario, change)

describe('a list that is older than what the delta has reported', () => {
  const BEHIND =
    /^jobs: the list of the audit is older than what the delta has reported: it lacks \d+ changes? of the latest, and so did the one before it\./
  const lag = (times: number, changes = 1) =>
    scenario.emulator.fault('/jobs', 'stale', { times, changes })

  /** A change that the delta tells of, a sync before the audit. */
  async function told(change: () => void): Promise<Scenario> {
    await startJobs()
    change()
    await scenario.sync()
    scenario.emulator.advance({ hours: 25 })
    return scenario
  }

  it.each([
    ['an older version', () => scenario.emulator.update('jobs', 3, { name: { default: 'New' } })],
    ['a row that is gone', () => scenario.emulator.remove('jobs', 3)],
    ['the lack of a row', () => scenario.emulator.insert('jobs')],
  ])('puts back %s for nobody', async (_what, change) => {
    const { sync, differences } = await told(change)
    lag(9)
    const { warnings, deleted, records } = await sync()
    expect(warnings).toEqual([expect.stringMatching(BEHIND)])
    expect([deleted, records]).toEqual([[], []])
    expect(differences()).toEqual([])
  })

  it('is listed again, which may be enough', async () => {
    const { sync, differences } = await told(() => scenario.emulator.remove('jobs', 3))
    lag(1)
    expect(await sync()).toMatchObject({ warnings: [], deleted: [] })
    expect(differences()).toEqual([])
  })

  it('is recognized even by the first audit after audit_days was set', async () => {
    const { emulator, sync, differences, settings } = await startJobs()
    delete settings['audit_days']
    emulator.update('jobs', 3, { name: { default: 'New' } })
    await sync()
    settings['audit_days'] = 1
    lag(9)
    expect((await sync()).warnings).toEqual([expect.stringMatching(BEHIND)])
    expect(differences()).toEqual([])
  })

  it('is recognized by another change if the latest one is of a row that came and went', async () => {
    const { sync, differences } = await told(() => {
      scenario.emulator.update('jobs', 3, { name: { default: 'New' } })
      scenario.emulator.insert('jobs')
      scenario.emulator.remove('jobs', 13)
    })
    lag(9, 3)
    expect((await sync()).warnings).toEqual([expect.stringMatching(BEHIND)])
    expect(differences()).toEqual([])
  })

  it('is accepted at the next audit if the newest row was deleted without a report', async () => {
    const { emulator, sync, differences } = await told(() => scenario.emulator.insert('jobs'))
    await unheard(() => emulator.remove('jobs', 13))
    expect((await sync()).warnings).toEqual([expect.stringMatching(BEHIND)])
    emulator.advance({ hours: 25 })
    expect((await sync()).deleted).toEqual([13])
    expect(differences()).toEqual([])
  })

  it('is noticed if it is the second one', async () => {
    const { emulator, sync, differences } = await told(() =>
      scenario.emulator.update('jobs', 3, { name: { default: 'New' } }),
    )
    emulator.fault('/jobs', 'stale', { skip: 3 })
    await sync()
    expect(differences()).toEqual([])
  })

  it('is accepted at the next audit if a row has come back without a report', async () => {
    const { emulator, sync, differences } = await told(() => scenario.emulator.remove('jobs', 3))
    await unheard(() => emulator.insert('jobs', { id: 3 }))
    expect((await sync()).warnings).toEqual([expect.stringMatching(BEHIND)])
    emulator.advance({ hours: 25 })
    await sync()
    expect(differences()).toEqual([])
  })

  it('does not restore a row whose deletion the delta reported between two lists', async () => {
    const { emulator, sync, differences } = await startJobs(4)
    emulator.fault('/jobs', 'stale', { skip: 1, times: 9 })
    let isListed = false
    await sync({
      onRequest() {
        const { path = '' } = emulator.requests.at(-1) ?? {}
        if (path.startsWith('/delta') && isListed) emulator.remove('jobs', 4)
        isListed = path.startsWith('/jobs')
      },
    })
    expect(differences()).toEqual([])
  })

  it('does not put back a row that has moved into the window since the first list', async () => {
    scenario = await startScenario(['clockings'], { people: 0 })
    const { emulator, settings, sync, differences } = scenario
    settings['start_date'] = '2024-01-01'
    for (const date of ['2024-03-01', '2024-03-02', '2024-03-03', '2026-11-02'])
      emulator.insert('clockings', { date })
    await sync()
    makeDue(scenario)
    emulator.fault(/^\/clockings.*2024-03-31/, 'stale', { changes: 1, times: 9 })
    let [isListed, isTold] = [false, false]
    const { requests } = await sync({
      onRequest() {
        const { path = '' } = emulator.requests.at(-1) ?? {}
        if (path.startsWith('/delta') && isListed && !isTold) {
          isTold = true
          emulator.update('clockings', 1, { date: '2026-11-03' })
        }
        isListed = path.startsWith('/clockings')
      },
    })
    expect(requests.filter((text) => text.includes('2024-03-31'))).not.toEqual([])
    expect(differences()).toEqual([])
  })

  it('is no reason to list again if the delta reports the changes since then', async () => {
    const { emulator, sync } = await told(() => scenario.emulator.insert('jobs'))
    const { requests } = await sync({
      onRequest(n) {
        if (n === 4) emulator.remove('jobs', 13)
      },
    })
    expect(requests.filter((text) => text === '/jobs?').length).toBeLessThanOrEqual(2)
  })
})
