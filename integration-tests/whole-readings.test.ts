import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../emulator/emulator.ts'
import { type Scenario, startScenario } from './histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

async function start(streams: readonly string[], options?: EmulatorOptions): Promise<Scenario> {
  scenario = await startScenario(streams, options)
  return scenario
}

/** A stream with so many rows of its own. */
async function startWith(
  stream: string,
  rows: number,
  options?: EmulatorOptions,
): Promise<Scenario> {
  await start([stream], { people: 0, pageSize: 5, ...options })
  for (let row = 0; row < rows; row++) scenario.emulator.insert(stream.replaceAll('_', '-'))
  return scenario
}

const LATER = { hours: 73 }
const isSingle = (request: string) => /\/\d+\?/.test(request)

describe('a list that is not whole once', () => {
  it.each([
    ['job_categories', 'short', 12],
    ['job_categories', 'empty', 12],
    ['job_category_histories', 'short', 12],
    ['job_categories', 'short', 240],
    ['people', 'short', 12],
    ['people', 'empty', 12],
    ['people', 'short', 240],
  ] as const)('of %s, %s, deletes none of %d rows', async (stream, kind, rows) => {
    const { emulator, sync } = await startWith(stream, rows)
    await sync()
    emulator.advance(LATER)
    const times = kind === 'empty' ? 1 : Math.ceil(rows / 5)
    emulator.fault(`/${stream.replaceAll('_', '-')}`, kind, { times })
    const { exitCode, deleted, warnings } = await sync()
    expect(exitCode).toBe(0)
    expect(deleted).toEqual([])
    expect(warnings.join()).toContain('a second look found')
    expect(scenario.differences()).toEqual([])
  })

  it('deletes no row that was new on the day of a lagging copy', async () => {
    const { emulator, sync } = await startWith('job_categories', 4)
    await sync()
    emulator.insert('job-categories')
    await sync()
    emulator.fault('/job-categories', 'stale', { times: 1 })
    expect((await sync()).deleted).toEqual([])
    expect(scenario.differences()).toEqual([])
  })

  it('is read once more for what a deletion in the middle of it moved away', async () => {
    const { emulator, sync } = await startWith('job_category_histories', 12, { paging: 'offset' })
    await sync()
    const { deleted } = await sync({
      onRequest: (n) => n === 3 && emulator.remove('job-category-histories', 1),
    })
    expect(deleted).toEqual([])
    await sync()
    expect(scenario.differences()).toEqual([])
  })
})

