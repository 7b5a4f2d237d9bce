import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { type Scenario, startScenario, startWithRows, withState } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const start = async (streams: readonly string[], options?: EmulatorOptions) =>
  (scenario = await startScenario(streams, options))
const startWith = async (...settings: Parameters<typeof startWithRows>) =>
  (scenario = await startWithRows(...settings))

const LATER = { hours: 73 }
const isSingle = (request: string) => /\/\d+\?/.test(request)

describe('a list that is incomplete once', () => {
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
    expect(warnings.join()).toContain('a recheck found')
    expect(scenario.differences()).toEqual([])
  })

  it('deletes no row that was new when a copy was behind', async () => {
    const { emulator, sync } = await startWith('job_categories', 4)
    await sync()
    emulator.insert('job-categories')
    await sync()
    emulator.fault('/job-categories', 'stale', { times: 1 })
    expect((await sync()).deleted).toEqual([])
    expect(scenario.differences()).toEqual([])
  })

  it('is read again for a row that a deletion during it moved to an earlier page', async () => {
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

describe('a list that contradicts the first phase of a delta', () => {
  it.each([
    ['all rows', [1, 2, 3, 4]],
    ['one row', [1]],
  ])('keeps what is gone only until the next sync: %s', async (_which, gone) => {
    const { emulator, sync } = await startWith('employers', 4)
    await sync()
    for (const id of gone) emulator.remove('employers', id)
    emulator.advance(LATER)
    emulator.fail(/^\/employers\/\d/, 405)
    emulator.fault(/^\/employers[?]?(?!.*delta)/, 'stale', { times: 1, changes: gone.length })
    expect((await sync()).deleted).toEqual([])
    const { deleted } = await sync()
    expect(deleted).toEqual(gone)
    expect(scenario.differences()).toEqual([])
  })

  it('is read again if it is older than a change that moved a row into the window', async () => {
    const { emulator, settings, sync } = await startWith('calculated_totals', 2)
    settings['start_date'] = '2024-06-01'
    for (const id of [1, 2]) emulator.update('calculated-totals', id, { date: '2024-07-01' })
    await sync()
    emulator.update('calculated-totals', 1, { date: '2026-07-01' })
    emulator.fault(/^\/calculated-totals[?](?!.*delta)/, 'stale', { times: 1 })
    await sync()
    expect(scenario.differences()).toEqual([])
  })

  it('keeps such rows as long as there is no way to look', async () => {
    const { emulator, sync } = await startWith('employers', 4)
    await sync()
    emulator.remove('employers', 1)
    emulator.advance(LATER)
    emulator.fail(/^\/employers\/\d/, 405)
    emulator.fault(/^\/employers[?]?(?!.*delta)/, 'stale', { times: 1 })
    await sync()
    emulator.fail(/^\/employers[?]?(?!.*delta)/, 405, { times: 1 })
    expect((await sync()).deleted).toEqual([])
    expect((await sync()).deleted).toEqual([1])
    expect(scenario.differences()).toEqual([])
  })

  it('is requested again once for rows that it was right about', async () => {
    const { emulator, sync } = await startWith('employers', 4)
    await sync()
    emulator.advance(LATER)
    emulator.fault(/^\/employers[?]delta/, 'empty', { times: 1 })
    await sync()
    const second = await sync()
    expect(second.requests.filter(isSingle)).toHaveLength(4)
    const third = await sync()
    expect(third.requests.every((request) => request.startsWith('/delta/'))).toBe(true)
    expect(scenario.differences()).toEqual([])
  })
})

describe('rows that vanished', () => {
  it('are requested one by one, then deleted', async () => {
    const { emulator, sync } = await startWith('job_categories', 12, { byteOrderMark: true })
    await sync()
    for (const id of [2, 3, 9]) emulator.remove('job-categories', id)
    const { deleted, requests, messages } = await sync()
    expect(deleted).toEqual([2, 3, 9])
    expect(requests.filter(isSingle)).toHaveLength(4)
    expect(requests.filter((request) => !isSingle(request))).toHaveLength(2)
    expect(messages.map(({ log }) => log?.message).join()).toContain(
      'job_categories: this read did not find 3 rows that the warehouse has; a recheck did not find them either, so they are deleted.',
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

  it.each([
    ['a page in place of a record', '{"value":[{"id":1}]}'],
    ['what is not JSON', '<html></html>'],
    ['a part of a record', '{"id":1,"na'],
    ['nothing', ''],
  ])(
    'are listed again if a single record is %s: it is not requested again',
    async (_what, body) => {
      const { emulator, sync } = await startWith('job_categories', 12)
      await sync()
      emulator.remove('job-categories', 2)
      emulator.fail(/^\/job-categories\//, 200, { body })
      emulator.fault('/job-categories', 'short', { times: 1 })
      const { exitCode, deleted, requests } = await sync()
      expect(exitCode).toBe(0)
      expect(deleted).toEqual([2])
      expect(requests.filter(isSingle)).toHaveLength(1)
      expect(scenario.differences()).toEqual([])
    },
  )

  it('are found even if one is too large to be received as a whole', async () => {
    const { emulator, sync } = await startWith('job_categories', 4, { byteOrderMark: true })
    emulator.insert('job-categories', { comments: 'x'.repeat(9 * 1024 ** 2) })
    await sync()
    emulator.fault('/job-categories', 'stale', { times: 1 })
    expect(await sync()).toMatchObject({ exitCode: 0, deleted: [] })
    expect(scenario.differences()).toEqual([])
  })

  it('are listed again if an id at the end of a path is a reference', async () => {
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

  it('from the days of a stream because their date moved are deleted, although they exist', async () => {
    const { emulator, settings, sync } = await startWith('clockings', 4, { leavingRow: 'nothing' })
    settings['start_date'] = '2026-06-01'
    for (const id of [1, 2, 3, 4]) emulator.update('clockings', id, { date: '2026-07-01' })
    await sync()
    emulator.update('clockings', 2, { date: '2026-05-01' })
    emulator.advance(LATER)
    expect((await sync()).deleted).toEqual([2])
    expect(scenario.differences()).toEqual([])
  })

  it.each([
    ['no row at all', 4, 'empty'],
    ['half of many rows', 240, 'short'],
  ] as const)(
    'beyond future_days are requested after the list if the first phase had %s',
    async (_what, rows, kind) => {
      const { emulator, settings, sync } = await startWith('absences', rows)
      settings['future_days'] = 30
      for (let id = 1; id <= rows; id++) emulator.update('absences', id, { date: '2026-11-01' })
      emulator.update('absences', 1, { date: '2027-06-01' })
      await sync()
      emulator.advance(LATER)
      emulator.fault('/absences', kind, { times: Math.ceil(rows / 5) })
      expect((await sync()).deleted).toEqual([])
      expect(scenario.differences()).toEqual([])
    },
  )

  it('are requested even if the service has no list, and the first phase had no row', async () => {
    const { emulator, sync } = await startWith('departments', 4, { dialect: 'specification' })
    await sync()
    emulator.remove('departments', 1)
    emulator.advance(LATER)
    emulator.fault('/departments', 'empty', { times: 1 })
    expect((await sync()).deleted).toEqual([1])
    expect(scenario.differences()).toEqual([])
  })

  it('are listed again if records have no addresses of their own', async () => {
    const { emulator, sync } = await startWith('job_category_histories', 4)
    await sync()
    emulator.remove('job-category-histories', 2)
    const { deleted, requests } = await sync()
    expect(deleted).toEqual([2])
    expect(requests.filter(isSingle)).toEqual([])
  })

  it('of references are looked for only in their own collections', async () => {
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

  it('are looked for in a list if they cannot be requested one by one', async () => {
    const { emulator, sync } = await startWith('people', 12)
    await sync()
    emulator.advance(LATER)
    emulator.fault('/people', 'short', { times: 3 })
    emulator.fail(/^\/people\//, 503)
    expect(await sync()).toMatchObject({ exitCode: 0, deleted: [] })
    expect(scenario.differences()).toEqual([])
  })
})

describe('the first load of a delta whose pages are offsets', () => {
  it.each(['delete', 'update'] as const)(
    'lists rows once that a removed row moved to earlier pages, and writes no row twice (%s)',
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

  it('lists once even if it was interrupted', async () => {
    const { emulator, sync } = await startWith('people', 12, { paging: 'offset' })
    await sync({
      killAfter: 12,
      onRequest: (n) => n === 3 && emulator.remove('people', 1),
    })
    expect((await sync()).exitCode).toBe(0)
    expect(scenario.differences()).toEqual([])
  })

  it('lists rows once if a date has left its days until the next sync went on', async () => {
    const { emulator, settings, sync } = await startWith('clockings', 12, { paging: 'offset' })
    settings['start_date'] = '2026-06-01'
    const move = (date: string) => emulator.update('clockings', 1, { date })
    for (let id = 1; id <= 12; id++) emulator.update('clockings', id, { date: '2026-07-01' })
    await sync({ killAfter: 20, onRequest: (n) => n === 3 && move('2026-05-01') })
    move('2026-07-02')
    expect((await sync()).exitCode).toBe(0)
    expect(scenario.differences()).toEqual([])
  })

  it('lists a collection once that had no row at all', async () => {
    const { emulator, sync } = await startWith('people', 4)
    emulator.fault('/people', 'empty', { times: 1 })
    await sync()
    expect(scenario.differences()).toEqual([])
  })

  it.each([
    ['people', 'a row without a date was changed', 'update'],
    ['clockings', 'a row was added', 'insert'],
  ] as const)('lists nothing of %s if only %s', async (collection, _what, change) => {
    const { emulator, sync } = await startWith(collection, 12, { paging: 'offset' })
    const { requests } = await sync({
      onRequest(n) {
        if (n !== 3) return
        if (change === 'update') emulator.update(collection, 1)
        else emulator.insert(collection)
      },
    })
    expect(requests.filter((text) => !text.includes('delta'))).toEqual([])
    expect(scenario.differences()).toEqual([])
  })
})

describe('a delta that was offered before', () => {
  it.each([404, 405])(
    'and is refused once (%d) fails as transient and keeps its rows',
    async (status) => {
      const { emulator, sync } = await startWith('absences', 4)
      emulator.insert('absences', { date: '2029-11-20' })
      await sync()
      emulator.advance(LATER)
      emulator.fail(/&delta$/, status, { times: 1 })
      const { exitCode, errors } = await sync()
      expect(exitCode).toBe(1)
      expect(errors.join()).toContain('which it offered before')
      const { deleted } = await sync()
      expect(deleted).toEqual([])
      expect(scenario.differences()).toEqual([])
    },
  )

  it('is recognized by its position in an older state', async () => {
    const { emulator, sync } = await startWith('people', 4)
    await sync()
    scenario.platform = withState(
      scenario.platform,
      'people',
      ({ delta_offered: _, ...older }) => older,
    )
    emulator.advance(LATER)
    emulator.fail(/\?delta$/, 404, { times: 1 })
    expect((await sync()).exitCode).toBe(1)
    await sync()
    expect(scenario.differences()).toEqual([])
  })
})

it('a delta that is refused at its first start is started by the next sync if there is no list instead', async () => {
  const { emulator, sync } = await start(['access_clockings'], { dialect: 'specification' })
  emulator.insert('access-clockings', { date: '2026-11-01' })
  emulator.fail(/&delta$/, 405, { times: 1 })
  expect((await sync()).exitCode).toBe(1)
  expect((await sync()).exitCode).toBe(0)
  expect(scenario.differences()).toEqual([])
})

it('a dated stream without a delta keeps the days that it has listed if future_days is reduced', async () => {
  const { emulator, settings, sync } = await startWith('absences', 2)
  emulator.insert('absences', { date: '2027-09-01' })
  emulator.fail(/&delta$/, 404)
  settings['future_days'] = 400
  await sync()
  settings['future_days'] = 10
  const { deleted } = await sync()
  expect(deleted).toEqual([])
  emulator.remove('absences', 3)
  expect((await sync()).deleted).toEqual([3])
  expect(scenario.differences()).toEqual([])
})
