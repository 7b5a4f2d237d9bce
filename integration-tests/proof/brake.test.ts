import { afterEach, describe, expect, it } from 'vitest'
import { personCodes } from '../../src/privacy/person-codes.ts'
import {
  listsOf,
  makeDue,
  type Scenario,
  startScenario,
  startWithRows,
} from '../histories/scenario.ts'
import { type SyncedTenant, startSyncedTenant } from '../testing/synced-tenant.ts'

/** The approvals that messages name. */
function approvalsIn(text: string): string[] {
  return [...new Set(text.match(/[a-z_]+:\d+:[\dT:.-]+Z/g))]
}

/** No link lives so long. */
const LINKS_DIE = { hours: 73 }

describe('a client of protime sync that no longer sees half of the people', () => {
  let tenant: SyncedTenant
  afterEach(() => tenant.close())
  const start = async (streams: readonly string[], months = 0) => {
    tenant = await startSyncedTenant(streams, { people: 40, months })
    return tenant
  }
  const hideHalf = () => tenant.emulator.hide((person) => person % 2 === 0)
  const showAll = () => tenant.emulator.hide(() => false)

  it('deletes nothing of any stream, and writes what is new and changed', async () => {
    const all = ['people', 'contracts', 'clockings', 'department_histories', 'external_references']
    const { emulator, sync, counts, ask, verify } = await start(all, 1)
    await sync()
    const before = await counts()
    hideHalf()
    emulator.insert('people', { id: 1001 })
    emulator.update('people', 1, { firstName: 'Ann' })
    emulator.advance(LINKS_DIE)
    const { exitCode, failures, stderr } = await sync()
    expect(await counts()).toEqual({ ...before, people: Number(before['people']) + 1 })
    expect([exitCode, failures.map(({ stream }) => stream).sort()]).toEqual([2, all.toSorted()])
    expect(stderr).toContain('20 of the 40 rows of people were not found')
    expect(stderr).toMatch(/of the \d+ rows of people in external_references were not found/)
    expect(await ask('SELECT "firstName" AS name FROM people WHERE id = 1')).toEqual([
      { name: 'Ann' },
    ])
    const { summary, exitCode: verified } = await verify()
    expect([verified, summary]).toMatchObject([3, { differences: 0 }])
    expect(Number(summary['withheld'])).toBeGreaterThan(1000)
    showAll()
    emulator.advance({ hours: 1 })
    expect((await sync()).exitCode).toBe(0)
    expect((await verify()).summary).toMatchObject({ differences: 0, withheld: 0 })
  })

  it.each(['in-process', 'singer'] as const)('sends no delete: %s', async (place) => {
    const { emulator, read, held } = await start(['people', 'contracts'])
    await read(place)
    const before = held(place)
    hideHalf()
    emulator.advance(LINKS_DIE)
    const { exitCode, messages } = await read(place)
    expect([held(place), exitCode]).toEqual([before, 1])
    expect(messages.filter(({ activated }) => activated !== undefined)).toEqual([])
    showAll()
    emulator.advance({ hours: 1 })
    expect([(await read(place)).exitCode, held(place)]).toEqual([0, before])
  })

  it.each<[string, number, string[], string[], boolean?]>([
    ['while links live, of streams that are listed', 1, ['department_histories'], []],
    ['by a full refresh', 1, ['people', 'department_histories'], ['--full-refresh']],
    ['by a rewrite', 1, ['people', 'department_histories'], ['--rewrite']],
    ['in a file with a history', 73, ['people'], [], true],
  ])('deletes nothing %s', async (_when, hours, streams, words, history = false) => {
    const { emulator, settings, sync, ask, verify } = await start(streams)
    settings['history'] = history
    await sync()
    const rows = () => ask(`SELECT * EXCLUDE _known_from FROM ${streams.at(-1)} ORDER BY id`)
    const before = await rows()
    hideHalf()
    emulator.advance({ hours })
    const { exitCode } = await sync(...words)
    expect([await rows(), exitCode]).toEqual([before, 2])
    showAll()
    emulator.advance({ hours: 1 })
    expect((await sync(...words)).exitCode).toBe(0)
    expect((await verify()).summary).toMatchObject({ differences: 0 })
  })

  it('warns of a column that has no values any more', async () => {
    const { emulator, sync } = await start(['people'])
    await sync()
    const emptied = emulator.all('people').map(({ id }) => id as number)
    for (const id of emptied) emulator.update('people', id, { firstName: null })
    emulator.advance(LINKS_DIE)
    const { exitCode, stderr } = await sync()
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('people: no row has a value any more in firstName.'),
    ])
  })

  it('keeps the rows until it sees them again', async () => {
    const { emulator, sync, counts, verify } = await start(['people', 'inventory'])
    await sync()
    const before = await counts()
    hideHalf()
    for (const hours of [73, 1, 73, 1]) {
      emulator.advance({ hours })
      const { exitCode, stderr } = await sync()
      expect([exitCode, await counts(), approvalsIn(stderr)]).toEqual([
        2,
        before,
        [expect.stringContaining('people:20:')],
      ])
    }
    const inventory = () =>
      tenant.ask("SELECT records, isComplete FROM inventory WHERE part = 'all'")
    expect(await inventory()).toEqual([{ records: null, isComplete: false }])
    const account = (stream: string) =>
      tenant.ask(
        `SELECT failure LIKE '%people:20:%' AS failed, last_complete < (SELECT max(began) FROM _protime.syncs) AS old FROM _protime.streams WHERE stream = '${stream}'`,
      )
    expect(await account('people')).toEqual([{ failed: true, old: true }])
    showAll()
    for (const hours of [1, 1]) {
      emulator.advance({ hours })
      expect([(await sync()).exitCode, await counts()]).toEqual([0, before])
    }
    expect(await inventory()).toEqual([{ records: '40', isComplete: true }])
    expect((await verify('--streams', 'people')).summary).toMatchObject({ differences: 0 })
  })

  it('deletes once what is approved, and withholds again what is hidden later', async () => {
    const { emulator, sync, counts, verify } = await start(['people', 'contracts'])
    await sync()
    hideHalf()
    emulator.advance(LINKS_DIE)
    const approved = approvalsIn((await sync()).stderr).flatMap((text) => [
      '--approve-deletes',
      text,
    ])
    emulator.advance({ hours: 1 })
    expect([(await sync(...approved)).exitCode, await counts()]).toMatchObject([0, { people: 20 }])
    expect((await verify()).summary).toMatchObject({ differences: 0 })
    showAll()
    emulator.advance(LINKS_DIE)
    expect([(await sync(...approved)).exitCode, await counts()]).toMatchObject([0, { people: 40 }])
    hideHalf()
    emulator.advance(LINKS_DIE)
    expect([(await sync(...approved)).exitCode, await counts()]).toMatchObject([2, { people: 40 }])
  })
})

