import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { personCodes } from '../../src/privacy/person-codes.ts'
import {
  changeInSilence,
  makeDue,
  type Scenario,
  startScenario,
  startWithRows,
  withState,
} from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

const start = async (...settings: Parameters<typeof startWithRows>) =>
  (scenario = await startWithRows(...settings))

const LATER = { hours: 73 }
const lists = (requests: readonly string[]) =>
  requests.filter((text) => !text.includes('delta') && !/\/\d+\?/.test(text))

/** Pages between which a changed row moves to the end. */
const MOVING = { paging: 'offset', listOrder: 'version' } as const

/** 40 rows in pages of five, of which some that were read are edited at each request. */
async function editedWhileRead(stream: string, options: EmulatorOptions): Promise<string[]> {
  const { emulator, settings, sync } = await start(stream, 40, { paging: 'offset', ...options })
  settings['audit_days'] = 0
  const collection = stream.replaceAll('_', '-')
  let edits = 0
  const { requests } = await sync({
    onRequest(n) {
      if (n < 3 || edits === 5) return
      emulator.update(collection, ++edits, stream === 'clockings' ? { date: '2026-11-19' } : {})
    },
  })
  expect(edits).toBe(5)
  return lists(requests)
}

describe('a first load of several pages, of which rows that were read are edited', () => {
  it.each([
    ['clockings', 'version'],
    ['clockings', 'date'],
    ['clockings', 'random'],
    ['people', 'version'],
    ['people', 'random'],
  ] as const)('of %s by %s loses no row', async (stream, listOrder) => {
    const listed = await editedWhileRead(stream, { listOrder })
    expect(listed.length).toBeGreaterThan(0)
    expect(scenario.differences()).toEqual([])
  })

  it.each(['clockings', 'people'])(
    'of %s by id loses none, and asks for no list',
    async (stream) => {
      expect(await editedWhileRead(stream, { listOrder: 'id' })).toEqual([])
      expect(scenario.differences()).toEqual([])
    },
  )

  it('of a stream without a delta loses none: it is listed once more', async () => {
    const listed = await editedWhileRead('sectors', { listOrder: 'version' })
    expect(listed.filter((text) => text === '/sectors?')).toHaveLength(2)
    expect(scenario.differences()).toEqual([])
  })

  it('as a full refresh loses none', async () => {
    const { emulator, sync } = await start('people', 40, MOVING)
    const { records } = await sync({
      mode: 'full_refresh',
      onRequest(n) {
        if (n === 3 || n === 4) emulator.update('people', n)
      },
    })
    expect(new Set(records.map(({ id }) => id)).size).toBe(40)
  })

  it.each([
    ['changed', { comment: 'x' }],
    ['restored', { status: 'Accepted' }],
  ])('loses none if one that was marked as deleted is %s', async (_how, patch) => {
    const { emulator, settings, sync } = await start('clockings', 40, MOVING)
    settings['audit_days'] = 0
    emulator.softDelete('clockings', 1)
    for (let id = 2; id <= 40; id++) emulator.update('clockings', id)
    await sync({ onRequest: (n) => n === 3 && emulator.update('clockings', 1, patch) })
    expect(scenario.differences()).toEqual([])
  })

  it('loses none if one of a suppressed person is edited', async () => {
    const { emulator, settings, sync } = await start('people', 40, MOVING)
    const privacy_key = 'Wq3-xkT9_mB7vZ2p'
    const { of } = personCodes({ key: privacy_key, tenant: String(emulator.config()['tenant']) })
    Object.assign(settings, { audit_days: 0, privacy_key, suppressed_people: [of('1')] })
    const { records } = await sync({ onRequest: (n) => n === 3 && emulator.update('people', 1) })
    expect(new Set(records.map(({ id }) => id)).size).toBe(39)
  })

  it('loses none if the list that is due has failed, even without audits', async () => {
    const { emulator, settings, sync } = await start('people', 40, MOVING)
    Object.assign(settings, { retry_minutes: 0, audit_days: 0 })
    emulator.fail(/^\/people(?!.*delta)/, 403)
    let edits = 0
    await sync({ onRequest: (n) => n > 2 && edits < 5 && emulator.update('people', ++edits) })
    expect(scenario.differences()).not.toEqual([])
    expect(lists((await sync()).requests)).toEqual([])
    emulator.clearFaults()
    emulator.advance({ hours: 25 })
    await sync()
    expect(scenario.differences()).toEqual([])
    emulator.advance({ hours: 25 })
    expect(lists((await sync()).requests)).toEqual([])
  })

  it('after dead links deletes what is gone, and loses no other row', async () => {
    const { emulator, settings, sync } = await start('people', 40, MOVING)
    settings['audit_days'] = 0
    await sync()
    emulator.remove('people', 39)
    emulator.insert('people', { id: 41 })
    emulator.advance(LATER)
    const { deleted } = await sync({
      onRequest(n) {
        if (n > 2 && n < 8) emulator.update('people', n)
      },
    })
    expect(deleted).toEqual([39])
    expect(scenario.differences()).toEqual([])
  })
})

