import { afterEach, describe, expect, it } from 'vitest'
import { type Scenario, startWithRows, withState } from '../histories/scenario.ts'

let scenario: Scenario
afterEach(() => scenario.emulator.close())

async function startWith(stream: string, rows: number): Promise<Scenario> {
  scenario = await startWithRows(stream, rows)
  return scenario
}

describe('a full refresh', () => {
  it.each(['people', 'job_categories', 'clockings'])(
    'of %s without any row is listed again',
    async (stream) => {
      const { emulator, settings, sync } = await startWith(stream, 4)
      settings['start_date'] = '2026-10-01'
      if (stream === 'clockings')
        for (const id of [1, 2, 3, 4]) emulator.update(stream, id, { date: '2026-10-05' })
      emulator.fault(`/${stream.replaceAll('_', '-')}`, 'empty', { times: 1 })
      const { records } = await sync({ mode: 'full_refresh' })
      expect(records).toHaveLength(4)
      expect(scenario.differences()).toEqual([])
    },
  )

  it('with rows is listed once', async () => {
    const { sync } = await startWith('people', 4)
    expect((await sync({ mode: 'full_refresh' })).requests).toHaveLength(1)
  })
})

const ids = (records: readonly Readonly<Record<string, unknown>>[]) =>
  records.map(({ id }) => Number(id)).sort((a, b) => a - b)
const ALL = Array.from({ length: 30 }, (_, i) => i + 1)

describe('a full refresh of a generation', () => {
  const refresh = { mode: 'full_refresh', generation: 7 } as const

  it('that one attempt has written completely is not read by the next', async () => {
    const { sync } = await startWith('people', 30)
    expect(ids((await sync(refresh)).records)).toEqual(ALL)
    const again = await sync(refresh)
    expect(again).toMatchObject({ exitCode: 0, records: [], requests: [] })
    const statuses = again.messages.map(({ trace }) => trace?.stream_status?.status)
    expect(statuses).toContain('COMPLETE')
    expect(await sync(refresh)).toMatchObject({ records: [] })
    expect(ids((await sync({ ...refresh, generation: 8 })).records)).toEqual(ALL)
  })

  it('is continued by the next attempt', async () => {
    const { sync } = await startWith('people', 30)
    await sync({ ...refresh, killAfter: 20 })
    expect((await sync(refresh)).records.length).toBeLessThan(ALL.length)
  })

  it('that was interrupted is not continued by another generation', async () => {
    const { sync } = await startWith('people', 30)
    await sync({ ...refresh, killAfter: 20 })
    expect(ids((await sync({ ...refresh, generation: 8 })).records)).toEqual(ALL)
  })

  it('whose first list was empty is continued if its second one failed', async () => {
    const { emulator, sync } = await startWith('people', 30)
    emulator.fault('/people', 'empty', { times: 1 })
    emulator.fail(/^\/people\?.*continuationToken/, 500, { skip: 2, times: 6 })
    const first = await sync(refresh)
    expect(first.exitCode).toBe(1)
    const second = await sync(refresh)
    expect(second.exitCode).toBe(0)
    expect(ids([...first.records, ...second.records])).toEqual(ALL)
  })

  it('is read again if the platform does not number it', async () => {
    const { sync } = await startWith('people', 30)
    await sync({ mode: 'full_refresh' })
    expect(ids((await sync({ mode: 'full_refresh' })).records)).toEqual(ALL)
    expect(ids((await sync(refresh)).records)).toEqual(ALL)
  })

  it('is read again if its minimum is 0, for which a destination removes nothing', async () => {
    const { sync } = await startWith('people', 30)
    const appended = { mode: 'full_refresh', generation: 0 } as const
    expect(ids((await sync(appended)).records)).toEqual(ALL)
    expect(ids((await sync(appended)).records)).toEqual(ALL)
  })
})

