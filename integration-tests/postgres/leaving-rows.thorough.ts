import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import type { Row } from '../engines/tenant.ts'
import { PRIVACY_KEY } from '../histories/history.ts'
import { protime } from '../testing/protime.ts'
import { type SyncedTenant, startSyncedTenant } from '../testing/synced-tenant.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
let tenant: SyncedTenant
let schemas = 0
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())
afterEach(() => tenant.close())

const schema = () => `leaving_${schemas}`

async function start(streams: readonly string[], options: EmulatorOptions) {
  schemas++
  tenant = await startSyncedTenant(streams, options, server.address(schema()))
  return tenant
}

describe('a client that no longer sees half of the people', () => {
  const hideHalf = () => tenant.emulator.hide((person) => person % 2 === 0)
  const showAll = () => tenant.emulator.hide(() => false)
  const differences = async () => (await tenant.verify()).summary
  const approvalIn = (stderr: string) => ['--approve-deletes', `${/people:\d+:\S+Z/.exec(stderr)}`]

  it('deletes nothing by a rewrite, and later what is approved', async () => {
    const { emulator, sync, counts } = await start(['people', 'department_histories'], {
      people: 40,
      months: 0,
    })
    await sync()
    const before = await counts()
    hideHalf()
    emulator.insert('people', { id: 1001 })
    const held = { ...before, people: Number(before['people']) + 1 }
    emulator.advance({ hours: 1 })
    const { exitCode, failures } = await sync('--rewrite')
    expect([exitCode, failures.length, await counts()]).toEqual([2, 2, held])
    expect(await differences()).toMatchObject({ differences: 0 })
    emulator.advance({ hours: 73 })
    expect([(await sync()).exitCode, await counts()]).toEqual([2, held])
    showAll()
    emulator.advance({ hours: 1 })
    expect((await sync('--rewrite')).exitCode).toBe(0)
    expect(await differences()).toMatchObject({ differences: 0, withheld: 0 })
    hideHalf()
    emulator.advance({ hours: 73 })
    const { stderr } = await sync('--streams', 'people')
    emulator.advance({ hours: 1 })
    const approved = await sync('--streams', 'people', ...approvalIn(stderr))
    const living = `SELECT count(*)::INT AS n FROM ${schema()}_flat.people`
    expect([approved.exitCode, await tenant.ask(living)]).toEqual([0, [{ n: 21 }]])
  })

  it('leaves no name in the warehouse by a rewrite with stricter settings, once its rows may go', async () => {
    const { emulator, sync, settings, ask, verify } = await start(['people'], { people: 40 })
    await sync()
    const names = async () =>
      (await ask(`SELECT lastname FROM ${schema()}.people`)).map(({ lastname }) => lastname)
    const before = await names()
    Object.assign(settings, { personal_data: 'pseudonymised', privacy_key: PRIVACY_KEY })
    hideHalf()
    const { exitCode, stderr } = await sync('--rewrite')
    const kept = (await names()).filter((name) => before.includes(name))
    expect([exitCode, kept.length]).toEqual([2, 20])
    // What was asked for has not ended, whatever is synced meanwhile.
    expect((await sync()).exitCode).toBe(2)
    const { exitCode: approved } = await sync('--rewrite', ...approvalIn(stderr))
    expect([approved, (await names()).filter((name) => before.includes(name))]).toEqual([0, []])
    expect((await verify()).summary).toMatchObject({ differences: 0, withheld: 0 })
    emulator.advance({ hours: 1 })
  })

  it('is read from the beginning by a rewrite, also if plain syncs have ended one before', async () => {
    const { emulator, sync, verify } = await start(['people'], { people: 5, months: 0 })
    await sync()
    emulator.fail(/^\/people/, 400)
    expect((await sync('--rewrite')).exitCode).not.toBe(0)
    emulator.clearFaults()
    expect((await sync()).exitCode).toBe(0)
    await server.query(`UPDATE ${schema()}.people SET lastname = 'by hand'`)
    expect((await sync('--rewrite')).exitCode).toBe(0)
    expect((await verify()).summary).toMatchObject({ differences: 0, withheld: 0 })
  })

  it('leaves nothing of a stream that a rewrite does not read, and hears of a rewrite that has not ended', async () => {
    const { emulator, sync, settings, ask, folder, warehouse } = await start(['people', 'jobs'], {
      people: 30,
      months: 0,
      pageSize: 10,
    })
    const words = ['sync', '--config', join(folder, 'config.json'), '--warehouse', warehouse]
    const warning = expect.stringContaining('[rewrite-not-complete]')
    const placesOfPeople = async () => {
      const relations = await ask(
        `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE '%people'`,
      )
      return relations.map(({ name }) => String(name)).filter((name) => name.includes(schema()))
    }
    settings['retry_minutes'] = 0
    await sync()
    emulator.fail(/^\/people.*continuation/, 500)
    emulator.advance({ hours: 73 })
    expect((await sync('--full-refresh')).exitCode).toBe(1)
    expect(await placesOfPeople()).toHaveLength(2)
    Object.assign(settings, { personal_data: 'minimal', streams: ['jobs'] })
    emulator.fail(/^\/jobs/, 500)
    expect((await sync('--streams', 'jobs')).exitCode).toBe(2)
    expect(await protime(...words, '--rewrite')).toMatchObject({ exitCode: 1, stderr: warning })
    emulator.clearFaults()
    expect(await protime(...words)).toMatchObject({ exitCode: 0, stderr: warning })
    expect(await protime(...words, '--rewrite')).toMatchObject({ exitCode: 0 })
    expect(await protime(...words)).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining('[rewrite'),
    })
    const [place, ...others] = await placesOfPeople()
    expect([others, await ask(`SELECT count(*)::INT AS n FROM ${place}`)]).toEqual([[], [{ n: 0 }]])
  })

  it('is warned of a column that has no values any more, unless its settings have emptied it', async () => {
    const { emulator, sync, settings } = await start(['people'], { people: 40, months: 0 })
    await sync()
    settings['field_rules'] = [{ stream: 'people', path: 'lastName', rule: 'drop' }]
    const strict = await sync('--rewrite')
    expect([strict.exitCode, strict.stderr]).toEqual([
      0,
      expect.not.stringContaining('has a value any more'),
    ])
    for (const { id } of emulator.all('people'))
      emulator.update('people', id as number, { firstName: null })
    emulator.advance({ hours: 73 })
    expect((await sync()).stderr).toContain(
      'people: no row has a value any more in firstname. If the service',
    )
  })
})

