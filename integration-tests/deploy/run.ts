import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, startService } from '../../scripts/demo/service.ts'
import { table } from '../../scripts/demo/warehouse.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { verifiedDifferences } from '../testing/protime.ts'
import {
  createDagster,
  type Dagster,
  deliverThroughNginx,
  type Run,
  trySchedules,
  validateManifests,
} from './recipes.ts'

const CHANGES = { inserts: 40, updates: 40, deletes: 30, softDeletes: 5 }
/** People and months: another size is another tenant. */
const SIZES = { amber: [100, 6], lost: [25, 2], cedar: [16, 1], wrong: [5, 1], killed: [10, 1] }

interface Tenant {
  readonly name: string
  readonly service: Service
  readonly config: string
  readonly warehouse: string
}

interface Scene {
  readonly tenants: ReadonlyMap<string, Tenant>
  readonly dagster: Dagster
}

/** `npm run test:deploy`: two nights of five tenants in Dagster, against five emulated services. */
async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  const stop = new AbortController()
  process.once('exit', () => stop.abort())
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
  try {
    const tenants = await startTenants(folder, stop.signal)
    const dagster = createDagster(folder, {
      PROTIME_TENANTS: join(folder, 'tenants'),
      PROTIME_WAREHOUSES: join(folder, 'warehouses'),
      PROTIME_PROGRAM: join(packageFolder(), 'bin', 'protime'),
      PROTIME_TIME_ZONE: 'UTC',
      PROTIME_RETRY_SECONDS: '1',
      PROTIME_SENSOR_SECONDS: '1',
    })
    // The first program makes the tables of the instance; two at once would not agree.
    await dagster.ended(0)
    await validateManifests(folder, say)
    await deliverThroughNginx(folder, say)
    await trySchedules(folder, say, stop.signal)
    await firstNight({ tenants, dagster })
    await secondNight({ tenants, dagster })
  } finally {
    stop.abort()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * New tenants are loaded when their files appear. One has a wrong secret, of one the sync is killed,
 * and of one the run of Dagster.
 */
async function firstNight({ tenants, dagster }: Scene): Promise<void> {
  const killed = tenantOf(tenants, 'killed')
  const lost = tenantOf(tenants, 'lost')
  for (const { service } of [killed, lost])
    await service.tell('/fault', { path: '/calculated-totals', kind: 'hang' })
  const end = dagster.start({})
  try {
    await dagster.requested(tenants.size, 'dagster/sensor_name')
    await dagster.command(
      ...['job', 'backfill', '-j', 'nightly', '--partitions', killed.name, '--noprompt'],
    )
    const { pid, requests: before } = await syncAfterCommit(killed, dagster)
    process.kill(pid, 'SIGKILL')
    process.kill(parentOf((await syncAfterCommit(lost, dagster)).pid), 'SIGKILL')
    // One more was asked for, and one takes the place of the lost one.
    const runs = await dagster.ended(tenants.size + 2)
    same(
      'lost: another run',
      runsOf(runs, 'lost').map(({ status }) => status),
      ['FAILURE', 'SUCCESS'],
    )
    for (const { name } of tenants.values()) {
      if (name === lost.name) continue
      const [first] = runsOf(runs, name)
      const [status, retries] =
        name === 'wrong' ? ['FAILURE', 0] : ['SUCCESS', Number(name === 'killed')]
      same(`${name}: status and retries`, [first?.status, first?.retries], [status, retries])
    }
    same('killed: one run at a time', overlaps(runsOf(runs, killed.name)), false)
    const starts = deltaStarts(await killed.service.requests())
    const once = deltaStarts(before).filter(
      (path) => starts.filter((one) => one === path).length === 1,
    )
    const { total, committed, followed, others } = retryOf(killed, dagster)
    same('killed: the retry continues from the commits', others <= total - committed, true)
    same('killed: and does not start every delta again', once.length > 0 || followed === 0, true)
    for (const tenant of tenants.values()) if (tenant.name !== 'wrong') await equals(tenant)
    same('wrong: nothing is loaded', runsOf(runs, 'wrong')[0]?.metadata['records'], 0)
    report('First night', runs)
  } finally {
    await end()
  }
}

/** The schedule reads every tenant again; the wrong secret was mended. */
async function secondNight({ tenants, dagster }: Scene): Promise<void> {
  for (const { service } of tenants.values()) await service.tell('/changes', CHANGES)
  const wrong = tenantOf(tenants, 'wrong')
  writeFileSync(wrong.config, JSON.stringify(await wrong.service.config()))
  const tag = 'dagster/schedule_name'
  const end = dagster.start({ PROTIME_NIGHT: '* * * * *' })
  try {
    await dagster.requested(tenants.size, tag)
    await dagster.command('schedule', 'stop', 'every_night')
    const runs = await dagster.ended(tenants.size, tag)
    for (const { status, tenant } of runs) same(`${tenant}: status`, status, 'SUCCESS')
    for (const tenant of tenants.values()) await equals(tenant)
    report('Second night', runs)
  } finally {
    await end()
  }
}

async function startTenants(folder: string, signal: AbortSignal) {
  for (const name of ['tenants', 'warehouses']) mkdirSync(join(folder, name))
  const tenants = await Promise.all(
    Object.entries(SIZES).map(async ([name, [people = 0, months = 0]]): Promise<Tenant> => {
      const service = await startService({ people, months, pageSize: 100 }, signal)
      const config = join(folder, 'tenants', `${name}.json`)
      const settings = await service.config()
      const secret = name === 'wrong' ? { client_secret: 'wrong' } : {}
      writeFileSync(config, JSON.stringify({ ...settings, ...secret }))
      return { name, service, config, warehouse: join(folder, 'warehouses', `${name}.duckdb`) }
    }),
  )
  return new Map(tenants.map((tenant) => [tenant.name, tenant]))
}

function tenantOf(tenants: Scene['tenants'], name: string): Tenant {
  const tenant = tenants.get(name)
  if (tenant === undefined) throw new Error(`There is no tenant ${name}`)
  return tenant
}

/** The process that syncs a tenant and waits for a page, once it has committed others, and what it has requested for them. */
async function syncAfterCommit({ warehouse, service }: Tenant, dagster: Dagster) {
  const committed = `records to ${basename(warehouse)}`
  while (!dagster.logs().some((log) => log.includes(committed))) await sleep(100)
  const requests = await service.requests()
  await service.tell('/clear-faults', {})
  const [pid] = execFileSync('pgrep', ['-f', `protime sync .*${warehouse}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return { pid: Number(pid), requests }
}

/** The paths of the deltas that were started, as often as they were. */
function deltaStarts(requests: Awaited<ReturnType<Service['requests']>>): string[] {
  return requests.filter(({ query }) => /(^|&)delta(&|=|$)/.test(query)).map(({ path }) => path)
}

/** What a sync says that it reads. */
const PLAN = /tenant demo, (\d+ streams: .*)\.$/
/** The length of a time in whole seconds: `2026-11-28T19:06:10Z`. */
const SECOND = 20

/**
 * How many streams a tenant has, of how many its first commit had the state, how many deltas its second sync says it follows (a
 * stream that it continues may be a list), and how many streams it reads from the beginning.
 */
function retryOf({ warehouse }: Tenant, dagster: Dagster) {
  const lines = dagster
    .logs()
    .filter((log) => log.includes(`records to ${basename(warehouse)}`))
    .flatMap((log) => log.split('\n'))
    .toSorted()
  // Each line begins with its time.
  const told = (pattern: RegExp) => lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])
  const [committed] = told(/records to .* with the states of (\d+) streams/)
  const [, plan = ''] = told(PLAN)
  // Another run of the tenant follows, whose deltas are not those of the retry.
  const [, retried = 0, next = lines.length] = lines.flatMap((line, i) =>
    PLAN.test(line) ? i : [],
  )
  const isBeforeNext = (line: string) =>
    line.slice(0, SECOND) < (lines[next] ?? '~').slice(0, SECOND)
  const ofRetry = lines.slice(retried).filter(isBeforeNext)
  const count = (words: string) => Number(new RegExp(`(\\d+) ${words}`).exec(plan)?.[1] ?? 0)
  same(
    'killed: a commit, and a retry that says what it does',
    [Number(committed) > 0, plan !== ''],
    [true, true],
  )
  return {
    total: count('streams'),
    committed: Number(committed),
    followed: ofRetry.filter((line) => / s, incremental\.$/.test(line)).length,
    others: count('from the beginning'),
  }
}

function parentOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }))
}

async function equals({ name, warehouse, service }: Tenant): Promise<void> {
  const found = await verifiedDifferences(await service.config(), '--warehouse', warehouse)
  same(`${name}: the warehouse equals the service`, found.slice(0, 5), [])
}

function same(what: string, actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${what}: ${given} instead of ${wanted}`)
  say(`ok    ${what}`)
}

/** The runs of a tenant, the earliest first. */
function runsOf(runs: readonly Run[], name: string): Run[] {
  return runs
    .filter(({ tenant }) => tenant === name)
    .toSorted((one, other) => one.startedAt - other.startedAt)
}

function overlaps(runs: readonly Run[]): boolean {
  return runs.slice(1).some(({ startedAt }, i) => startedAt < (runs[i]?.endedAt ?? 0))
}

function report(title: string, runs: readonly Run[]): void {
  const facts = ['records', 'seconds', 'cpu_seconds', 'memory_mb', 'warehouse_mb']
  const rows = runs.map(({ tenant, startedAt, endedAt, metadata }) => [
    tenant,
    ...facts.map((fact) => String(metadata[fact] ?? '')),
    (endedAt - startedAt).toFixed(1),
  ])
  say(`\n${title}\n${table(['tenant', ...facts, 'seconds of the run'], rows)}\n`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