describe('a full refresh of a generation whose settings change between two attempts', () => {
  const refresh = { mode: 'full_refresh', generation: 7 } as const
  const REFUSED = 'An earlier attempt of this full refresh has written rows, but'

  const changes: [string, string, Record<string, unknown>, string][] = [
    [
      'another treatment of personal data',
      'people',
      { personal_data: 'without_secrets' },
      'treatment of personal data',
    ],
    [
      'an earlier start date',
      'clockings',
      { start_date: '2025-01-01' },
      'has moved back from 2026-01-01 to 2025-01-01',
    ],
  ]

  it.each(changes)(
    'is refused under %s, until the next generation',
    async (_, stream, to, words) => {
      const { settings, sync } = await startWith(stream, 30)
      settings['start_date'] = '2026-01-01'
      expect((await sync({ ...refresh, killAfter: 20 })).records.length).toBeGreaterThan(0)
      Object.assign(settings, to)
      const { exitCode, records, requests, errors, messages } = await sync(refresh)
      expect({ exitCode, records, requests }).toEqual({ exitCode: 1, records: [], requests: [] })
      expect(errors.join()).toContain(REFUSED)
      expect(errors.join()).toContain(words)
      const failures = messages.flatMap(({ trace }) => trace?.error?.failure_type ?? [])
      expect(failures).toEqual(['config_error'])
      expect(ids((await sync({ ...refresh, generation: 8 })).records)).toEqual(ALL)
    },
  )

  it('is refused even if an earlier attempt has written it completely', async () => {
    const { settings, sync } = await startWith('people', 30)
    await sync(refresh)
    settings['personal_data'] = 'without_secrets'
    expect((await sync(refresh)).errors.join()).toContain(REFUSED)
  })

  it('continues with the earlier settings', async () => {
    const { settings, sync } = await startWith('people', 30)
    const first = await sync({ ...refresh, killAfter: 20 })
    settings['personal_data'] = 'without_secrets'
    await sync(refresh)
    settings['personal_data'] = 'complete'
    const rest = await sync(refresh)
    expect(rest.exitCode).toBe(0)
    expect(new Set([...ids(first.records), ...ids(rest.records)]).size).toBe(ALL.length)
    expect(rest.records.length).toBeLessThan(ALL.length)
  })

  it('starts over if nothing has been written yet', async () => {
    const { emulator, settings, sync } = await startWith('people', 30)
    emulator.fail('/people', 500, { times: 6 })
    expect((await sync(refresh)).exitCode).toBe(1)
    settings['personal_data'] = 'without_secrets'
    const { exitCode, records } = await sync(refresh)
    expect(exitCode).toBe(0)
    expect(ids(records)).toEqual(ALL)
  })
})

describe('a full refresh whose continuation token dies', () => {
  const DIES = /^\/people\?.*continuationToken/

  it('starts over and sends no row twice', async () => {
    const { emulator, sync } = await startWith('people', 30)
    emulator.fail(DIES, 409, { skip: 2, times: 1 })
    const { exitCode, records } = await sync({ mode: 'full_refresh' })
    expect(exitCode).toBe(0)
    expect(ids(records)).toEqual(ALL)
    expect(new Set(records.map(({ _generation }) => _generation)).size).toBe(1)
  })

  it('knows what it had sent before it was interrupted, and the next refresh sends everything', async () => {
    const { emulator, sync } = await startWith('people', 30)
    const cut = await sync({ mode: 'full_refresh', killAfter: 20 })
    emulator.fail(DIES, 409, { times: 1 })
    const rest = await sync({ mode: 'full_refresh' })
    const known = cut.messages.findLastIndex(({ state }) => state !== undefined)
    const before = cut.messages
      .slice(0, known)
      .flatMap(({ record }) => (record ? [record.data] : []))
    expect(before.length).toBeGreaterThan(5)
    expect(ids([...before, ...rest.records])).toEqual(ALL)
    expect(ids((await sync({ mode: 'full_refresh' })).records)).toEqual(ALL)
  })

  async function dieWithoutRoom(
    refresh: { mode: 'full_refresh'; generation?: number },
    next: string,
  ) {
    const { emulator, sync } = await startWith('people', 30)
    await sync({ ...refresh, killAfter: 20 })
    const { platform } = scenario
    scenario.platform = withState(scenario.platform, 'people', (blob) => ({
      ...blob,
      tracked: false,
      window_ids: null,
    }))
    emulator.fail(DIES, 409, { times: 1 })
    const { exitCode, errors } = await sync(refresh)
    expect(exitCode).toBe(1)
    expect(errors.join()).toContain('This full refresh cannot start over')
    expect(errors.join()).toContain(next)
    scenario.platform = platform
    return sync(refresh)
  }

  it('fails as transient if the state has no room for the ids it has sent, and starts over', async () => {
    const { exitCode, records } = await dieWithoutRoom(
      { mode: 'full_refresh' },
      'The next sync starts it from the beginning',
    )
    expect(exitCode).toBe(0)
    expect(ids(records)).toEqual(ALL)
  })

  it('starts over only with another generation, if rows would otherwise be sent twice', async () => {
    const refresh = { mode: 'full_refresh', generation: 7 } as const
    const { records } = await dieWithoutRoom(
      refresh,
      'the next job has another generation_id, and starts it from the beginning',
    )
    expect(records.length).toBeLessThan(ALL.length)
    const { records: anew } = await scenario.sync({ ...refresh, generation: 8 })
    expect(ids(anew)).toEqual(ALL)
  })
})
