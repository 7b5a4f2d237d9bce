import { afterEach, describe, expect, it } from 'vitest'
import { listsOf, type Scenario, startWithRows } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

describe('a recheck that is older than the changes of an earlier sync', () => {
  it('brings back a deleted row only until the next sync: a list that is due since the first load', async () => {
    scenario = await startWithRows('people', 12, { paging: 'offset' })
    const { emulator, sync, differences } = scenario
    emulator.fail(listsOf('people'), 403)
    await sync({ onRequest: (n) => n === 3 && emulator.remove('people', 1) })
    emulator.clearFaults()
    emulator.advance({ hours: 19, minutes: 50 })
    emulator.remove('people', 5)
    expect((await sync()).deleted).toEqual([5])
    emulator.advance({ minutes: 30 })
    emulator.fault(listsOf('people'), 'stale', { changes: 1 })
    expect((await sync()).records.map(({ id }) => id)).toEqual([5, 6])
    emulator.clearFaults()
    expect([(await sync()).deleted, differences()]).toEqual([[5], []])
    const { requests } = await sync()
    expect(requests.every((request) => request.startsWith('/delta/'))).toBe(true)
  })

  it('brings back no deleted rows if it is for others: a list for unconfirmed rows', async () => {
    scenario = await startWithRows('calculated_totals', 300, { pageSize: 100 })
    const { emulator, sync, differences } = scenario
    await sync()
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/calculated-totals[?].*delta/, 'short', { times: 1 })
    await sync()
    for (let id = 101; id <= 220; id++) emulator.remove('calculated-totals', id)
    emulator.fail(listsOf('calculated-totals'), 403)
    expect((await sync()).deleted).toHaveLength(120)
    emulator.clearFaults()
    emulator.fault(listsOf('calculated-totals'), 'stale', { changes: 120 })
    expect((await sync()).requests.length).toBeGreaterThan(2)
    expect(differences()).toEqual([])
    const { requests } = await sync()
    expect(requests.every((request) => request.startsWith('/delta/'))).toBe(true)
  })

  it('does not question rows that the changes after the list report', async () => {
    scenario = await startWithRows('calculated_totals', 12)
    const { emulator, sync, differences } = scenario
    await sync()
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/calculated-totals[?].*delta/, 'short', { times: 1 })
    await sync()
    await sync({ onRequest: (n) => n === 3 && emulator.insert('calculated-totals') })
    const { requests } = await sync()
    expect(requests.every((request) => request.startsWith('/delta/'))).toBe(true)
    expect(differences()).toEqual([])
  })

  it('overwrites no row that the delta has just reported: a list', async () => {
    scenario = await startWithRows('calculated_totals', 30, { pageSize: 100 })
    const { emulator, sync, settings, differences } = scenario
    settings['start_date'] = '2024-01-01'
    for (let id = 1; id <= 30; id++)
      emulator.update('calculated-totals', id, { date: id <= 15 ? '2024-03-10' : '2026-08-10' })
    await sync()
    emulator.update('calculated-totals', 3, { date: '2026-08-11' })
    emulator.fault(listsOf('calculated-totals'), 'stale', { changes: 1 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('overwrites no row that the delta has just reported: the answer for one row', async () => {
    scenario = await startWithRows('jobs', 12, { pageSize: 100, deltaLog: true })
    const { emulator, sync, differences } = scenario
    await sync()
    const old = emulator.all('jobs')[2] ?? {}
    emulator.remove('jobs', 3)
    emulator.restore('jobs', { ...old, externalCode: 'new' })
    emulator.fail('/jobs/3', 200, { body: JSON.stringify(old) })
    const { requests } = await sync()
    expect(requests).toContain('/jobs/3?')
    expect(differences()).toEqual([])
  })

  it('keeps a deleted row only until the next sync: the answer for one row', async () => {
    scenario = await startWithRows('jobs', 12, { pageSize: 100 })
    const { emulator, sync, differences } = scenario
    await sync()
    const old = emulator.all('jobs')[4]
    emulator.remove('jobs', 5)
    emulator.advance({ hours: 73 })
    emulator.fail('/jobs/5', 200, { body: JSON.stringify(old), times: 1 })
    await sync()
    expect([(await sync()).deleted, differences()]).toEqual([[5], []])
  })

  it('deletes no row that it has on a day that is not kept', async () => {
    scenario = await startWithRows('clockings', 4)
    const { emulator, sync, settings, differences } = scenario
    settings['start_date'] = '2026-06-01'
    for (const id of [1, 3, 4]) emulator.update('clockings', id, { date: '2026-07-01' })
    emulator.update('clockings', 2, { date: '2026-05-01' })
    await sync()
    const old = emulator.all('clockings').find(({ id }) => id === 2)
    emulator.update('clockings', 2, { date: '2026-07-02' })
    await sync()
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/clockings[?].*delta/, 'short', { times: 1 })
    emulator.fail('/clockings/2', 200, { body: JSON.stringify(old) })
    const { requests, deleted } = await sync()
    expect(requests).toContain('/clockings/2?')
    expect([deleted, differences()]).toEqual([[], []])
  })
})

describe('the answer for one row', () => {
  it('proves nothing about it if it is another row', async () => {
    scenario = await startWithRows('jobs', 12, { pageSize: 100 })
    const { emulator, sync, settings, differences } = scenario
    settings['max_missing'] = '100%'
    await sync()
    emulator.advance({ hours: 73 })
    emulator.fault(/^\/jobs[?].*delta/, 'short', { times: 1 })
    emulator.fail(/^\/jobs\/\d+/, 200, { body: JSON.stringify(emulator.all('jobs')[0]) })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('is replaced by a list if it always fails, also in a stream that is listed', async () => {
    scenario = await startWithRows('job_categories', 20, { pageSize: 100 })
    const { emulator, sync, differences } = scenario
    await sync()
    emulator.remove('job-categories', 5)
    emulator.fail('/job-categories/5', 500)
    const { exitCode, deleted } = await sync()
    expect([exitCode, deleted, differences()]).toEqual([0, [5], []])
  })
})