describe('rows that vanished', () => {
  it('are asked for one by one, then deleted', async () => {
    const { emulator, sync } = await startWith('job_categories', 12, { byteOrderMark: true })
    await sync()
    for (const id of [2, 3, 9]) emulator.remove('job-categories', id)
    const { deleted, requests, messages } = await sync()
    expect(deleted).toEqual([2, 3, 9])
    expect(requests.filter(isSingle)).toHaveLength(4)
    expect(messages.map(({ log }) => log?.message).join()).toContain(
      'job_categories: this reading did not meet 3 rows that the warehouse has; a second look did not find them either, so they are deleted.',
    )
    expect(scenario.differences()).toEqual([])
  })

  it.each([
    [403, 'have rights of their own'],
    [404, 'are not offered'],
    [405, 'are not offered'],
  ])('are listed once more where single records answer %d: they %s', async (status) => {
    const { emulator, sync } = await startWith('job_categories', 12)
    await sync()
    emulator.remove('job-categories', 2)
    emulator.fail(/^\/job-categories\//, status)
    emulator.fault('/job-categories', 'short', { times: 1 })
    const { deleted, requests } = await sync()
    expect(deleted).toEqual([2])
    expect(new Set(requests.filter(isSingle)).size).toBe(1)
    expect(scenario.differences()).toEqual([])
  })

  it('are listed once more where an id at the end of a path is a reference', async () => {
    const { emulator, settings, sync } = await startWith('people', 4)
    settings['external_references'] = [{ collection: 'people', names: ['hr'] }]
    await sync()
    emulator.remove('people', 2)
    emulator.advance(LATER)
    const { deleted, requests } = await sync()
    expect(deleted).toEqual([2])
    expect(requests.filter(isSingle)).toEqual([])
    expect(scenario.differences()).toEqual([])
  })

  it('from the days of a stream because their day moved are deleted, though they live', async () => {
    const { emulator, settings, sync } = await startWith('clockings', 4, { leavingRow: 'nothing' })
    settings['start_date'] = '2026-06-01'
    for (const id of [1, 2, 3, 4]) emulator.update('clockings', id, { date: '2026-07-01' })
    await sync()
    emulator.update('clockings', 2, { date: '2026-05-01' })
    emulator.advance(LATER)
    expect((await sync()).deleted).toEqual([2])
    expect(scenario.differences()).toEqual([])
  })

  it('of references are looked for in their own collections alone', async () => {
    const { emulator, sync } = await start(['external_references'])
    for (const collection of ['people', 'departments', 'jobs'])
      emulator.setReference(collection, 'hr', 'one', 1)
    await sync()
    emulator.removeReference('jobs', 'hr', 'one')
    const { requests } = await sync()
    const isOf = (name: string) => (text: string) => text === `/external-references/${name}?`
    expect(requests.filter(isOf('jobs'))).toHaveLength(2)
    expect(requests.filter(isOf('people'))).toHaveLength(1)
    expect(scenario.differences()).toEqual([])
  })

  it('before the window of a delta are looked for in the lists of those days', async () => {
    const { emulator, settings, sync } = await startWith('clockings', 6)
    Object.assign(settings, { start_date: '2024-06-01', history_refresh_days: 1 })
    for (const id of [1, 2, 3, 4]) emulator.update('clockings', id, { date: '2024-07-01' })
    await sync()
    emulator.advance({ hours: 25 })
    emulator.remove('clockings', 1)
    emulator.fault('/clockings', 'empty', { times: 1 })
    const { deleted } = await sync()
    expect(deleted).toEqual([1])
    expect(scenario.differences()).toEqual([])
  })

  it('are looked for by the next sync, when one dies before', async () => {
    const { emulator, sync } = await startWith('people', 12)
    await sync()
    emulator.advance(LATER)
    emulator.fault('/people', 'short', { times: 3 })
    emulator.fail(/^\/people\//, 503)
    expect((await sync()).exitCode).toBe(1)
    emulator.clearFaults()
    expect((await sync()).deleted).toEqual([])
    expect(scenario.differences()).toEqual([])
  })
})

describe('the first load of a delta whose pages are offsets', () => {
  it.each(['delete', 'update'] as const)(
    'lists once what a row that leaves moved away, and writes no row twice (%s)',
    async (leavingRow) => {
      const { emulator, settings, sync } = await startWith('clockings', 12, {
        paging: 'offset',
        leavingRow,
      })
      settings['start_date'] = '2026-06-01'
      for (let id = 1; id <= 12; id++) emulator.update('clockings', id, { date: '2026-07-01' })
      const { records } = await sync({
        onRequest(n) {
          if (n !== 3) return
          if (leavingRow === 'delete') emulator.remove('clockings', 1)
          else emulator.update('clockings', 1, { date: '2026-05-01' })
        },
      })
      expect(scenario.differences()).toEqual([])
      expect(records.length).toBeLessThanOrEqual(13)
    },
  )

  it('lists once also when it was interrupted', async () => {
    const { emulator, sync } = await startWith('people', 12, { paging: 'offset' })
    await sync({
      killAfter: 12,
      onRequest: (n) => n === 3 && emulator.remove('people', 1),
    })
    expect((await sync()).exitCode).toBe(0)
    expect(scenario.differences()).toEqual([])
  })

  it('lists once a collection that showed no row at all', async () => {
    const { emulator, sync } = await startWith('people', 4)
    emulator.fault('/people', 'empty', { times: 1 })
    await sync()
    expect(scenario.differences()).toEqual([])
  })

  it('lists nothing when no row left', async () => {
    const { emulator, sync } = await startWith('people', 12, { paging: 'offset' })
    const { requests } = await sync({
      onRequest: (n) => n === 3 && emulator.update('people', 1),
    })
    expect(requests.filter((text) => !text.includes('delta'))).toEqual([])
    expect(scenario.differences()).toEqual([])
  })
})
