import { afterEach, describe, expect, it } from 'vitest'
import {
  changeInSilence,
  makeDue,
  type Scenario,
  startDueJobs,
  startScenario,
  startWithRows,
} from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const startJobs = async (rows?: number) => (scenario = await startDueJobs(rows))
const dueNow = () => makeDue(scenario)
const unheard = (change: () => void) => changeInSilence(scenario, change)

const logs = ({ messages }: Awaited<ReturnType<Scenario['sync']>>) =>
  messages.flatMap(({ log }) => log?.message ?? [])

describe('an audit', () => {
  it('writes a row that the delta had not reported, and says so', async () => {
    const { emulator, sync, differences } = await startJobs()
    await unheard(() => emulator.insert('jobs'))
    const { warnings } = await sync()
    expect(warnings).toEqual([
      'jobs: the delta had not reported 1 row: new in the list, and written by the audit. [changes-not-reported]',
    ])
    expect(differences()).toEqual([])
  })

  it('writes a row that the service spells in another way in each answer', async () => {
    const { emulator, sync, differences } = await startJobs()
    emulator.options.jsonSpelling = 'varied'
    await unheard(() => emulator.update('jobs', 3, { name: { default: 'Baker' } }))
    const { warnings } = await sync()
    expect(warnings).toEqual([
      'jobs: the delta had not reported 1 row: changed in the list, and written again by the audit. [changes-not-reported]',
    ])
    expect(differences()).toEqual([])
  })

  it('deletes a row that was deleted without a report, after a second look', async () => {
    const { emulator, sync, differences } = await startJobs()
    await unheard(() => emulator.remove('jobs', 3))
    const { warnings, deleted, requests } = await sync()
    expect(warnings).toEqual([
      'jobs: the delta had not reported 1 row: not in the list, not found by a recheck either, and deleted by the audit. [changes-not-reported]',
    ])
    expect(deleted).toEqual([3])
    expect(requests.at(-1)).toBe('/jobs/3?')
    expect(differences()).toEqual([])
  })

  it('does not take a deleted row for a living one because an old list has it', async () => {
    const { emulator, sync, differences } = await startJobs()
    // Then the changes have a record of the row and a Delete, which contradict each other.
    emulator.options.deltaLog = true
    emulator.update('jobs', 3)
    emulator.remove('jobs', 3)
    emulator.fault('/jobs', 'stale', { changes: 1, times: 99 })
    const { deleted } = await sync()
    expect(deleted).toEqual([3])
    expect(differences()).toEqual([])
  })

  it('deletes many such rows after a second list', async () => {
    const { emulator, sync, differences, settings } = await startJobs(220)
    settings['max_missing'] = '100%'
    await unheard(() => {
      for (let id = 1; id <= 150; id++) emulator.remove('jobs', id)
    })
    const { deleted } = await sync()
    expect(deleted).toHaveLength(150)
    expect(differences()).toEqual([])
  })

  it.each([
    ['each by itself where they are few', 20],
    ['in a list of all days where they are many', 150],
  ])('deletes rows of days that are gone without a word: %s', async (_what, rows) => {
    scenario = await startScenario(['absences'], { people: 0 })
    const { emulator, sync, differences, settings } = scenario
    Object.assign(settings, { future_days: 10, max_missing: '100%' })
    for (let row = 0; row < rows; row++) emulator.insert('absences', { date: '2026-11-03' })
    for (const date of ['2026-11-04', '2028-11-25']) emulator.insert('absences', { date })
    await sync()
    dueNow()
    await unheard(() => {
      for (let id = 1; id <= rows; id++) emulator.remove('absences', id)
    })
    const { deleted, warnings } = await sync()
    expect(deleted).toHaveLength(rows)
    expect(warnings).toEqual([
      expect.stringContaining('not in the list'),
      expect.stringContaining('were not found, and are deleted'),
    ])
    expect(differences()).toEqual([])
  })

  it('deletes the last rows of days, too', async () => {
    scenario = await startWithRows('absences', 3)
    const { emulator, sync, differences } = scenario
    await sync()
    dueNow()
    await unheard(() => {
      for (let id = 1; id <= 3; id++) emulator.remove('absences', id)
    })
    expect((await sync()).deleted).toHaveLength(3)
    expect(differences()).toEqual([])
  })

  it('keeps a row that was missing in one list', async () => {
    const { emulator, sync, differences } = await startJobs()
    emulator.fault('/jobs?continuationToken', 'short', { times: 1 })
    const { warnings, deleted } = await sync()
    expect([warnings, deleted]).toEqual([[], []])
    expect(differences()).toEqual([])
  })

  it('deletes a row that the service has marked as deleted without a report', async () => {
    scenario = await startWithRows('clockings', 4)
    const { emulator, sync, differences } = scenario
    await sync()
    dueNow()
    await unheard(() => emulator.softDelete('clockings', 2))
    expect((await sync()).deleted).toEqual([2])
    expect(differences()).toEqual([])
    emulator.advance({ hours: 25 })
    expect(await sync()).toMatchObject({ records: [], warnings: [] })
  })

  it('writes a row again that has changed without a report, and says so', async () => {
    const { emulator, sync, differences } = await startJobs()
    await unheard(() => emulator.update('jobs', 3, { name: { default: 'Changed' } }))
    const { warnings } = await sync()
    expect(warnings).toEqual([
      'jobs: the delta had not reported 1 row: changed in the list, and written again by the audit. [changes-not-reported]',
    ])
    expect(differences()).toEqual([])
  })

  it('writes it even if other rows have changed since', async () => {
    const { emulator, sync, differences } = await startJobs()
    await unheard(() => emulator.update('jobs', 3, { name: { default: 'Changed' } }))
    emulator.update('jobs', 4, { name: { default: 'Later' } })
    await sync()
    expect(differences()).toEqual([])
  })

  it('requests the changes, the list, and the changes again; and then nothing before it is due', async () => {
    const { sync } = await startJobs(3)
    const audited = await sync()
    const kinds = audited.requests.map((text) => text.replace(/=.*/, ''))
    const sandwich = ['/delta/jobs?deltaToken', '/jobs?', '/delta/jobs?deltaToken']
    expect(kinds).toEqual([...sandwich, '/jobs?'])
    expect(audited.warnings).toEqual([])
    expect((await sync()).requests).toHaveLength(1)
  })

  it('writes nothing, and lists once, if nothing has changed since the last audit', async () => {
    const { emulator, sync } = await startJobs(3)
    expect((await sync()).records).toHaveLength(3)
    emulator.advance({ hours: 25 })
    const { records, requests } = await sync()
    expect(records).toEqual([])
    expect(requests).toHaveLength(3)
  })

  it('writes only those months again that have changed', async () => {
    scenario = await startScenario(['clockings'], { people: 0 })
    const { emulator, sync, differences } = scenario
    const days = ['2026-06-30', '2026-08-01', '2026-08-31', '2026-09-01', '2026-11-02']
    for (const date of days) emulator.insert('clockings', { date })
    await sync()
    dueNow()
    await sync()
    await unheard(() => {
      emulator.update('clockings', 2, { comment: 'Changed' })
      emulator.insert('clockings', { date: '2026-11-03' })
    })
    const { records, requests } = await sync()
    const written = records.map(({ date }) => date).sort()
    expect(written).toEqual(['2026-08-01', '2026-08-31', '2026-11-02', '2026-11-03'])
    expect(requests.slice(-2).map((text) => text.match(/20\d\d-\d\d-\d\d/g))).toEqual([
      ['2026-08-01', '2026-08-31'],
      ['2026-11-01', '2026-11-30'],
    ])
    expect(differences()).toEqual([])
  })

  it('writes at the next audit what was missing in a second list', async () => {
    const { emulator, sync, differences } = await startJobs(3)
    await unheard(() => emulator.update('jobs', 1, { name: { default: 'Changed' } }))
    emulator.fault('/jobs', 'short', { skip: 1, times: 1 })
    await sync()
    expect(differences()).not.toEqual([])
    emulator.advance({ hours: 25 })
    await sync()
    expect(differences()).toEqual([])
  })

  it('is made once, not at each sync, after the clock was set back', async () => {
    scenario = await startWithRows('jobs', 3)
    const { emulator, sync, settings } = scenario
    await sync()
    settings['audit_days'] = 1
    emulator.advance({ hours: -72 })
    expect((await sync()).requests).toHaveLength(4)
    expect((await sync()).requests).toHaveLength(1)
  })

  it('reports no changes that happen while it lists', async () => {
    const { emulator, sync, differences, settings } = await startJobs(60)
    settings['max_missing'] = '100%'
    let seed = 0
    const { warnings, requests } = await sync({
      onRequest: () => {
        emulator.insert('jobs')
        emulator.update('jobs', 5 + seed, { name: { default: `Changed ${seed}` } })
        emulator.remove('jobs', 40 + seed++)
      },
    })
    expect(warnings).toEqual([])
    expect(seed).toBeGreaterThan(5)
    expect(requests.filter((text) => text === '/jobs?')).toHaveLength(2)
    // What happened behind the second answer of the delta the next one tells.
    expect((await sync()).warnings).toEqual([])
    expect(differences()).toEqual([])
  })

  it('continues with another token if one expires during it', async () => {
    const { emulator, sync, differences } = await startJobs(30)
    const { exitCode } = await sync({
      onRequest: (n) => n === 4 && emulator.advance({ hours: 2 }),
    })
    expect(exitCode).toBe(0)
    expect(differences()).toEqual([])
  })

  it('keeps a row of a page that was interrupted, if it has no address of its own', async () => {
    scenario = await startWithRows('assignments', 7, { paging: 'offset' })
    const { emulator, sync, differences } = scenario
    emulator.insert('assignments', { comments: 'x'.repeat(6_000_000) })
    await sync()
    dueNow()
    const second = /\/assignments\?.*continuationToken/
    emulator.fail(/\/assignments\/\d+/, 404)
    emulator.fault(second, 'truncate', { times: 1, afterBytes: 5_000_000 })
    let looks = 0
    const { deleted } = await sync({
      onRequest() {
        const { path, query } = emulator.requests.at(-1) ?? {}
        if (!second.test(`${path}?${query}`) || ++looks !== 2) return
        // The page that is asked for again begins a row later.
        emulator.remove('assignments', 1)
      },
    })
    expect([looks > 1, deleted]).toEqual([true, [1]])
    expect(differences()).toEqual([])
  })

  it('is made by the next sync, wherever one was killed during it', async () => {
    for (let lines = 1, isWhole = false; !isWhole; lines++) {
      const { emulator, sync, differences } = await startJobs(7)
      await unheard(() => {
        emulator.insert('jobs')
        emulator.remove('jobs', 3)
        emulator.update('jobs', 5, { name: { default: 'Changed' } })
      })
      const first = await sync({ killAfter: lines })
      isWhole = first.messages.length < lines
      await sync()
      expect(differences(), `killed after ${lines} lines`).toEqual([])
      await emulator.close()
    }
  })
})