describe('an answer with an upsert and a Delete of one row', () => {
  const deleted = { changeType: 'Delete', data: { id: 1, changeVersion: '00000A10000000000000' } }

  it.each([
    ['the Delete last', true, false],
    ['the Delete first', true, true],
    ['the Delete last, and the row gone', false, false],
    ['the Delete first, and the row gone', false, true],
  ])('is not taken at its word: %s', async (_, lives, isFirst) => {
    const { emulator, sync, platform } = await start('jobs', 3)
    await sync()
    const { link } = platform.stateOf('jobs') as unknown as { link: string }
    emulator.update('jobs', 1, { name: { default: 'New' } })
    const data = emulator.all('jobs').find(({ id }) => id === 1)
    if (!lives) emulator.remove('jobs', 1)
    const upsert = { changeType: 'InsertOrUpdate', data }
    const body = { value: isFirst ? [deleted, upsert] : [upsert, deleted], deltaLink: link }
    emulator.respond('/delta/jobs', () => ({ status: 200, body: JSON.stringify(body) }), {
      times: 1,
    })
    const { requests } = await sync()
    expect(requests.filter((text) => text === '/jobs/1?').length).toBeGreaterThan(0)
    expect(scenario.differences()).toEqual([])
  })
})

describe('a service that is restored to the content of the last audit', () => {
  it('is found again by the audit after the one that takes its list for an old one', async () => {
    const { emulator, sync } = await start('jobs', 30)
    await sync()
    makeDue(scenario)
    await sync()
    for (let id = 1; id <= 20; id++) emulator.update('jobs', id, { name: { default: `${id}` } })
    await sync()
    emulator.revert('jobs', 20)
    emulator.advance({ hours: 25 })
    expect((await sync()).warnings.join()).toContain('is older than what the delta has reported')
    emulator.advance({ hours: 25 })
    await sync()
    expect(scenario.differences()).toEqual([])
    emulator.advance({ hours: 25 })
    expect((await sync()).records).toEqual([])
  })
})

describe('a delta link that covers only the changes since it was issued', () => {
  it('leaves a row stale for a week at most', async () => {
    const { emulator, sync } = await start('people', 20, { deltaLinkCovers: 'issued' })
    await sync({ onRequest: (n) => n === 4 && emulator.update('people', 1) })
    expect(scenario.differences()).not.toEqual([])
    for (let day = 0; day < 7; day++) {
      emulator.advance({ hours: 24 })
      await sync()
    }
    expect(scenario.differences()).toEqual([])
  })
})

