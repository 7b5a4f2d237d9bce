import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Tenant } from '../engines/tenant.ts'
import { warehouseDifferences } from '../testing/compare.ts'
import { ask, type ProtimeChild, protime, startProtime, withDuckDb } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'

/** One stream, where it does not matter which. */
const ONE = { streams: ['jobs'] }
/** Streams of each kind; all of them cost most of a second each time. */
const FEW = { streams: ['people', 'jobs', 'sectors', 'calculated_totals'] }
const CHANGES = { inserts: 40, updates: 40, deletes: 30, softDeletes: 5 }
/** Makes a process in which loading DuckDB fails. */
function withoutDuckDb(message: string, code: string): string {
  const error = `Object.assign(new Error('${message}'), { code: '${code}' })`
  const hook = `export async function resolve(name, context, next) {
    if (!name.startsWith('@duckdb/')) return next(name, context)
    throw ${error}
  }`
  return module(`import { register } from 'node:module'; register(${JSON.stringify(module(hook))})`)
}

function module(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`
}

let folder: string
let tenant: Tenant
let children: ProtimeChild[]
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
  children = []
})
afterEach(async () => {
  for (const { child } of children) child.kill('SIGKILL')
  await Promise.all(children.map(({ ended }) => ended))
})

const environment = () =>
  tenant.emulator.config()['environment'] as {
    readonly base_url: string
    readonly auth_url: string
  }
/** What makes of the configuration that of another tenant. */
const another = () => ({
  tenant: 'another',
  environment: {
    ...environment(),
    auth_url: environment().auth_url.replace('/demo', '/another'),
  },
})
const warehouse = () => join(folder, 'acme.duckdb')
const differences = () => warehouseDifferences(warehouse(), tenant.truth)

function argv(settings: object, words: readonly string[]): string[] {
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify({ ...tenant.config, ...settings }), { mode: 0o600 })
  return ['sync', '--config', file, '--warehouse', warehouse(), ...words]
}

async function sync(settings: object = {}, ...words: readonly string[]) {
  const { exitCode, stdout, stderr } = await protime(...argv(settings, words))
  return { exitCode, stderr, ...(JSON.parse(stdout) as Result) }
}

interface Result {
  readonly records: number
  readonly failures: readonly { readonly type: string; readonly message: string }[]
}

function start(...given: Parameters<typeof startProtime>): ProtimeChild {
  const started = startProtime(...given)
  children.push(started)
  return started
}

/** A second sync that has committed every stream but one, whose changes never come. */
async function startHanging(
  words: readonly string[] = [],
  shell?: readonly string[],
): Promise<ProtimeChild> {
  await sync(FEW)
  tenant.emulator.randomChanges(CHANGES)
  tenant.emulator.fault('/delta/calculated-totals', 'hang')
  const hanging = start(argv(FEW, words), shell && { shell })
  await expect.poll(hanging.log).toContain('INFO committed')
  return hanging
}

const startsOf = (collection: string) =>
  tenant.emulator.requests.filter(
    ({ path, query }) => path === `/${collection}` && query === 'delta',
  ).length

describe('protime sync', () => {
  it('makes the warehouse equal to the service, deletes included', async () => {
    expect(await sync()).toMatchObject({ exitCode: 0, failures: [] })
    expect(await differences()).toEqual([])
    tenant.emulator.randomChanges(CHANGES)
    expect(await sync()).toMatchObject({ exitCode: 0, failures: [] })
    expect(await differences()).toEqual([])
  })

  it('takes no view for changed that DuckDB prints otherwise after its file was opened again', async () => {
    const views = { streams: ['clockings', 'contracts'] }
    await sync(views)
    expect((await sync(views)).stderr).not.toContain('WARN')
  })

  it('makes the warehouse equal to the service after three days, when the deltas have expired', async () => {
    await sync(FEW)
    tenant.emulator.randomChanges(CHANGES)
    tenant.emulator.advance({ hours: 73 })
    expect(await sync(FEW)).toMatchObject({ exitCode: 0, failures: [] })
    expect(startsOf('people')).toBe(2)
    expect(await differences()).toEqual([])
  })

  it('ends with 2 if only a person can solve the problem', async () => {
    const failures = [{ type: 'config' }]
    expect(await sync({ ...ONE, client_secret: 'wrong' })).toMatchObject({ exitCode: 2, failures })
    expect(await sync({ ...ONE, concurrency: 'many' })).toMatchObject({ exitCode: 2, failures })
    expect(await sync({ streams: ['jops'] })).toMatchObject({ exitCode: 2, failures })
    expect(await sync({ streams: 'jobs' })).toMatchObject({ exitCode: 2, failures })
  })

  it('refuses the warehouse of another tenant, even with --full-refresh, and does not change it', async () => {
    await sync(ONE)
    const before = readFileSync(warehouse())
    for (const words of [[], ['--full-refresh'], ['--streams', 'departments']])
      expect(await sync(another(), ...words)).toMatchObject({
        exitCode: 2,
        records: 0,
        failures: [{ type: 'config', message: expect.stringContaining('another tenant') }],
      })
    expect(readFileSync(warehouse()).equals(before)).toBe(true)
  })

  it('ends at once if it refuses the warehouse', async () => {
    await sync(ONE)
    const { exitCode, stdout } = await start(argv({ ...ONE, ...another() }, [])).ended
    expect(exitCode).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ failures: [{ type: 'config' }] })
  })

  it('creates a file that only its owner can read, and keeps a changed mode', async () => {
    const mode = () => (statSync(warehouse()).mode & 0o777).toString(8)
    await sync(ONE)
    expect(mode()).toBe('600')
    chmodSync(warehouse(), 0o644)
    const { stderr } = await sync(ONE)
    expect(mode()).toBe('644')
    expect(stderr).toContain(`Every user of this machine can read ${warehouse()}. Run chmod`)
  })

  it('ends with 2 when no stream is named', async () => {
    const message = expect.stringContaining('list of streams to read is empty')
    const failures = [{ type: 'config', message }]
    expect(await sync({}, '--streams', ' , ')).toMatchObject({ exitCode: 2, failures })
    expect(await sync({ streams: [] })).toMatchObject({ exitCode: 2, failures })
  })

  it('follows a tenant to another address, and deletes rows that are missing there', async () => {
    await sync(FEW)
    tenant.emulator.remove('people', 2)
    const base_url = environment().base_url.replace('127.0.0.1', 'localhost')
    const moved = { ...FEW, environment: { ...environment(), base_url } }
    expect(await sync(moved)).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(2)
    expect(await differences()).toEqual([])
  })

  it('ends with 1 if another attempt may help, and keeps the successful streams', async () => {
    tenant.emulator.fail('/jobs', 503, { times: 1 })
    const failures = [{ type: 'transient', stream: 'jobs' }]
    expect(await sync({ ...FEW, retry_minutes: 0 })).toMatchObject({ exitCode: 1, failures })
    const before = startsOf('people')
    expect(await sync(FEW)).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(before)
    expect(await differences()).toEqual([])
  })

  it('reads the streams on the command line, otherwise those in the configuration', async () => {
    const records = (collection: string) => tenant.emulator.all(collection).length
    const named = { streams: ['jobs'] }
    expect(await sync(named)).toMatchObject({ exitCode: 0, records: records('jobs') })
    const both = await sync(named, '--streams', 'employers, departments')
    expect(both.records).toBe(records('employers') + records('departments'))
  })

  it('reads the streams from the beginning with --full-refresh, and deletes missing rows', async () => {
    await sync(FEW)
    await withDuckDb(warehouse(), (connection) =>
      connection.run(`INSERT INTO jobs BY NAME SELECT * REPLACE (-1 AS id)
        FROM jobs LIMIT 1; DELETE FROM people WHERE id % 2 = 0`),
    )
    tenant.emulator.randomChanges(CHANGES)
    const { exitCode, stderr } = await sync(FEW, '--full-refresh')
    expect(exitCode).toBe(0)
    expect(await differences()).toEqual([])
    // Who asked for it need not look for a change of the settings.
    expect(stderr).not.toContain('WARN')
    expect(stderr).toContain('from the beginning: full refresh.')
  })

  it('reads a stream from the beginning after the statements of docs/many-tenants.md', async () => {
    await sync(FEW)
    const before = startsOf('people')
    const page = readFileSync(new URL('../../docs/many-tenants.md', import.meta.url), 'utf8')
    const [, statements = ''] = /```sql\n([^`]+)```/.exec(page) ?? []
    await withDuckDb(warehouse(), (connection) => connection.run(statements))
    expect(await sync(FEW)).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(before + 1)
    expect(await differences()).toEqual([])
  })

  it('refuses a warehouse that another process has open, as a transient failure, or waits as long as --wait says and continues from the last commit', async () => {
    const { child, ended } = await startHanging()
    const message = expect.stringContaining('Another process has the warehouse open')
    for (const words of [[], ['--wait', '0']])
      expect(await sync(FEW, ...words)).toMatchObject({
        exitCode: 1,
        failures: [{ type: 'transient', message }],
      })
    const waiting = start(argv(FEW, ['--wait', '10m']))
    await expect.poll(waiting.log).toContain('Waiting for it.')
    child.kill('SIGKILL')
    await ended
    tenant.emulator.clearFaults()
    expect(await waiting.ended).toMatchObject({ exitCode: 0 })
    // The other process was killed.
    expect(startsOf('people')).toBe(1)
    expect(await differences()).toEqual([])
  })

  it('ends at SIGTERM while it waits, and refuses an invalid time', async () => {
    await withDuckDb(warehouse(), async () => {
      const waiting = start(argv(ONE, ['--wait', '10m']))
      await expect.poll(waiting.log).toContain('Waiting for it.')
      waiting.child.kill('SIGTERM')
      const { exitCode, stdout } = await waiting.ended
      expect(exitCode).toBe('SIGTERM')
      expect(JSON.parse(stdout)).toMatchObject({ failures: [] })
    })
    const { exitCode: usage, stderr } = await protime(...argv(ONE, ['--wait', '10 minutes']))
    expect([usage, stderr]).toEqual([2, expect.stringContaining('a time such as 30s, 10m or 2h')])
  })

  it('makes a copy for readers after each complete sync, and only then', async () => {
    const copy = join(folder, 'copy.duckdb')
    const inCopy = () => warehouseDifferences(copy, tenant.truth)
    const inode = () => statSync(copy).ino
    expect(await sync(ONE, '--publish', copy)).toMatchObject({ exitCode: 0 })
    expect(await inCopy()).toEqual([])
    expect(statSync(copy).mode & 0o777).toBe(0o400)
    chmodSync(copy, 0o440)
    const first = inode()
    tenant.emulator.randomChanges(CHANGES)
    tenant.emulator.fail('/delta/jobs', 503, { times: 1 })
    expect(await sync({ ...ONE, retry_minutes: 0 }, '--publish', copy)).toMatchObject({
      exitCode: 1,
    })
    expect(inode()).toBe(first)
    await withDuckDb(copy, async (reader) => {
      expect(await sync(ONE, '--publish', copy)).toMatchObject({ exitCode: 0 })
      const rows = await reader.runAndReadAll('SELECT count(*) FROM _protime.syncs WHERE exit = 0')
      expect(rows.getRows()).toEqual([[1n]])
    })
    expect(await inCopy()).toEqual([])
    expect([inode() === first, statSync(copy).mode & 0o777]).toEqual([false, 0o440])
    expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.duckdb'])
    expect(await ask(copy, 'SELECT exit FROM _protime.syncs ORDER BY began')).toEqual([
      { exit: 0 },
      { exit: 1 },
      { exit: 0 },
    ])
  })

  it('reads nothing if the copy cannot be made', async () => {
    for (const copy of [warehouse(), join(folder, 'nowhere', 'copy.duckdb'), folder]) {
      const failures = [{ type: 'config', message: expect.stringContaining('--publish') }]
      expect(await sync(ONE, '--publish', copy)).toMatchObject({ exitCode: 2, failures })
    }
    expect(tenant.emulator.requests).toEqual([])
  })

  it('commits at SIGTERM what it has, and ends with this signal', async () => {
    const { child, ended } = await startHanging()
    child.kill('SIGTERM')
    const { exitCode, stdout } = await ended
    expect(exitCode).toBe('SIGTERM')
    expect(JSON.parse(stdout)).toMatchObject({ failures: [] })
    tenant.emulator.clearFaults()
    expect(await sync(FEW)).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(1)
  })

  it('ends with the process that started it, if it is asked to', async () => {
    const { child, ended } = await startHanging(
      ['--end-with-parent'],
      ['sh', '-c', '"$0" "$@"; exit $?'],
    )
    child.kill('SIGKILL')
    // Its output is closed when nobody holds it any more.
    expect(await ended).toMatchObject({ stdout: expect.stringContaining('commits') })
  })

  it.each([
    ['how to get DuckDB if it is missing', 'ERR_MODULE_NOT_FOUND', 'npm install @duckdb/node-api'],
    [
      'why DuckDB cannot be loaded although it is there',
      'ERR_DLOPEN_FAILED',
      'its library cannot be loaded on this machine: GLIBC_2.28 not found',
    ],
  ])('says %s, and ends with 2', async (_, code, told) => {
    await expectRefused(['--import', withoutDuckDb('GLIBC_2.28 not found', code)], told)
  })

  it('says that it has no WebAssembly, and ends with 2', async () => {
    await expectRefused(['--jitless'], 'WebAssembly cannot be used in this process')
  })

  async function expectRefused(node: readonly string[], told: string): Promise<void> {
    const { ended } = start(argv(ONE, []), { node })
    const { exitCode, stdout } = await ended
    expect(exitCode).toBe(2)
    const message = expect.stringContaining(told)
    expect(JSON.parse(stdout)).toMatchObject({ failures: [{ type: 'config', message }] })
  }

  it('has WebAssembly with little address space if Node reserves less of it', async () => {
    const shell = ['sh', '-c', 'ulimit -v 16000000; exec "$0" "$@"']
    const node = ['--disable-wasm-trap-handler']
    expect(await start(argv(ONE, []), { shell, node }).ended).toMatchObject({ exitCode: 0 })
  })
})