describe('a row beyond future_days', () => {
  it('stays, because the service has it when it is requested by its id', async () => {
    scenario = await startScenario(['absences'], { people: 0 })
    const { emulator, sync, differences, settings } = scenario
    settings['future_days'] = 10
    emulator.insert('absences', { date: '2026-11-25' })
    emulator.insert('absences', { date: '2028-11-25' })
    await sync()
    dueNow()
    const { deleted, warnings } = await sync()
    expect([deleted, warnings]).toEqual([[], []])
    expect(differences()).toEqual([])
  })
})

describe('a row that has moved to another month without a report', () => {
  it('is written by the audit that finds it by its id, because the list was incomplete', async () => {
    scenario = await startScenario(['clockings'], { people: 0 })
    const { emulator, sync, differences } = scenario
    const days = ['2026-08-01', '2026-08-02', '2026-08-03', '2026-11-01', '2026-11-02']
    for (const date of days) emulator.insert('clockings', { date })
    await sync()
    dueNow()
    await sync()
    await unheard(() => emulator.update('clockings', 1, { date: '2026-11-04' }))
    emulator.fault(/^\/clockings/, 'short', { times: 2 })
    await sync()
    expect(differences()).toEqual([])
  })
})

describe('a row that has left the days of a list without a report', () => {
  it.each([
    ['before the start date', '2025-12-01', []],
    ['beyond future_days', '2028-11-25', ['2028-11-25']],
  ])('is found by itself and written: %s', async (_where, date, days) => {
    scenario = await startScenario(['clockings'], { people: 0 })
    const { emulator, sync, settings } = scenario
    Object.assign(settings, { start_date: '2026-01-01', future_days: 10 })
    for (const day of ['2026-11-01', '2026-11-02']) emulator.insert('clockings', { date: day })
    await sync()
    emulator.update('clockings', 2, { date })
    emulator.fault('/delta', 'empty', { times: 1 })
    await sync()
    dueNow()
    const { records } = await sync()
    const last = records.filter(({ id }) => id === 2)
    expect(
      last.filter((row) => row['_ab_cdc_deleted_at'] === null).map((row) => row['date']),
    ).toEqual(days)
    expect(last).toHaveLength(1)
  })
})