describe('a list beside a delta that works', () => {
  it.each([400, 403, 409, 414, 500])(
    'that answers %d makes no sync fail, and is not asked for again at the next one',
    async (status) => {
      const { emulator, settings, sync } = await start('clockings', 12)
      settings['retry_minutes'] = 0
      await sync()
      makeDue(scenario)
      emulator.update('clockings', 1)
      emulator.fail(/^\/clockings\?(?!.*delta)/, status)
      const first = await sync()
      expect([first.exitCode, first.errors]).toEqual([0, []])
      expect(first.warnings.join()).toContain(
        'a list that it needs beside its changes could not be read',
      )
      const second = await sync()
      expect([second.exitCode, second.warnings, lists(second.requests)]).toEqual([0, [], []])
      expect(scenario.differences()).toEqual([])
      emulator.clearFaults()
      emulator.advance({ hours: 25 })
      expect(lists((await sync()).requests)).not.toEqual([])
    },
  )

  it('leaves rows that a first phase has missed as they are until somebody can look for them', async () => {
    const { emulator, settings, sync } = await start('assignments', 12)
    settings['retry_minutes'] = 0
    await sync()
    emulator.remove('assignments', 2)
    emulator.advance(LATER)
    emulator.fail(/^\/assignments\/\d/, 403)
    emulator.fail(/^\/assignments\?(?!.*delta)/, 403)
    expect(await sync()).toMatchObject({ exitCode: 0, deleted: [] })
    expect(await sync()).toMatchObject({ exitCode: 0, deleted: [] })
    emulator.clearFaults()
    expect((await sync()).deleted).toEqual([2])
    expect(scenario.differences()).toEqual([])
  })

  it('always has both ends, and at most window_days', async () => {
    const { emulator, settings, sync } = await start('clockings', 150)
    Object.assign(settings, { start_date: '2024-01-01', window_days: 100, max_missing: '100%' })
    await sync()
    makeDue(scenario)
    for (let id = 1; id <= 120; id++) emulator.remove('clockings', id)
    emulator.fault('/delta', 'empty', { times: 1 })
    const { requests, deleted } = await sync()
    expect(deleted).toHaveLength(120)
    for (const text of lists(requests).filter((one) => !one.includes('continuationToken'))) {
      const [from = '', until = ''] = text.match(/20\d\d-\d\d-\d\d/g) ?? []
      const days = (Date.parse(until) - Date.parse(from)) / 86_400_000
      expect(days >= 0 && days < 100, text).toBe(true)
    }
  })
})

describe('a clock of the service that shows a time far away', () => {
  it('leaves a state with which the next sync goes on', async () => {
    const { emulator, sync } = await start('people', 4)
    emulator.options.dateHeader = new Date('2150-01-01T00:00:00Z').toUTCString()
    expect((await sync()).exitCode).toBe(0)
    emulator.options.dateHeader = undefined
    emulator.remove('people', 1)
    const { exitCode, deleted, warnings } = await sync()
    expect([exitCode, deleted, warnings]).toEqual([0, [1], []])
    expect(scenario.differences()).toEqual([])
  })
})

describe('a row that leaves the window in silence', () => {
  it('is deleted within a week, by the default of audit_days', async () => {
    scenario = await startScenario(['clockings'], { people: 0, leavingRow: 'nothing' })
    const { emulator, settings, sync } = scenario
    settings['start_date'] = '2026-06-01'
    for (const date of ['2026-07-01', '2026-07-02']) emulator.insert('clockings', { date })
    await sync()
    emulator.update('clockings', 1, { date: '2026-05-01' })
    const deleted: unknown[] = []
    for (let day = 0; day < 8; day++) {
      emulator.advance({ hours: 24 })
      deleted.push(...(await sync()).deleted)
    }
    expect(deleted).toEqual([1])
  })
})