describe('a stream', () => {
  let scenario: Scenario
  afterEach(() => scenario.emulator.close())
  /** Forty people, read once. */
  const startPeople = async () => {
    scenario = await startScenario(['people'], { people: 40, pageSize: 100 })
    await scenario.sync()
    return scenario
  }
  const hide = (isHidden: (person: number) => boolean) => scenario.emulator.hide(isHidden)
  const isEven = (person: number) => person % 2 === 0

  it('keeps rows that an audit does not find, if they are too many', async () => {
    const { sync, emulator, settings, differences } = await startPeople()
    makeDue(scenario)
    hide(isEven)
    const { deleted, warnings, errors } = await sync()
    expect([deleted, warnings.slice(0, -1)]).toEqual([
      [],
      [expect.stringContaining('and kept, because they are too many, by the audit')],
    ])
    expect(errors).toEqual([expect.stringContaining('20 of the 40 rows of people')])
    // The next audit waits.
    emulator.advance({ hours: 25 })
    expect((await sync()).warnings).toEqual([expect.stringContaining('Sync failed')])
    hide(() => false)
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
    delete settings['audit_days']
  })

  it('keeps rows of days before the window, if they are too many', async () => {
    scenario = await startScenario(['clockings'], { people: 0, pageSize: 100 })
    const { sync, emulator, settings, differences } = scenario
    Object.assign(settings, { start_date: '2024-01-01', history_refresh_days: 1 })
    for (let id = 1; id <= 40; id++)
      emulator.insert('clockings', { date: '2024-03-01', person: { id } })
    await sync()
    hide(isEven)
    emulator.advance({ hours: 25 })
    expect(await sync()).toMatchObject({ deleted: [], exitCode: 1 })
    hide(() => false)
    emulator.advance({ hours: 25 })
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('does not shrink by small steps', async () => {
    const { sync, emulator, platform } = await startPeople()
    const left: unknown[] = []
    for (let step = 0; step < 4; step++) {
      hide((person) => person % 8 <= step)
      emulator.advance({ hours: 73 })
      const { exitCode } = await sync()
      left.push([exitCode, platform.warehouses[0]?.rows('people').size])
    }
    expect(left).toEqual([
      [0, 35],
      [1, 35],
      [1, 35],
      [1, 35],
    ])
  })

  it('does not shrink by small steps while its first day moves', async () => {
    scenario = await startScenario(['clockings'], { people: 0, pageSize: 100 })
    const { sync, emulator, settings, platform } = scenario
    settings['start_date'] = '2026-09-01'
    for (let id = 1; id <= 40; id++)
      emulator.insert('clockings', { date: '2026-11-01', person: { id } })
    await sync()
    const left: unknown[] = []
    for (let step = 0; step < 3; step++) {
      hide((person) => person % 8 <= step)
      emulator.advance(LINKS_DIE)
      settings['start_date'] = `2026-09-0${step + 2}`
      const { exitCode } = await sync()
      left.push([exitCode, platform.warehouses[0]?.rows('clockings').size])
    }
    expect(left).toEqual([
      [0, 35],
      [1, 35],
      [1, 35],
    ])
  })

  it('is compared although people are left out, which changes no keys', async () => {
    scenario = await startScenario(['external_references'], { people: 40, pageSize: 100 })
    const { sync, emulator, settings, platform } = scenario
    settings['privacy_key'] = 'Wq3-xkT9_mB7vZ2p'
    await sync()
    const size = () => platform.warehouses[0]?.rows('external_references').size
    const before = size()
    hide(isEven)
    settings['suppressed_people'] = [
      personCodes({ key: 'Wq3-xkT9_mB7vZ2p', tenant: String(emulator.config()['tenant']) }).of(
        '999',
      ),
    ]
    expect([(await sync()).exitCode, size()]).toEqual([1, before])
  })

  it('stays withheld while the list of its collection is refused', async () => {
    scenario = await startScenario(['external_references'], { people: 40, pageSize: 100 })
    const { sync, emulator, platform, differences } = scenario
    await sync()
    const size = () => platform.warehouses[0]?.rows('external_references').size
    const before = size()
    hide(isEven)
    expect((await sync()).exitCode).toBe(1)
    emulator.fail(/external-references\/people/, 404)
    for (let night = 0; night < 2; night++)
      expect([(await sync()).exitCode, size()]).toEqual([1, before])
    emulator.clearFaults()
    expect((await sync()).errors.join()).toContain('in external_references were not found')
    hide(() => false)
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('has withheld rows deleted by an approval, although their collection is refused', async () => {
    scenario = await startScenario(['external_references'], { people: 40, pageSize: 100 })
    const { sync, emulator, settings } = scenario
    await sync()
    hide(isEven)
    const approved = approvalsIn((await sync()).errors.join())
    settings['approved_deletes'] = approved
    emulator.fail(/external-references\/people/, 404)
    const { exitCode, deleted } = await sync()
    expect([exitCode, String(deleted.length)]).toEqual([0, approved[0]?.split(':')[1]])
  })

  it('is not held up by a collection that is refused, of which no delete is withheld', async () => {
    scenario = await startScenario(['external_references'], { people: 40, pageSize: 100 })
    const { sync, emulator, platform, settings, differences } = scenario
    const contract = Number(emulator.all('contracts')[0]?.['id'])
    emulator.setReference('contracts', 'payroll', 'P-1', contract)
    await sync()
    const size = () => Number(platform.warehouses[0]?.rows('external_references').size)
    const before = size()
    hide(isEven)
    const withheld = () => sync().then(({ errors }) => approvalsIn(errors.join())[0] ?? '')
    const count = Number((await withheld()).split(':')[1])
    emulator.fail(/external-references\/contracts/, 400)
    await withheld()
    settings['approved_deletes'] = [await withheld()]
    expect([(await sync()).exitCode, size()]).toEqual([0, before - count])
    emulator.clearFaults()
    hide(() => false)
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('deletes what the service reports, with a warning if it is much', async () => {
    const { sync, emulator } = await startPeople()
    for (let id = 1; id <= 20; id++) emulator.remove('people', id)
    const { deleted, warnings, exitCode } = await sync()
    expect([deleted.length, exitCode]).toEqual([20, 0])
    expect(warnings).toEqual([expect.stringContaining('20 of 40 rows as deleted')])
  })

  it('has many missing rows deleted by an approval, although the service does not list it', async () => {
    scenario = await startScenario(['people'], { people: 240, pageSize: 100 })
    const { sync, emulator, settings } = scenario
    await sync()
    hide(isEven)
    emulator.fail(listsOf('people'), 404)
    emulator.advance(LINKS_DIE)
    settings['approved_deletes'] = approvalsIn((await sync()).errors.join())
    emulator.advance({ hours: 1 })
    const { errors, deleted } = await sync()
    expect([errors, deleted.length]).toEqual([[], 120])
  })

  it('has missing rows deleted by an approval, although the service has neither a list nor single records', async () => {
    scenario = await startWithRows('calculated_totals', 30)
    const { sync, emulator, settings, differences } = scenario
    emulator.fail(/^\/calculated-totals[?](?!.*delta)/, 404)
    await sync()
    for (let id = 1; id <= 12; id++) emulator.remove('calculated-totals', id)
    emulator.advance(LINKS_DIE)
    await sync()
    settings['approved_deletes'] = approvalsIn((await sync()).errors.join())
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it('has missing rows deleted by an approval, although the service has withdrawn its list', async () => {
    scenario = await startWithRows('calculated_totals', 40, { pageSize: 100 })
    const { sync, emulator, settings, differences } = scenario
    await sync()
    for (let id = 1; id <= 20; id++) emulator.remove('calculated-totals', id)
    emulator.advance(LINKS_DIE)
    settings['approved_deletes'] = approvalsIn((await sync()).errors.join())
    emulator.fail(listsOf('calculated-totals'), 403)
    expect([(await sync()).exitCode, differences()]).toEqual([0, []])
  })

  it.each([
    ['withholds', false],
    ['deletes what is approved', true],
  ])('may die anywhere in a sync that %s', async (_what, isApproved) => {
    scenario = await startScenario(['people'], { people: 12, pageSize: 4 })
    const { sync, emulator, settings, differences, platform } = scenario
    await sync()
    const size = () => platform.warehouses[0]?.rows('people').size
    for (let killAfter = 1; killAfter <= 19; killAfter += 3) {
      hide(isEven)
      emulator.advance(LINKS_DIE)
      if (isApproved) settings['approved_deletes'] = approvalsIn((await sync()).errors.join())
      const options = { killAfter, kept: 'committed' } as const
      await sync(options)
      if (isApproved) expect([6, 12]).toContain(size())
      else expect(size()).toBe(12)
      const { exitCode } = await sync()
      expect([exitCode, size()]).toEqual(isApproved ? [0, 6] : [1, 12])
      hide(() => false)
      emulator.advance(LINKS_DIE)
      expect([(await sync()).exitCode, differences()]).toEqual([0, []])
    }
  })

  it('with other keys because of a changed setting is compared with nothing', async () => {
    scenario = await startScenario(['activity_definitions'], { people: 1 })
    const { sync, settings, emulator, differences } = scenario
    for (let i = 0; i < 20; i++) emulator.insert('activity-definitions')
    await sync()
    settings['activity_structures'] = emulator.activityStructures.slice(0, 1)
    const { exitCode } = await sync()
    expect(exitCode).toBe(0)
    delete settings['activity_structures']
    await sync()
    expect(differences()).toEqual([])
  })
})
