import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { temporaryFolder } from '../testing/files.ts'
import {
  ask,
  deltasOf,
  protime,
  startProtime,
  type VerifyRun,
  verify,
  withDuckDb,
} from '../testing/protime.ts'

const STREAMS = ['people', 'jobs', 'sectors', 'clockings', 'external_references']

let emulator: Emulator
let folder: ReturnType<typeof temporaryFolder>
beforeAll(async () => {
  emulator = await startEmulator({ people: 5, months: 1, pageSize: 50 })
  folder = temporaryFolder()
  configure({})
  // So that rows of the first reading and of later changes are there; the other streams follow in the second sync.
  await protime('sync', ...words('synced.duckdb'), '--streams', STREAMS.join(','))
  emulator.randomChanges({ inserts: 30, updates: 40, deletes: 20, softDeletes: 10 })
  await protime('sync', ...words('synced.duckdb'))
})
afterAll(async () => {
  await emulator.close()
  folder.remove()
})

const path = (name: string) => join(folder.path, name)
const words = (file: string) => ['--config', path('config.json'), '--warehouse', path(file)]

function configure(settings: object): void {
  const config = {
    ...emulator.config(),
    activity_structures: emulator.activityStructures,
    tenant: 'demo',
    retry_minutes: 0,
    ...settings,
  }
  const text = JSON.stringify(config).replace('/tenants/demo', `/tenants/${config.tenant}`)
  writeFileSync(path('config.json'), text, { mode: 0o600 })
}

/** A copy of the synced file in which something was done. */
async function damaged(...statements: readonly string[]): Promise<string[]> {
  copyFileSync(path('synced.duckdb'), path('damaged.duckdb'))
  await withDuckDb(path('damaged.duckdb'), async (connection) => {
    for (const statement of statements) await connection.run(statement)
  })
  return words('damaged.duckdb')
}

/** The rows of a file as the queries of `protime verify --sql duckdb` print them. */
async function printed(file: string, streams: readonly string[]): Promise<string[]> {
  const argv = ['--sql', 'duckdb', '--streams', streams.join(','), ...words(file)]
  const { stdout } = await protime('verify', ...argv)
  const lines: string[] = []
  for (const query of stdout.trim().split('\n'))
    lines.push(...(await ask(path(file), query)).map(({ line }) => String(line)))
  writeFileSync(path('rows.jsonl'), `${lines.join('\n')}\n`)
  return ['--config', path('config.json'), '--rows', path('rows.jsonl')]
}

/** Every text of the tenant that no output may have. */
function valuesOf(): string[] {
  const texts = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(texts)
  const people = emulator.all('people').flatMap(({ changeVersion: _, ...row }) => texts(row))
  return [...new Set(people)].filter((text) => text.length > 3)
}