describe('a second look', () => {
  it('begins anew if a sync was killed during it', async () => {
    for (let lines = 5, isWhole = false; !isWhole; lines += 2) {
      const { emulator, settings, sync, differences } = await start('jobs', 12)
      settings['audit_days'] = 0
      emulator.fault('/jobs', 'empty', { times: 1 })
      const first = await sync({ killAfter: lines })
      isWhole = first.messages.length < lines
      await sync()
      expect(differences(), `killed after ${lines} lines`).toEqual([])
      await emulator.close()
    }
  })

  it.each([404, 405])(
    'deletes nothing if the service answers one of its lists, and then %d',
    async (status) => {
      const { emulator, settings, sync } = await start('clockings', 30)
      Object.assign(settings, { start_date: '2026-01-01', window_days: 100, retry_minutes: 0 })
      await sync()
      emulator.advance(LATER)
      emulator.fault('/clockings', 'empty', { times: 1 })
      emulator.fail(/^\/clockings\/\d/, 404)
      emulator.fail(/^\/clockings\?(?!.*delta)/, status, { skip: 1, times: 9 })
      expect(await sync()).toMatchObject({ exitCode: 0, deleted: [] })
      emulator.clearFaults()
      await sync()
      expect(scenario.differences()).toEqual([])
    },
  )

  it('is made twice for a row that a comparison of other days has not looked for', async () => {
    const { emulator, settings, sync, platform } = await start('clockings', 3)
    Object.assign(settings, { start_date: '2024-06-01', history_refresh_days: 1, audit_days: 0 })
    await sync()
    emulator.advance({ hours: 25 })
    const { link } = platform.stateOf('clockings') as unknown as { link: string }
    const data = emulator.all('clockings').find(({ id }) => id === 1)
    const value = [
      { changeType: 'InsertOrUpdate', data },
      { changeType: 'Delete', data: { id: 1 } },
    ]
    const body = JSON.stringify({ value, deltaLink: link })
    emulator.respond('/delta/clockings', () => ({ status: 200, body }), { times: 1 })
    emulator.fail('/clockings/1', 404, { times: 1 })
    expect((await sync()).deleted).toEqual([])
    expect(scenario.differences()).toEqual([])
  })
})

describe('an audit', () => {
  it('trusts no fingerprint of rows that a killed audit may have repaired', async () => {
    for (const lines of [13, 15, 17, 19, 21, 23]) {
      const { emulator, sync, differences } = await start('jobs', 12)
      await sync()
      makeDue(scenario)
      await sync()
      await changeInSilence(scenario, () => emulator.update('jobs', 8, { name: { default: 'X' } }))
      await sync({ killAfter: lines })
      emulator.revert('jobs', 1)
      for (let i = 0; i < 3; i++) {
        emulator.advance({ hours: 25 })
        await sync()
      }
      expect(differences(), `killed after ${lines} lines`).toEqual([])
      await emulator.close()
    }
  })

  it('trusts no fingerprint of a state that does not know what was written since', async () => {
    const { emulator, sync } = await start('clockings', 12)
    await sync()
    makeDue(scenario)
    await sync()
    emulator.update('clockings', 8, { comment: 'New' })
    await sync()
    scenario.platform = withState(
      scenario.platform,
      'clockings',
      ({ written_ids: _, compared_at: __, ...older }) => older,
    )
    emulator.revert('clockings', 1)
    for (let i = 0; i < 3; i++) {
      emulator.advance({ hours: 25 })
      await sync()
    }
    expect(scenario.differences()).toEqual([])
  })

  it('writes nothing after one that failed, if nothing has changed', async () => {
    const { emulator, settings, sync } = await start('jobs', 12)
    settings['retry_minutes'] = 0
    await sync()
    for (let i = 0; i < 2; i++) {
      makeDue(scenario)
      await sync()
    }
    makeDue(scenario)
    emulator.fail(/^\/jobs\?(?!.*delta)/, 403)
    await sync()
    emulator.clearFaults()
    makeDue(scenario)
    expect((await sync()).records).toEqual([])
  })
})
