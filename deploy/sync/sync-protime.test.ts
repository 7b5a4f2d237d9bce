import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { warehouseDifferences } from '../../integration-tests/deploy/warehouse-differences.ts'
import { startTenant, type Tenant } from '../../integration-tests/engines/tenant.ts'

const PROGRAM = fileURLToPath(new URL('sync-protime', import.meta.url))
const SOURCE = fileURLToPath(new URL('../../bin/source-protime', import.meta.url))
const CHANGES = { inserts: 40, updates: 40, deletes: 30, softDeletes: 5 }

interface Sync {
  readonly child: ChildProcess
  /** What it has said on stderr so far. */
  log(): string
  readonly ended: Promise<{ exitCode: number | string; stdout: string }>
}

let folder: string
let tenant: Tenant
let syncs: Sync[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sync-protime-'))
  tenant = await startTenant()
  syncs = []
})
afterEach(async () => {
  syncs.forEach(kill)
  await Promise.all(syncs.map(({ ended }) => ended))
  await tenant.emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

const warehouse = () => join(folder, 'acme.duckdb')
const differences = () => {
  const config = configFile({})
  return warehouseDifferences({
    source: SOURCE,
    config,
    warehouse: warehouse(),
    truth: tenant.truth,
  })
}

function configFile(settings: object): string {
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify({ ...tenant.config, ...settings }))
  return file
}

function start(settings: object = {}, shell: readonly string[] = []): Sync {
  const args = ['--config', configFile(settings), '--warehouse', warehouse(), '--source', SOURCE]
  const [program = '', ...rest] = [...shell, PROGRAM, ...args]
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<{ exitCode: number | string; stdout: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ exitCode: code ?? signal ?? '', stdout }))
  })
  const sync = { child, log: () => stderr, ended }
  syncs.push(sync)
  return sync
}

/** Kills the program and its source as a container is killed. */
function kill({ child }: Sync): void {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function run(settings?: object) {
  const { exitCode, stdout } = await start(settings).ended
  return { exitCode, ...(JSON.parse(stdout) as { records: number; failures: { type: string }[] }) }
}

/** A sync that has committed every stream but one, whose page never comes. */
async function startHanging(shell?: readonly string[]): Promise<Sync> {
  tenant.emulator.fault('/calculated-totals', 'hang')
  const sync = start({}, shell)
  await expect.poll(sync.log).toContain('INFO committed')
  return sync
}

const startsOf = (collection: string) =>
  tenant.emulator.requests.filter(
    ({ path, query }) => path === `/${collection}` && query === 'delta',
  ).length

describe('sync-protime', () => {
  it('makes the warehouse equal to the service, deletes included', async () => {
    expect(await run()).toMatchObject({ exitCode: 0, failures: [] })
    expect(await differences()).toEqual([])
    tenant.emulator.randomChanges(CHANGES)
    expect(await run()).toMatchObject({ exitCode: 0, failures: [] })
    expect(await differences()).toEqual([])
    tenant.emulator.randomChanges({ ...CHANGES, seed: 2 })
    tenant.emulator.advance({ hours: 73 })
    expect(await run()).toMatchObject({ exitCode: 0, failures: [] })
    expect(await differences()).toEqual([])
  })

  it('ends with 2 when only a person can mend it', async () => {
    const failures = [{ type: 'config' }]
    expect(await run({ client_secret: 'wrong' })).toMatchObject({ exitCode: 2, failures })
    expect(await run({ _streams: ['jops'] })).toMatchObject({ exitCode: 2, failures })
  })

  it('ends with 1 when another attempt may mend it, and keeps the streams that went well', async () => {
    tenant.emulator.fail('/jobs', 503, { times: 1 })
    const failures = [{ type: 'transient', stream: 'jobs' }]
    expect(await run({ retry_minutes: 0 })).toMatchObject({ exitCode: 1, failures })
    const before = startsOf('people')
    expect(await run()).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(before)
    expect(await differences()).toEqual([])
  })

  it('reads the streams that the configuration names', async () => {
    const before = tenant.emulator.all('jobs').length
    expect(await run({ _streams: ['jobs'] })).toMatchObject({ exitCode: 0, records: before })
  })

  it('continues from its last commit after a kill', async () => {
    const sync = await startHanging()
    kill(sync)
    expect((await sync.ended).exitCode).toBe('SIGKILL')
    tenant.emulator.clearFaults()
    expect(await run()).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(1)
    expect(await differences()).toEqual([])
  })

  it('reads a stream from the beginning after the statements of docs/many-tenants.md', async () => {
    await run()
    const before = startsOf('people')
    const instance = await DuckDBInstance.create(warehouse())
    const connection = await instance.connect()
    const page = readFileSync(new URL('../../docs/many-tenants.md', import.meta.url), 'utf8')
    const [, statements = ''] = /```sql\n([^`]+)```/.exec(page) ?? []
    await connection.run(statements)
    connection.closeSync()
    instance.closeSync()
    expect(await run()).toMatchObject({ exitCode: 0 })
    expect(startsOf('people')).toBe(before + 1)
    expect(await differences()).toEqual([])
  })

  it('ends at SIGTERM with 143', async () => {
    const { child, ended } = await startHanging()
    child.kill('SIGTERM')
    expect((await ended).exitCode).toBe(143)
  })

  it('ends with the process that started it, if it is told to', async () => {
    const { child, ended } = await startHanging([
      'sh',
      '-c',
      '"$0" "$@" --end-with-parent; exit $?',
    ])
    child.kill('SIGKILL')
    // Its output is closed when nobody holds it any more: neither the program nor its source.
    expect(await ended).toMatchObject({
      exitCode: 'SIGKILL',
      stdout: expect.stringContaining('commits'),
    })
  })

  it('refuses a tenant that is being synced, as something that time will mend', async () => {
    await startHanging()
    const { exitCode, failures } = await run()
    expect(exitCode).toBe(1)
    expect(failures).toMatchObject([{ message: expect.stringContaining('Another process') }])
  })
})
