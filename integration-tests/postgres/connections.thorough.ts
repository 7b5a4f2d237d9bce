import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConnectorError } from '../../src/ground/errors.ts'
import type { Landing, OpenSettings, Patience } from '../../src/warehouse/landing.ts'
import { createPatience } from '../../src/warehouse/patience.ts'
import { postgres } from '../../src/warehouse/postgres/engine.ts'
import { type Fate, startProxy, startServer, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())

const NOW: Patience = (open) => open()
const ASLEEP = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'"

/** Opens a warehouse of nobody in particular to write it. */
function open(address: string, settings: Partial<OpenSettings> = {}): Promise<Landing> {
  return postgres.open(address, {
    folder: '/tmp',
    patience: NOW,
    inspect: async () => {},
    log: { info() {}, warn() {}, debug() {} },
    claim: ({ schemas }) => [`CREATE TABLE ${schemas.account}.owner (tenant TEXT)`],
    ...settings,
  })
}

describe('a warehouse in PostgreSQL', () => {
  it('has one sync at a time, and is free when that ends or loses its connections', async () => {
    const address = server.address('locked')
    const first = await open(address)
    await expect(open(address)).rejects.toMatchObject({ failure: 'transient', id: 'in-use' })
    await open(server.address('another')).then((other) => other.close())
    await first.close()
    const second = await open(address)
    await server.query(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'protime'",
    )
    const third = await open(address)
    await expect(second.run('SELECT 1')).rejects.toThrow()
    await third.close()
    await second.close()
  })

  it('is not written by a sync that has lost its lock after another one has begun', async () => {
    const address = server.address('fenced')
    const first = await open(address)
    await first.run('CREATE TABLE fenced.rows (n INTEGER)')
    await server.query(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory'",
    )
    const second = await open(address)
    await expect(first.run('INSERT INTO fenced.rows VALUES (1)')).rejects.toMatchObject({
      id: 'in-use',
    })
    await second.run('INSERT INTO fenced.rows VALUES (2)')
    expect(await server.query('SELECT n FROM fenced.rows')).toBe('2\n')
    await first.close()
    await second.close()
  })

  it('leaves no connection behind if it is refused, so that the process ends', async () => {
    const address = server.address('refused_owner')
    await open(address).then((landing) => landing.close())
    const another = async () =>
      Promise.reject(new ConnectorError('config', 'warehouse-of-another-tenant', 'Not yours.'))
    await expect(open(address, { inspect: another })).rejects.toThrow('Not yours.')
    await expect
      .poll(() =>
        server.query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'protime'"),
      )
      .toBe('0\n')
  })

  it('goes on when its connection is lost between two transactions', async () => {
    const landing = await open(server.address('lost'))
    await server.query(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'protime' AND state = 'idle'",
    )
    await landing.run('CREATE TABLE lost.rows (n INTEGER)')
    expect(await landing.query('SELECT count(*) FROM lost.rows')).toEqual([['0']])
    await landing.close()
  })

  it('is written whatever the role has been set to', async () => {
    await server.query(`CREATE ROLE careful LOGIN SUPERUSER PASSWORD '${server.password}'`)
    for (const setting of [
      'default_transaction_read_only = on',
      'default_transaction_isolation = serializable',
      "statement_timeout = '1s'",
      "idle_in_transaction_session_timeout = '500ms'",
      "idle_session_timeout = '500ms'",
      "search_path = ''",
    ])
      await server.query(`ALTER ROLE careful SET ${setting}`)
    const landing = await open(server.address('careful', { user: 'careful' }))
    await landing.run('CREATE TABLE careful.rows (n INTEGER)')
    await landing.query('SELECT pg_catalog.pg_sleep(1.2)')
    await new Promise((done) => setTimeout(done, 1_000))
    await landing.run('INSERT INTO careful.rows VALUES (1)')
    expect(await landing.query('SELECT n FROM careful.rows')).toEqual([['1']])
    await landing.close()
  })

  it('is waited for while a statement of a killed sync goes on', async () => {
    const address = server.address('going_on')
    await open(address).then((landing) => landing.close())
    const ended = server.query(
      'BEGIN; UPDATE going_on_meta.commits SET number = number; SELECT pg_sleep(5); COMMIT',
    )
    await expect.poll(() => server.query(`SELECT count(*) ${ASLEEP}`)).toBe('1\n')
    await expect(open(address)).rejects.toMatchObject({ failure: 'transient', id: 'in-use' })
    const { signal } = new AbortController()
    const log = { info() {}, warn() {}, debug() {} }
    const landing = await open(address, { patience: createPatience(60_000, { log, signal }) })
    await landing.close()
    await ended
  })

  it('is let go soon by a server whose client is gone, also in a long statement', async () => {
    const proxy = await startProxy(server.port, () => 'pass')
    const landing = await open(server.address('let_go', { port: proxy.port }))
    const lost = landing.query('SELECT pg_catalog.pg_sleep(3600)').catch(String)
    await expect.poll(() => server.query(`SELECT count(*) ${ASLEEP}`)).toBe('1\n')
    proxy.close()
    await lost
    await expect
      .poll(() => server.query(`SELECT count(*) ${ASLEEP}`), { timeout: 60_000 })
      .toBe('0\n')
    await landing.close()
  })

  it('asks after seconds whether a silent server or client is still there, rather than after hours', async () => {
    const landing = await open(server.address('silent'))
    expect(await landing.query('SHOW tcp_keepalives_idle')).toEqual([['20']])
    const port = server.port.toString(16).toUpperCase().padStart(4, '0')
    // The sockets of this process to the server: those that wait for a keepalive (02), and how long in hundredths of seconds.
    const timers = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , remote, state]) => remote?.endsWith(`:${port}`) && state === '01')
      .map(([, , , , , timer = '']) => timer.split(':'))
    expect(timers.map(([kind]) => kind)).toEqual(['02', '02'])
    for (const [, left = ''] of timers) expect(Number.parseInt(left, 16)).toBeLessThan(2_100)
    await landing.close()
  })

  it('holds back no vacuum while nothing is written', async () => {
    const landing = await open(server.address('idle'))
    const held = await server.query(
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'protime' AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)",
    )
    expect(held).toBe('0\n')
    await landing.close()
  })

  it.each<[Fate, number]>([
    ['drop before', 0],
    ['drop after', 1],
  ])('has each row once when the answer to COMMIT is lost: %s', async (fate, there) => {
    const schema = fate.replace(' ', '_')
    let drops = 0
    const proxy = await startProxy(server.port, (sent) =>
      drops > 0 && sent.includes('COMMIT\0') && drops-- > 0 ? fate : 'pass',
    )
    const landing = await open(server.address(schema, { port: proxy.port }))
    await landing.run(`CREATE TABLE ${schema}.rows (n INTEGER)`)
    drops = 1
    const written = landing.run(`INSERT INTO ${schema}.rows VALUES (1)`)
    if (there === 1) {
      await written
      await landing.run(`INSERT INTO ${schema}.rows VALUES (2)`)
      expect(await server.query(`SELECT count(*) FROM ${schema}.rows`)).toBe('2\n')
    } else {
      const error = await written.catch((reason: unknown) => reason)
      expect(landing.failureOf(error)).toMatchObject({
        error: { failure: 'transient', id: 'warehouse-not-reached' },
        isOfAll: true,
      })
      expect(await server.query(`SELECT count(*) FROM ${schema}.rows`)).toBe('0\n')
    }
    await landing.close()
    proxy.close()
  })

  it('waits for no lock of others for long, and tries again', async () => {
    const landing = await open(server.address('busy'))
    await landing.run('CREATE TABLE busy.rows (n INTEGER)')
    const reader = await postgres.read(server.address('busy'), NOW)
    await reader.query('SELECT * FROM busy.rows')
    const blocked = landing.run('ALTER TABLE busy.rows ADD COLUMN m INTEGER')
    setTimeout(() => void reader.close(), 3_000)
    await blocked
    const stays = await postgres.read(server.address('busy'), NOW)
    await stays.query('SELECT * FROM busy.rows')
    const error = await landing
      .run('ALTER TABLE busy.rows ADD COLUMN k INTEGER')
      .catch((reason: unknown) => reason)
    expect(landing.failureOf(error)).toMatchObject({
      error: { failure: 'transient', id: 'in-use' },
      isOfAll: false,
    })
    await stays.close()
    await landing.close()
  })

  it('needs neither a superuser nor TEMPORARY, and no right to create schemas that exist', async () => {
    await server.query(`CREATE ROLE loader LOGIN PASSWORD '${server.password}'`)
    await server.query('REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC')
    const address = server.address('own', { user: 'loader' })
    await expect(open(address)).rejects.toMatchObject({ failure: 'config', id: 'rights-missing' })
    for (const name of ['own', 'own_flat', 'own_history', 'own_meta'])
      await server.query(`CREATE SCHEMA ${name} AUTHORIZATION loader`)
    const landing = await open(address)
    await landing.atomically(() => landing.scratch('_protime_last', 'SELECT 1 AS one'))
    await landing.close()
  })

  it('is not read without the right to read all rows', async () => {
    const landing = await open(server.address('secret'))
    await landing.run('CREATE TABLE secret.rows (n INTEGER)')
    await landing.close()
    await server.query(`CREATE ROLE report LOGIN PASSWORD '${server.password}'`)
    await server.query('GRANT USAGE ON SCHEMA secret TO report')
    const readRows = async () => {
      const reader = await postgres.read(server.address('secret', { user: 'report' }), NOW)
      try {
        for await (const rows of reader.texts('secret.rows', 'source.n')) return rows.length
        return 0
      } finally {
        await reader.close()
      }
    }
    const refused = { failure: 'config', id: 'rights-missing' }
    await expect(readRows()).rejects.toMatchObject(refused)
    await server.query('GRANT SELECT ON secret.rows TO report')
    expect(await readRows()).toBe(0)
    await server.query('ALTER TABLE secret.rows ENABLE ROW LEVEL SECURITY')
    await expect(readRows()).rejects.toMatchObject(refused)
  })

  it('has no account in a schema of somebody else, whose tables may have the names of its own', async () => {
    await server.query(
      'CREATE SCHEMA hr_meta; CREATE TABLE hr_meta.closes (period TEXT); CREATE TABLE hr_meta.next_people (mine INTEGER)',
    )
    await expect(open(server.address('hr'))).rejects.toMatchObject({
      failure: 'config',
      id: 'name-taken',
      message: expect.stringMatching(/hr_meta\.(closes|next_people) that no sync has created/),
    })
    await server.query('DROP TABLE hr_meta.closes, hr_meta.next_people')
    await open(server.address('hr')).then((landing) => landing.close())
    await open(server.address('hr')).then((landing) => landing.close())
  })

  it.each([
    ['a wrong password', { env: 'wrong-word' }, {}, 'config', 'warehouse-not-opened'],
    ['no password', { env: '' }, {}, 'config', 'password-missing'],
    ['a missing server', {}, { port: 1 }, 'transient', 'warehouse-not-reached'],
    ['no TLS', {}, { mode: '&sslmode=require' }, 'config', 'warehouse-not-opened'],
    ['a word of SQL as schema', {}, { schema: 'table' }, 'config', 'warehouse-not-opened'],
    ['an unknown database', {}, { database: 'nowhere' }, 'config', 'warehouse-not-opened'],
  ] as const)(
    'refuses %s',
    async (_what, { env }: { env?: string }, at: Readonly<
      Record<string, string | number>
    >, failure, id) => {
      const { port = server.port, mode = '', schema = 'refused', database = 'postgres' } = at
      const before = process.env['PGPASSWORD']
      if (env !== undefined) process.env['PGPASSWORD'] = env
      const address = `postgres://protime@127.0.0.1:${port}/${database}?schema=${schema}${mode}`
      const error = await open(address).catch((reason: unknown) => reason)
      process.env['PGPASSWORD'] = before
      expect(error).toMatchObject({ failure, id })
      expect(String(error)).not.toMatch(/wrong-word|loopback-only/)
    },
  )

  it('is encrypted, and only with a certificate that is trusted unless the address says otherwise', async () => {
    const [key, certificate] = ['server.key', 'server.crt'].map((name) => join(server.data, name))
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', '2', '-keyout', String(key), '-out', String(certificate), ...names],
      ],
      { stdio: 'ignore' },
    )
    const { uid } = statSync(server.data)
    for (const file of [key, certificate]) chownSync(String(file), uid, uid)
    chmodSync(String(key), 0o600)
    await server.query('ALTER SYSTEM SET ssl = on')
    await server.query('SELECT pg_reload_conf()')
    const address = server.address('encrypted').replace('127.0.0.1', 'localhost')
    await expect
      .poll(() => open(`${address}&sslmode=require`).then((one) => one.close(), String))
      .toBe(undefined)
    const unchecked = await open(`${address}&sslmode=require`)
    expect(
      await server.query(
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'protime' AND NOT ssl",
      ),
    ).toBe('0\n')
    await unchecked.close()
    await expect(open(`${address}&sslmode=verify-full`)).rejects.toMatchObject({
      failure: 'config',
      id: 'warehouse-not-opened',
      message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    })
  })
})