describe('a stream without a list', () => {
  it('is not audited, and a message says so', async () => {
    const { emulator, sync } = await startJobs()
    emulator.fail('/jobs', 404)
    const run = await sync()
    expect([run.exitCode, run.errors]).toEqual([0, []])
    expect(logs(run)).toContain(
      'jobs: the service offers no list of this stream, so it cannot be audited.',
    )
    expect((await sync()).requests).toHaveLength(1)
  })
})

describe('settings that change', () => {
  it('end an interrupted audit if audits are switched off', async () => {
    const { sync, settings, differences } = await startJobs(7)
    await sync({ killAfter: 6 })
    settings['audit_days'] = 0
    const { requests } = await sync()
    expect(requests.filter((text) => text.startsWith('/jobs'))).toEqual([])
    settings['audit_days'] = 1
    expect((await sync()).requests).toContain('/jobs?')
    expect(differences()).toEqual([])
  })

  it('that start the stream over make an audit unnecessary', async () => {
    const { sync, settings } = await startJobs(7)
    settings['field_rules'] = [{ stream: 'jobs', path: 'name', rule: 'drop' }]
    const { requests } = await sync()
    expect(requests.filter((text) => text === '/jobs?')).toEqual([])
  })
})

it('is followed by another one if a response to a delta link was lost during it', async () => {
  scenario = await startWithRows('people', 12, { usedDeltaLink: 'continues' })
  const { emulator, sync, differences } = scenario
  await sync()
  makeDue(scenario)
  await sync()
  makeDue(scenario)
  const { requests } = await sync({
    onRequest(n) {
      // After the token, the changes and the three pages of the list, the changes are requested once more.
      if (n !== 6) return
      emulator.update('people', 1)
      emulator.fault('/delta/people', 'after-last-byte', { times: 1 })
    },
  })
  expect(requests[4]).toContain('delta')
  await sync()
  expect(differences()).toEqual([])
})