describe('the statements of protime person sql', () => {
  it('delete a person, also where rows wait after an interrupted read, as they say', async () => {
    const options = { people: 30, months: 0, pageSize: 10 }
    const { emulator, sync, settings, ask, folder, warehouse } = await start(['people'], options)
    Object.assign(settings, { retry_minutes: 0, streams: ['people'] })
    emulator.update('people', 3, { lastName: 'Name-Of-One-Person' })
    await sync()
    emulator.fail(/^\/people.*continuation/, 500)
    emulator.advance({ hours: 73 })
    expect((await sync('--full-refresh')).exitCode).toBe(1)
    const tables = [`${schema()}.people`, `${schema()}_meta.next_people`]
    const named = tables.map((table) => `SELECT lastname FROM ${table}`).join(' UNION ALL ')
    const left = `SELECT count(*)::INT AS n FROM (${named}) AS all_rows WHERE lastname = 'Name-Of-One-Person'`
    expect(await ask(left)).toEqual([{ n: 2 }])
    const words = ['--config', join(folder, 'config.json'), '--warehouse', warehouse]
    const { stdout } = await protime(
      'person',
      'sql',
      '3',
      '--dialect',
      'postgres',
      '--erase',
      ...words,
    )
    expect(stdout).toContain('the tables next_… in the schema that ends with _meta')
    for (const table of tables)
      await server.query(stdout.replaceAll('FROM people AS', `FROM ${table} AS`))
    expect(await ask(left)).toEqual([{ n: 0 }])
  })
})

describe('the rows that are older than what is kept', () => {
  it('leave each dated stream once, deleted ones and those that the service no longer lists too', async () => {
    const dated = ['clockings', 'calculated_totals', 'absences', 'paid_presences', 'breaks']
    const { emulator, sync, settings, counts, ask, verify } = await start([...dated, 'people'], {
      people: 6,
      months: 4,
    })
    settings['history'] = true
    await sync()
    const before = await counts()
    await server.query(`INSERT INTO ${schema()}.clockings (id, date, _known_from) VALUES
      (-1, NULL, now()), (-2, '2026-08-31', now())`)
    await server.query(`INSERT INTO ${schema()}_meta.closed_clockings (id, date, _known_from, _known_until) VALUES
      (-3, '2026-08-31', now(), now()), (-4, '2026-09-01', now(), now())`)
    settings['retain_months'] = 2
    expect((await sync()).exitCode).toBe(0)
    for (const stream of dated) {
      expect(Number((await counts())[stream])).toBeLessThan(Number(before[stream]))
      expect(
        await ask(`SELECT count(*)::INT AS n FROM ${schema()}.${stream} WHERE date < '2026-09-01'`),
      ).toEqual([{ n: 0 }])
    }
    expect(
      await ask(`SELECT id::INT AS id FROM ${schema()}_history.clockings WHERE id < 0 ORDER BY 1`),
    ).toEqual([{ id: -4 }, { id: -1 }])
    await server.query(`DELETE FROM ${schema()}.clockings WHERE id < 0`)
    expect((await verify()).summary).toMatchObject({ differences: 0, withheld: 0 })
    const after = await counts()
    emulator.advance({ hours: 73 })
    expect([(await sync()).exitCode, await counts()]).toEqual([0, after])
    delete settings['retain_months']
    expect((await sync()).exitCode).toBe(0)
    expect((await verify()).summary).toMatchObject({ differences: 0 })
  })
})

