import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tenant } from '../engines/tenant.ts'
import { PRIVACY_KEY } from '../histories/history.ts'
import { protime, verify } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'
import { flatDifferences } from './flat-views.ts'
import { startServer, type TestServer } from './server.ts'

/** Streams of each kind; all of them cost most of a second each time. */
const FEW = ['people', 'jobs', 'sectors', 'clockings', 'calculated_totals']
const CHANGES = { inserts: 40, updates: 40, deletes: 30, softDeletes: 5 }

let server: TestServer
let folder: string
let tenant: Tenant
let schemas = 0
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
  schemas++
})

const schema = () => `acme_${schemas}`
const address = () => server.address(schema())

/** Runs a command with the configuration of the tenant. */
async function run(command: string, ...words: readonly string[]) {
  const { exitCode, stdout, stderr } = await protime(command, ...configured(), ...words)
  return { exitCode, stdout, stderr }
}

function configured(settings: object = {}): string[] {
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ ...tenant.config, ...settings }), { mode: 0o600 })
  return ['--config', config]
}

const sync = (...words: readonly string[]) => run('sync', '--warehouse', address(), ...words)
const syncFew = (...words: readonly string[]) => sync('--streams', FEW.join(','), ...words)
const ask = async (sql: string) => (await server.query(sql)).trim()
const verified = () => verify(...configured(), '--warehouse', address())

