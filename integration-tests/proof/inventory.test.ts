import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { temporaryFolder } from '../testing/files.ts'
import { inventoryDifferences } from '../testing/inventory.ts'
import { ask, protime, withDuckDb } from '../testing/protime.ts'
import { type AirbyteOptions, type AirbyteRun, run } from '../testing/run.ts'

/** Streams of each kind that the damaged rows are of. */
const FEW = { streams: ['people', 'jobs', 'clockings', 'external_references', 'inventory'] }
const CHANGES = { inserts: 30, updates: 40, deletes: 20, softDeletes: 10 }

let tenant: Tenant
let folder: ReturnType<typeof temporaryFolder>
const path = (name: string) => join(folder.path, name)
const warehouse = () => path('tenant.duckdb')

async function open(): Promise<void> {
  tenant = await startTenant()
  folder = temporaryFolder()
  configure({})
}

async function close(): Promise<void> {
  await tenant.emulator.close()
  folder.remove()
}

function configure(settings: object): void {
  const config = { ...tenant.config, retry_minutes: 0, ...settings }
  writeFileSync(path('config.json'), JSON.stringify(config), { mode: 0o600 })
}

function sync(...words: readonly string[]) {
  return protime('sync', '--config', path('config.json'), '--warehouse', warehouse(), ...words)
}

const differences = () => withDuckDb(warehouse(), inventoryDifferences)

function read(catalog: NonNullable<AirbyteOptions['catalog']>, state: AirbyteRun['state'] = []) {
  const { config } = tenant
  return run({ program: 'source-protime', command: 'read', in: 'process', config, catalog, state })
}

describe('the stream inventory', () => {
  beforeEach(open)
  afterEach(close)

  it('describes the tables after each sync, as SQL computes them', async () => {
    configure(FEW)
    expect(await sync()).toMatchObject({ exitCode: 0 })
    expect(await differences()).toEqual([])
    for (const seed of [1, 2]) {
      tenant.emulator.randomChanges({ ...CHANGES, seed })
      expect(await sync()).toMatchObject({ exitCode: 0 })
      expect(await differences()).toEqual([])
    }
  })

  it('is right with a history, and has none itself', async () => {
    configure({ ...FEW, history: true })
    await sync()
    tenant.emulator.randomChanges(CHANGES)
    await sync()
    expect(await differences()).toEqual([])
    await sync('--streams', 'jobs,inventory')
    tenant.emulator.randomChanges({ ...CHANGES, seed: 2 })
    await sync('--streams', 'clockings')
    expect(await differences()).toEqual([])
    const views = "SELECT view_name FROM duckdb_views() WHERE schema_name = 'history'"
    expect((await ask(warehouse(), views)).map(({ view_name }) => view_name).sort()).toEqual(
      [...(FEW.streams as readonly string[])].filter((name) => name !== 'inventory').sort(),
    )
  })

  it('counts a row with an impossible date among those without a date, as its table does', async () => {
    configure({ streams: ['clockings', 'inventory'], audit_days: 1 })
    await sync()
    tenant.emulator.insert('clockings', { date: '2026-09-31' })
    tenant.emulator.advance({ hours: 25 })
    expect(await sync()).toMatchObject({ exitCode: 0 })
    expect(await differences()).toEqual([])
    const parts = await ask(warehouse(), "SELECT records FROM inventory WHERE part = 'none'")
    expect(parts).toEqual([{ records: '1' }])
  })

  it.each([
    ['minimal', FEW.streams.filter((stream) => stream !== 'external_references')],
    ['pseudonymised', FEW.streams],
  ])('is of what is handed over, where personal_data is %s', async (personal_data, streams) => {
    configure({ personal_data, streams, privacy_key: 'Wq3-xkT9_mB7vZ2p', audit_days: 1 })
    await sync()
    tenant.emulator.advance({ hours: 25 })
    tenant.emulator.randomChanges(CHANGES)
    expect(await sync()).toMatchObject({ exitCode: 0 })
    expect(await differences()).toEqual([])
  })

  it('makes no further requests', async () => {
    const requests = async (names: readonly string[]) => {
      const before = tenant.emulator.requests.length
      await read(names)
      return tenant.emulator.requests.slice(before).map(({ path }) => path)
    }
    const names = ['jobs', 'sectors']
    expect((await requests([...names, 'inventory'])).sort()).toEqual((await requests(names)).sort())
  })

  it('has no sums of a stream that failed, but those of the others', async () => {
    configure(FEW)
    await sync()
    tenant.emulator.randomChanges(CHANGES)
    tenant.emulator.fail('/jobs', 500)
    tenant.emulator.fail('/delta/jobs', 500)
    expect(await sync()).toMatchObject({ exitCode: 1 })
    const unsure = await ask(
      warehouse(),
      'SELECT stream, records, keys FROM inventory WHERE NOT "isComplete"',
    )
    expect(unsure).toEqual([{ stream: 'jobs', records: null, keys: null }])
    expect(await differences()).toEqual([])
  })

  it('comes last, once, without the rows of streams that are no longer read', async () => {
    const first = await read(['jobs', 'inventory', 'people'])
    const names = first.messages.flatMap(({ record }) => record?.stream ?? [])
    expect(names.slice(-2)).toEqual(['inventory', 'inventory'])
    expect(names.filter((name) => name === 'inventory')).toHaveLength(2)
    const next = await read(['jobs', 'inventory'], first.state)
    const parts = next.records('inventory').map((row) => [row['stream'], row['_ab_cdc_deleted_at']])
    expect(parts).toEqual([
      ['jobs', null],
      ['people', expect.any(String)],
    ])
  })

  it('counts a full refresh without the rows that the service marks as deleted', async () => {
    tenant.emulator.randomChanges(CHANGES)
    const refresh = (name: string) => ({ name, sync_mode: 'full_refresh' })
    const { records } = await read(['clockings', 'inventory'].map(refresh))
    const marked = records('clockings').filter((row) => row['_ab_cdc_deleted_at'] !== null)
    expect(marked.length).toBeGreaterThan(0)
    const [row] = records('inventory')
    expect(row?.['records']).toBe(records('clockings').length - marked.length)
  })

  it('has no sums of a full refresh that continues an interrupted one', async () => {
    tenant.emulator.options.pageSize = 1
    const catalog = ['people', 'inventory'].map((name) => ({ name, sync_mode: 'full_refresh' }))
    const { config } = tenant
    const place = { program: 'source-protime', command: 'read', in: 'process' } as const
    const cut = await run({ ...place, config, catalog, killAfter: 12 })
    const { exitCode, records } = await read(catalog, cut.state)
    expect(exitCode).toBe(0)
    expect(records('people').length).toBeLessThan(tenant.emulator.all('people').length)
    expect(records('inventory')).toEqual([
      expect.objectContaining({ stream: 'people', records: null, keys: null, isComplete: false }),
    ])
  })

  it('is refused if no other stream is read', async () => {
    const { stderr, exitCode } = await sync('--streams', 'inventory')
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/and none of them is selected/)])
  })
})