describe('what was known of a person before', () => {
  it('leaves the history of every stream, and nothing else does', async () => {
    const { emulator, sync, settings, ask, folder, warehouse } = await start(
      ['people', 'contracts', 'clockings', 'external_references'],
      { people: 4, months: 1 },
    )
    settings['history'] = true
    const [one, other] = emulator.all('people').map(({ id }) => Number(id))
    const contract = emulator.all('contracts').find(({ person }) => (person as Row)['id'] === one)
    emulator.setReference('contracts', 'payroll', 'P-1042', Number(contract?.['id']))
    await sync()
    emulator.removeReference('contracts', 'payroll', 'P-1042')
    for (const [i, clocking] of emulator.all('clockings').entries())
      if (i < 40) emulator.update('clockings', Number(clocking['id']), { remark: `${i}` })
    for (const id of [one, other]) emulator.update('people', Number(id), { firstName: 'X' })
    await sync()
    const versions = async (person: number | undefined) =>
      Number(
        (
          await ask(`SELECT (SELECT count(*) FROM ${schema()}_history.people WHERE id = ${person} AND known_until IS NOT NULL)
            + (SELECT count(*) FROM ${schema()}_history.clockings WHERE person_id = ${person} AND known_until IS NOT NULL) AS n`)
        )[0]?.['n'],
      )
    const kept = await versions(other)
    expect([await versions(one), kept]).toEqual([
      expect.toSatisfy((n) => n > 1),
      expect.toSatisfy((n) => n > 1),
    ])
    const words = ['--config', join(folder, 'config.json'), '--warehouse', warehouse]
    const run = await protime('history', 'forget', '--person', String(one), ...words)
    expect(run, run.stderr).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(run.stdout)).toMatchObject({
      versions: { people: 1, external_references: 1 },
    })
    expect([await versions(one), await versions(other)]).toEqual([0, kept])
    expect((await sync()).exitCode).toBe(0)
  })
})

describe('a history', () => {
  it('ends with a rewrite only by the word, begins anew, and ends for good by another word', async () => {
    const { emulator, sync, settings, ask, folder, warehouse } = await start(['jobs'], {
      people: 2,
      months: 0,
    })
    settings['history'] = true
    await sync()
    const rename = (name: string) =>
      emulator.update('jobs', Number(emulator.all('jobs')[0]?.['id']), { code: name })
    const versions = async () =>
      Number(
        (
          await ask(
            `SELECT count(*) AS n FROM ${schema()}_history.jobs WHERE known_until IS NOT NULL`,
          )
        )[0]?.['n'],
      )
    rename('one')
    await sync()
    expect(await versions()).toBe(1)
    expect(await sync('--rewrite')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Add --forget-history'),
    })
    const unknown = ['--streams', 'jobs,job']
    expect((await sync('--rewrite', '--forget-history', ...unknown)).exitCode).toBe(2)
    expect(await versions()).toBe(1)
    expect((await sync('--rewrite', '--forget-history')).exitCode).toBe(0)
    expect(await versions()).toBe(0)
    delete settings['history']
    rename('two')
    expect((await sync()).exitCode).toBe(0)
    expect(await versions()).toBe(1)
    const words = ['--config', join(folder, 'config.json'), '--warehouse', warehouse]
    expect((await protime('history', 'off', ...words)).exitCode).toBe(2)
    expect(await protime('history', 'off', '--forget', ...words)).toMatchObject({ exitCode: 0 })
    expect((await sync()).exitCode).toBe(0)
    const left = `SELECT count(*) FROM pg_class WHERE relname LIKE 'closed%' AND relnamespace = '${schema()}_meta'::regnamespace`
    expect(Number(await server.query(left))).toBe(0)
  })

  it('begins anew without values of before, once rows that a rewrite has kept may go', async () => {
    const { emulator, sync, settings, ask } = await start(['people'], { people: 40, months: 0 })
    settings['history'] = true
    await sync()
    const namesIn = async (place: string) =>
      (await ask(`SELECT lastname FROM ${place}`)).flatMap(({ lastname }) => lastname ?? [])
    const before = await namesIn(`${schema()}.people`)
    Object.assign(settings, { personal_data: 'pseudonymised', privacy_key: PRIVACY_KEY })
    emulator.hide((person) => person % 2 === 0)
    const { exitCode, stderr } = await sync('--rewrite', '--forget-history')
    expect(exitCode).toBe(2)
    const approval = ['--approve-deletes', `${/people:\d+:\S+Z/.exec(stderr)}`]
    expect((await sync('--rewrite', '--forget-history', ...approval)).exitCode).toBe(0)
    const left = await namesIn(`${schema()}_history.people`)
    expect([left.length, left.filter((name) => before.includes(name))]).toEqual([20, []])
  })
})