describe('protime sync into PostgreSQL', () => {
  it('makes the warehouse equal to the service, and its views equal to those of DuckDB', {
    timeout: 180_000,
  }, async () => {
    expect(await sync()).toMatchObject({ exitCode: 0 })
    expect((await verified()).differences).toEqual([])
    tenant.emulator.randomChanges(CHANGES)
    expect(await sync()).toMatchObject({ exitCode: 0 })
    expect(await verified()).toMatchObject({ exitCode: 0, differences: [] })
    const file = join(folder, 'acme.duckdb')
    await run('sync', '--warehouse', file)
    expect(await flatDifferences(server, schema(), file)).toEqual([])
  })

  it('touches nothing by a complete read of unchanged rows', async () => {
    await syncFew()
    const marks = () =>
      ask(`SELECT string_agg(xmin::text || ctid::text, ',' ORDER BY id) FROM ${schema()}.clockings`)
    const before = await marks()
    await syncFew('--full-refresh')
    expect(await marks()).toBe(before)
  })

  it('leaves views, grants, indexes and columns of others while it replaces rows', async () => {
    await syncFew()
    await server.query(`CREATE ROLE reader_${schemas}`)
    for (const statement of [
      `CREATE SCHEMA theirs_${schemas}`,
      `CREATE VIEW theirs_${schemas}.days AS SELECT date, count(*) AS n FROM ${schema()}_flat.clockings GROUP BY date`,
      `GRANT SELECT ON ${schema()}.clockings TO reader_${schemas}`,
      `CREATE INDEX theirs ON ${schema()}.clockings (date)`,
      `ALTER TABLE ${schema()}.people ADD COLUMN note TEXT NOT NULL DEFAULT 'mine'`,
      `ALTER TABLE ${schema()}.people ADD COLUMN "Note" TEXT, ADD COLUMN "LastName" INTEGER, ADD COLUMN number INTEGER GENERATED ALWAYS AS IDENTITY`,
      `ALTER TABLE ${schema()}.clockings ADD COLUMN twice BIGINT GENERATED ALWAYS AS (id * 2) STORED`,
      `ALTER TABLE ${schema()}.people ADD PRIMARY KEY (id)`,
      `CREATE TABLE theirs_${schemas}.badges AS SELECT id FROM ${schema()}.people WHERE id <> 1`,
      `ALTER TABLE theirs_${schemas}.badges ADD FOREIGN KEY (id) REFERENCES ${schema()}.people ON DELETE CASCADE`,
    ])
      await server.query(statement)
    tenant.emulator.randomChanges(CHANGES)
    tenant.emulator.update('people', 2, { lastName: 'Another' })
    tenant.emulator.remove('people', 3)
    tenant.emulator.advance({ hours: 73 })
    expect(await syncFew()).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining('no sync has'),
    })
    expect(await ask(`SELECT sum(n) FROM theirs_${schemas}.days`)).toBe(
      await ask(`SELECT count(*) FROM ${schema()}.clockings`),
    )
    expect(
      await ask(
        `SELECT has_table_privilege('reader_${schemas}', '${schema()}.clockings', 'SELECT')`,
      ),
    ).toBe('t')
    expect(
      await ask(
        `SELECT count(*) FROM pg_indexes WHERE schemaname = '${schema()}' AND indexname = 'theirs'`,
      ),
    ).toBe('1')
    expect(await ask(`SELECT count(*) FROM ${schema()}.people WHERE note <> 'mine'`)).toBe('0')
    expect(
      await ask(`SELECT string_agg(id::TEXT, ',') FROM theirs_${schemas}.badges WHERE id < 4`),
    ).toBe('2')
    expect((await verified()).differences).toEqual([])
  })

  it('keeps the values in columns of others of a row that somebody has written twice', async () => {
    await syncFew()
    const jobs = `${schema()}.jobs`
    await server.query(
      `ALTER TABLE ${jobs} ADD COLUMN note TEXT; UPDATE ${jobs} SET note = 'mine ' || id; ALTER TABLE ${jobs} ADD COLUMN number INTEGER GENERATED ALWAYS AS IDENTITY`,
    )
    const before = await ask(`SELECT string_agg(jobs::text, ',' ORDER BY id) FROM ${jobs} AS jobs`)
    await server.query(`INSERT INTO ${jobs} (id, _known_from) SELECT id, now() FROM ${jobs}`)
    await syncFew('--full-refresh')
    expect(await ask(`SELECT string_agg(jobs::text, ',' ORDER BY id) FROM ${jobs} AS jobs`)).toBe(
      before,
    )
    expect((await verified()).differences).toEqual([])
  })

  it('shows a reader two states of a stream that is replaced, and no other', async () => {
    await syncFew()
    const seen = new Set<string>()
    let isOver = false
    const poll = (async () => {
      while (!isOver)
        seen.add(
          await ask(
            `SELECT count(*), sum(hashtext(clockings::text)) FROM ${schema()}.clockings AS clockings`,
          ),
        )
    })()
    tenant.emulator.randomChanges({ inserts: 200, updates: 200, deletes: 100, softDeletes: 0 })
    tenant.emulator.advance({ hours: 73 })
    await syncFew()
    isOver = true
    await poll
    expect(seen.size).toBeLessThanOrEqual(2)
  })

  it('rewrites everything where it is after stricter settings of personal data', async () => {
    await syncFew()
    await server.query(`CREATE VIEW theirs_of_${schemas} AS SELECT * FROM ${schema()}_flat.people`)
    const strict = configured({
      personal_data: 'pseudonymised',
      privacy_key: PRIVACY_KEY,
    })
    const words = ['sync', ...strict, '--warehouse', address(), '--streams', FEW.join(',')]
    expect(await protime(...words)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--rewrite'),
    })
    const names = await ask(
      `SELECT count(DISTINCT "lastname") FROM ${schema()}.people WHERE "lastname" IS NOT NULL`,
    )
    expect(Number(names)).toBeGreaterThan(0)
    const old = await ask(`SELECT replace(min("lastname"), '''', '''''') FROM ${schema()}.people`)
    expect(await protime(...words, '--rewrite')).toMatchObject({ exitCode: 0 })
    expect(
      await ask(
        `SELECT count(*) FROM ${schema()}.people AS people WHERE people::text LIKE '%' || '${old}' || '%'`,
      ),
    ).toBe('0')
    expect(
      await verify(...strict, '--warehouse', address(), '--streams', FEW.join(',')),
    ).toMatchObject({ exitCode: 0 })
    expect(await ask(`SELECT count(*) FROM pg_class WHERE relname = 'rewrite'`)).toBe('0')
    // States of before have the ids of people whom the settings may leave out now.
    const vacuumed = await ask(
      `SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_stat_user_tables
        WHERE schemaname LIKE '${schema()}%' AND last_vacuum IS NOT NULL`,
    )
    expect(vacuumed.split(',')).toEqual([...FEW, 'states'].toSorted())
    expect(await protime(...words)).toMatchObject({ exitCode: 0 })
  })

  it('says until all tables are vacuumed that a rewrite has not ended, and has any time for that', async () => {
    await syncFew()
    await server.query(
      `CREATE ROLE hasty LOGIN SUPERUSER PASSWORD '${server.password}'; ALTER ROLE hasty SET lock_timeout = '1s'`,
    )
    const hasty = ['sync', ...configured(), '--streams', FEW.join(',')]
    const words = [...hasty, '--warehouse', server.address(schema(), { user: 'hasty' })]
    const holds = `BEGIN; LOCK TABLE ${schema()}_meta.states IN SHARE UPDATE EXCLUSIVE MODE; SELECT pg_sleep(3600)`
    const ended = server.query(holds).catch(String)
    const isAsleep = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    await expect.poll(() => ask(`SELECT count(*) ${isAsleep}`)).toBe('1')
    expect(await protime(...words, '--rewrite')).toMatchObject({ exitCode: 1 })
    const warning = expect.stringContaining('[rewrite-not-complete]')
    expect(await protime(...words)).toMatchObject({ exitCode: 0, stderr: warning })
    await server.query(
      "ALTER ROLE hasty RESET lock_timeout; ALTER ROLE hasty SET statement_timeout = '1s'",
    )
    const rewritten = protime(...words, '--rewrite')
    const waits = `SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND now() - query_start > '2s'`
    await expect.poll(() => ask(waits), { timeout: 60_000 }).toBe('1')
    await server.query(`SELECT pg_terminate_backend(pid) ${isAsleep}`)
    expect(await ended).toContain('terminating connection')
    expect(await rewritten).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining('WARN'),
    })
    expect(await protime(...words)).toMatchObject({ stderr: expect.not.stringContaining('WARN') })
  })

  it('rewritten without a stream has none of its rows, and reads it again when it is wanted', async () => {
    await syncFew()
    const fewer = configured({ streams: ['people', 'jobs'] })
    const at = ['--warehouse', address()]
    expect(await protime('sync', ...fewer, ...at, '--rewrite')).toMatchObject({ exitCode: 0 })
    expect(await ask(`SELECT count(*) FROM ${schema()}.sectors`)).toBe('0')
    const { stdout } = await protime('status', ...fewer, ...at, '--json')
    const { streams } = JSON.parse(stdout) as { streams: readonly { stream: string }[] }
    expect(streams.find(({ stream }) => stream === 'sectors')).toMatchObject({ rows: 0 })
    expect(await syncFew()).toMatchObject({ exitCode: 0 })
    expect((await verified()).differences).toEqual([])
  })

  it('is asked by the other commands, also as a member of the configuration', async () => {
    await syncFew()
    const config = configured({ warehouse: address(), streams: FEW })
    const status = await protime('status', ...config, '--json')
    expect(JSON.parse(status.stdout)).toMatchObject({ tenant: 'demo', sync: { exit: 0 } })
    const rows = await protime('query', ...config, '--json', 'SELECT count(*) AS n FROM people')
    expect(JSON.parse(rows.stdout)).toEqual({
      n: Number(await ask(`SELECT count(*) FROM ${schema()}.people`)),
    })
    expect(await protime('sync', ...config)).toMatchObject({ exitCode: 0 })
    expect(await protime('verify', ...config, '--sync')).toMatchObject({ exitCode: 0 })
    const project = join(folder, 'models')
    expect(await protime('dbt', 'init', ...config, '--project', project)).toMatchObject({
      exitCode: 0,
    })
    expect(readFileSync(join(project, 'profiles.yml'), 'utf8')).toContain('type: postgres')
    const published = await protime('sync', ...config, '--publish', join(folder, 'copy.duckdb'))
    expect(published).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Leave --publish out'),
    })
    const all = [status, rows, published].map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(all).not.toContain(server.password)
  })

  it('refuses the warehouse of another tenant, and a password in the address', async () => {
    await syncFew()
    const { environment } = tenant.config as { environment: { auth_url: string } }
    const another = configured({
      tenant: 'another',
      environment: { ...environment, auth_url: environment.auth_url.replace('/demo', '/another') },
    })
    expect(await protime('sync', ...another, '--warehouse', address())).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('rows of another tenant'),
    })
    const open = address().replace('protime@', 'protime:open-word@')
    const refused = await run('sync', '--warehouse', open)
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('PGPASSWORD') })
    expect(refused.stdout + refused.stderr).not.toContain('open-word')
  })

  it('updates and deletes rows while every table is in a publication', async () => {
    await syncFew()
    const theirs = `${schema()}.theirs`
    await server.query(`CREATE TABLE ${theirs} (mine INTEGER)`)
    // By which it could be told from a table of others.
    await server.query(`ALTER TABLE ${schema()}.people DROP COLUMN _known_from CASCADE`)
    await server.query('CREATE PUBLICATION everything FOR ALL TABLES')
    // Two tables are new.
    const more = ['--streams', [...FEW, 'departments', 'external_references'].join(',')]
    try {
      tenant.emulator.randomChanges(CHANGES)
      expect(await sync(...more)).toMatchObject({ exitCode: 0 })
      tenant.emulator.randomChanges(CHANGES)
      expect(await sync(...more, '--full-refresh')).toMatchObject({ exitCode: 0 })
      await server.query(`DROP TABLE ${schema()}.clockings CASCADE`)
      expect(await sync(...more)).toMatchObject({ exitCode: 0 })
      expect(await sync(...more, '--rewrite')).toMatchObject({ exitCode: 0 })
    } finally {
      await server.query('DROP PUBLICATION everything')
    }
    const identity = `SELECT relreplident FROM pg_class WHERE oid = '${theirs}'::regclass`
    expect(await ask(identity)).toBe('d')
    expect((await verified()).differences).toEqual([])
  })

  it('says which view objects of others hold back, and makes it when they are gone', async () => {
    await syncFew()
    const view = `${schema()}_flat.jobs`
    await server.query(`DROP VIEW ${view}; CREATE VIEW ${view} AS SELECT 'a' AS id`)
    await server.query(`CREATE VIEW ${schema()}.theirs AS SELECT id FROM ${view}`)
    const warned = async () => (await syncFew()).stderr.match(/view-not-made|table-changed/g)
    expect([await warned(), await warned()]).toEqual([['view-not-made'], ['view-not-made']])
    await server.query(`DROP VIEW ${schema()}.theirs`)
    expect([await warned(), await warned()]).toEqual([['table-changed'], null])
    expect(Number(await ask(`SELECT count(*) FROM ${view} WHERE id > 0`))).toBeGreaterThan(0)
  })

  it('repairs a table that somebody has dropped or changed', async () => {
    await syncFew()
    await server.query(`DROP TABLE ${schema()}.clockings CASCADE`)
    await server.query(`ALTER TABLE ${schema()}.people DROP COLUMN firstname CASCADE`)
    await server.query(`DROP VIEW ${schema()}_flat.jobs`)
    await server.query(`ALTER TABLE ${schema()}.jobs ALTER COLUMN id TYPE TEXT`)
    const { exitCode, stderr } = await syncFew()
    expect([exitCode, stderr.match(/though no sync has done that/g)?.length]).toEqual([0, 6])
    expect((await verified()).differences).toEqual([])
    expect(Number(await ask(`SELECT count(*) FROM ${schema()}_flat.clockings`))).toBeGreaterThan(0)
  })
})