function expectNoValues({ stdout, stderr }: VerifyRun): void {
  const values = valuesOf()
  expect(values.length).toBeGreaterThan(50)
  const said = new Set(`${stdout}${stderr}`.match(/[^\s"',:[\]{}]+/g))
  expect(values.filter((value) => said.has(value))).toEqual([])
}

describe('protime verify', () => {
  it('finds no difference between a synced file and the service, and requests only lists', async () => {
    const before = deltasOf(emulator).length
    const run = await verify(...words('synced.duckdb'))
    expect(run).toMatchObject({ exitCode: 0, differences: [] })
    expect(run.summary).toMatchObject({ differences: 0, pending: 0, notVerified: [], failures: [] })
    const [{ records } = {}] = await ask(
      path('synced.duckdb'),
      "SELECT CAST(sum(rows) AS INTEGER) AS records FROM _protime.streams WHERE stream <> 'inventory'",
    )
    expect(run.summary['records']).toBe(records)
    expect(run.summary['requests']).toBeGreaterThan(32)
    expect(deltasOf(emulator)).toHaveLength(before)
    expectNoValues(run)
  })

  it('does not affect deltas: the next sync reads changes', async () => {
    copyFileSync(path('synced.duckdb'), path('next.duckdb'))
    const few = [...words('next.duckdb'), '--streams', 'people,jobs']
    await verify(...few)
    const { stderr } = await protime('sync', ...few)
    expect(stderr).toMatch(/people: .* incremental\./)
    expect(stderr).not.toContain('WARN')
    copyFileSync(path('next.duckdb'), path('synced.duckdb'))
  })

  const ONE = '(SELECT min(id) FROM clockings)'
  const faults: [what: string, statements: string[], difference: object][] = [
    ['a row is missing', [`DELETE FROM clockings WHERE id = ${ONE}`], { difference: 'missing' }],
    [
      'a row is too many, as after a lost delete',
      ['INSERT INTO clockings BY NAME SELECT * REPLACE (999999 AS id) FROM clockings LIMIT 1'],
      { key: 999_999, difference: 'too many', pending: true },
    ],
    [
      'a row is there twice',
      [`INSERT INTO clockings SELECT * FROM clockings WHERE id = ${ONE}`],
      { difference: 'too many', pending: true },
    ],
    [
      'a row is old',
      [
        `UPDATE clockings SET changeVersion = '00000000000000000001', kind = 'Other' WHERE id = ${ONE}`,
      ],
      { difference: 'old', fields: ['kind'] },
    ],
    [
      'a field is another one',
      [`UPDATE clockings SET timeOfDayInMinutes = timeOfDayInMinutes + 1 WHERE id = ${ONE}`],
      { difference: 'changed', fields: ['timeOfDayInMinutes'] },
    ],
    [
      'a field is empty',
      [`UPDATE clockings SET date = NULL WHERE id = ${ONE}`],
      { difference: 'changed', fields: ['date'] },
    ],
    [
      'a member of an object is another one',
      [`UPDATE clockings SET person = '{"id": 424242}' WHERE id = ${ONE}`],
      { difference: 'changed', fields: ['person'] },
    ],
  ]

  // verify-damage.thorough.ts damages the rows of a file in the other ways.
  const inFile = faults.filter(([what]) => /twice|member/.test(what))
  it.each(inFile)('says by stream, key and field that %s, in a file', async (_, sql, expected) => {
    const [{ id } = {}] = await ask(path('synced.duckdb'), `SELECT CAST(${ONE} AS INTEGER) AS id`)
    const run = await verify(...(await damaged(...sql)), '--streams', 'clockings,people')
    expect(run.exitCode).toBe(3)
    const [found, ...others] = run.differences
    const { version, ...told } = found ?? {}
    expect(others).toEqual([])
    expect(told).toEqual({ stream: 'clockings', key: id, ...expected })
    expect('pending' in expected || /^[0-9A-F]{20}$/.test(String(version))).toBe(true)
    expect(run.summary).toMatchObject({ differences: 1 })
    expectNoValues(run)
  })

  it.each(faults)(
    'says the same in rows that a warehouse printed: %s',
    async (_, sql, expected) => {
      await damaged(...sql)
      const run = await verify(...(await printed('damaged.duckdb', ['clockings', 'people'])))
      expect(run.exitCode).toBe(3)
      expect(run.differences).toEqual([
        expect.objectContaining({ stream: 'clockings', ...expected }),
      ])
      expectNoValues(run)
    },
  )

  it('finds no difference in rows that a warehouse printed', async () => {
    const argv = await printed('synced.duckdb', STREAMS)
    const run = await verify(...argv, '--streams', STREAMS.join(','))
    expect(run).toMatchObject({ exitCode: 0, differences: [] })
    expectNoValues(run)
  })

  it('prints no value of an external reference, which is in its key', async () => {
    const [{ value } = {}] = await ask(
      path('synced.duckdb'),
      "SELECT value FROM external_references WHERE collection = 'people' ORDER BY ALL LIMIT 1",
    )
    const statement = `DELETE FROM external_references WHERE value = '${value}'`
    const run = await verify(...(await damaged(statement)), '--streams', 'external_references')
    expect(run.exitCode).toBe(3)
    expect(run.differences[0]).toMatchObject({
      stream: 'external_references',
      key: ['people', expect.any(String), '****'],
      difference: 'missing',
      pending: true,
    })
    expect(run.stdout + run.stderr).not.toContain(`"${value}"`)
  })

  it('creates with --sync a file that only its owner can read', async () => {
    const run = await verify(...words('fresh.duckdb'), '--streams', 'jobs', '--sync', '--quiet')
    expect(run).toMatchObject({ exitCode: 0, differences: [] })
    expect(statSync(path('fresh.duckdb')).mode & 0o777).toBe(0o600)
  })

  it('prints no more differences than --limit, and counts all', async () => {
    const argv = [...(await damaged('DELETE FROM jobs')), '--streams', 'jobs']
    const run = await verify(...argv, '--limit', '2')
    expect(run.differences).toHaveLength(2)
    expect(run.summary['differences']).toBe(emulator.all('jobs').length)
  })
})

describe('protime verify ends', () => {
  it('with 1 if a request fails, and names the stream', async () => {
    emulator.fail('/jobs', 503)
    const run = await verify(...words('synced.duckdb'), '--streams', 'jobs,sectors')
    emulator.clearFaults()
    expect(run).toMatchObject({
      exitCode: 1,
      summary: { differences: 0, failures: [{ type: 'transient', stream: 'jobs' }] },
    })
  })

  it('with 1 while a sync has the file open', async () => {
    await withDuckDb(path('synced.duckdb'), async () => {
      const { ended } = startProtime(['verify', ...words('synced.duckdb')])
      const { exitCode, stdout } = await ended
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining('has the warehouse open')])
    })
  })

  it.each([
    ['another tenant', { tenant: 'another' }, []],
    ['another treatment of personal data', { personal_data: 'minimal' }, []],
    ['a stream that there is not', {}, ['--streams', 'poeple']],
    ['a wrong secret', { client_secret: 'wrong' }, []],
    ['no file of rows', {}, ['--rows', path.name]],
  ])('with 2 for %s', async (_, settings, more) => {
    configure(settings)
    const { exitCode } = await protime('verify', ...words('synced.duckdb'), ...more)
    configure({})
    expect(exitCode).toBe(2)
  })

  it.each([
    ['', 'it has no rows here'],
    [
      '{"stream":"people","row":7}',
      'Line 1 of the rows cannot be used. Its row is not a JSON object.',
    ],
    ['\n{"stream":"people"', 'Line 2 of the rows cannot be used. It is not a JSON object.'],
    ['{"stream":"people","row":{"a":1}}', 'The rows of people have no column id'],
  ])('with 2 for the rows %j', async (text, message) => {
    writeFileSync(path('rows.jsonl'), text)
    const run = await verify('--config', path('config.json'), '--rows', path('rows.jsonl'))
    expect(run.exitCode).toBe(2)
    expect(run.summary).toMatchObject({
      failures: [{ type: 'config', message: expect.stringContaining(message) }],
    })
  })

  it('with 1 if a stream has no list, and names it as not verified', async () => {
    emulator.fail('/departments', 404)
    const before = deltasOf(emulator).length
    const run = await verify(...words('synced.duckdb'), '--streams', 'departments,sectors')
    emulator.clearFaults()
    expect(run).toMatchObject({
      exitCode: 1,
      summary: { differences: 0, notVerified: ['departments'] },
    })
    expect(run.stderr).toContain('WARN departments was not verified: The service offers no list')
    expect(deltasOf(emulator)).toHaveLength(before)
  })

  it('with 2 if nothing was compared', async () => {
    emulator.fail('/departments', 404)
    const run = await verify(...words('synced.duckdb'), '--streams', 'departments')
    emulator.clearFaults()
    expect(run.exitCode).toBe(2)
  })
})

it('an empty table is distinguished from one that was not queried', async () => {
  await damaged('DELETE FROM jobs')
  const run = await verify(...(await printed('damaged.duckdb', ['jobs', 'sectors'])))
  expect(run.summary['differences']).toBe(emulator.all('jobs').length)
  expect(run.summary['notVerified']).toContain('people')
  expect(readFileSync(path('rows.jsonl'), 'utf8')).toContain('{"stream":"jobs"}\n')
})

describe('protime verify, while the service changes', () => {
  let copy: string[]
  beforeEach(async () => {
    configure({ streams: ['people', 'jobs', 'clockings'] })
    copy = await damaged()
    await protime('sync', ...copy)
  })

  const change = (seed: number) =>
    emulator.randomChanges({ inserts: 30, updates: 30, deletes: 20, softDeletes: 4, seed })

  it('marks rows that have changed since the last sync as pending, and finds them correct after the next one', async () => {
    change(11)
    const first = await verify(...copy)
    expect(first.exitCode).toBe(3)
    expect(first.differences.length).toBeGreaterThan(5)
    expect(first.summary['pending']).toBe(first.differences.length)
    writeFileSync(path('first.jsonl'), first.stdout)
    await protime('sync', ...copy)
    const again = await verify(...copy, '--again', path('first.jsonl'))
    expect(again).toMatchObject({ exitCode: 0, differences: [] })
  })

  it('distinguishes with --again what no sync has repaired from what has changed again', async () => {
    const [one = 0, two = 0] = emulator.all('people').map(({ id }) => Number(id))
    await withDuckDb(path('damaged.duckdb'), (connection) =>
      connection.run(`DELETE FROM people WHERE id IN (${one}, ${two})`),
    )
    const first = await verify(...copy)
    writeFileSync(path('first.jsonl'), first.stdout)
    emulator.update('people', two, { lastName: 'Changed' })
    emulator.update('jobs', Number(emulator.all('jobs')[0]?.['id']), {})
    const again = await verify(...copy, '--again', path('first.jsonl'))
    expect(again.exitCode).toBe(3)
    expect(again.differences).toMatchObject([{ key: one }, { key: two, pending: true }])
    expect(again.differences[0]).not.toHaveProperty('pending')
    expect(again.summary).toMatchObject({ differences: 2, pending: 1 })
  })

  it('explains with --sync whatever changes before and during the listing', async () => {
    let seed = 12
    const listed = new Set<string>()
    change(seed)
    // A list of a stream with a delta is one of the comparison.
    const stop = emulator.onRequest(({ path, query }) => {
      if (!['/people', '/clockings', '/jobs'].includes(path) || query.includes('delta')) return
      listed.add(path)
      change(++seed)
    })
    const run = await verify(...copy, '--sync', '--quiet')
    stop()
    expect(run).toMatchObject({ exitCode: 0, differences: [] })
    expect(listed.size).toBe(3)
    expect(run.summary['pending']).toBeGreaterThan(5)
  })

  it('finds the one real loss with --sync', async () => {
    await withDuckDb(path('damaged.duckdb'), (connection) =>
      connection.run('DELETE FROM people WHERE id = (SELECT max(id) FROM people)'),
    )
    change(13)
    const run = await verify(...copy, '--sync', '--quiet')
    expect(run).toMatchObject({
      exitCode: 3,
      differences: [{ stream: 'people', difference: 'missing' }],
    })
    expect(run.differences[0]).not.toHaveProperty('pending')
  })
})