describe('the stream inventory of one warehouse', () => {
  beforeAll(async () => {
    await open()
    configure(FEW)
    await sync()
    copyFileSync(warehouse(), path('synced.duckdb'))
    configure({ ...FEW, audit_days: 1 })
    tenant.emulator.advance({ hours: 25 })
    await sync()
    copyFileSync(warehouse(), path('audited.duckdb'))
  })
  afterAll(close)

  it.each([
    ['a row that was lost', 'DELETE FROM clockings WHERE id = (SELECT min(id) FROM clockings)'],
    ['a row that was kept', 'INSERT INTO people (id) VALUES (987654)'],
    [
      'a row in place of another',
      'UPDATE jobs SET id = 987654 WHERE id = (SELECT min(id) FROM jobs)',
    ],
    ['a reference with another value', "UPDATE external_references SET value = value || 'x'"],
  ])('shows %s', async (_what, statement) => {
    copyFileSync(path('synced.duckdb'), warehouse())
    await withDuckDb(warehouse(), (connection) => connection.run(statement))
    const [table = ''] = /people|jobs|clockings|external_references/.exec(statement) ?? []
    const found = await differences()
    expect(found.filter((text) => !text.startsWith(`${table} all: `))).toEqual([])
    expect(found).not.toEqual([])
  })

  it.each([
    [
      'an old row',
      `UPDATE jobs SET "changeVersion" = '0' WHERE id = (SELECT min(id) FROM jobs)`,
      'jobs all: versions',
    ],
    [
      'another value',
      'UPDATE people SET "birthDate" = NULL WHERE id = (SELECT min(id) FROM people WHERE "birthDate" IS NOT NULL)',
      'people all: content',
    ],
    [
      'a value inside an object',
      `UPDATE clockings SET person = '{"id":987654}' WHERE id = (SELECT min(id) FROM clockings)`,
      /^clockings \d{4}-\d\d: content/,
    ],
    [
      'a row that was lost',
      'DELETE FROM clockings WHERE id = (SELECT min(id) FROM clockings)',
      /^clockings \d{4}-\d\d: records/,
    ],
  ])('shows %s after an audit, with its part', async (_what, statement, expected) => {
    copyFileSync(path('audited.duckdb'), warehouse())
    await withDuckDb(warehouse(), (connection) => connection.run(statement))
    const found = await differences()
    expect(found).toContainEqual(expect.stringMatching(expected))
    const table = String(
      /^\^?(\w+)/.exec(typeof expected === 'string' ? expected : expected.source)?.[1],
    )
    expect(found.filter((text) => !text.startsWith(table))).toEqual([])
  })

  it('has only sums of keys again after the sync that follows an audit', async () => {
    copyFileSync(path('audited.duckdb'), warehouse())
    const before = await ask(warehouse(), 'SELECT count(*) AS parts FROM inventory')
    await sync()
    expect(await differences()).toEqual([])
    expect(before).not.toEqual(await ask(warehouse(), 'SELECT count(*) AS parts FROM inventory'))
  })
})
