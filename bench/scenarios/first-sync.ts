import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { streams } from '../../src/streams/streams.ts'
import { PROJECT, withConnector } from '../connector.ts'
import { type Cost, here, type Judged, measure, peakLine } from '../measure.ts'

/** `bin/protime-emulator` in a process that is measured. */
interface Emulated {
  /** A configuration with which the connector reads it. */
  readonly config: EmulatedConfig
  /** Seconds from its start until the tenant was there. */
  readonly readySeconds: number
  stop(): Promise<Cost>
}

/** What a benchmark needs to know of the configuration. */
interface EmulatedConfig {
  readonly environment: { readonly base_url: string; readonly api_name: string }
  /** The first day of dated records. */
  readonly start_date: string
}

/** Starts the emulator with these flags on free ports. Throws when it does not start. */
async function startEmulated(flags: Readonly<Record<string, number>>): Promise<Emulated> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'cost.json')
  const words = Object.entries({ ...flags, port: 0, 'control-port': 0 }).flatMap(
    ([flag, value]) => [`--${flag}`, String(value)],
  )
  const program = ['--import', here('report-cost.js'), join(PROJECT, 'bin/protime-emulator')]
  const began = performance.now()
  const child = spawn(process.execPath, [...program, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_COST: file },
  })
  const ended = once(child, 'close')
  let said = ''
  while (!said.includes('\n}\n')) {
    const [part] = await Promise.race([once(child.stdout, 'data'), ended])
    if (!Buffer.isBuffer(part)) {
      rmSync(folder, { recursive: true })
      throw new Error('The emulator did not start')
    }
    said += part.toString()
  }
  return {
    config: JSON.parse(said.slice(said.indexOf('{'))),
    readySeconds: (performance.now() - began) / 1000,
    async stop() {
      child.kill()
      await ended
      const cost = JSON.parse(readFileSync(file, 'utf8')) as Cost
      rmSync(folder, { recursive: true })
      return cost
    },
  }
}

/** A tenant of the emulator, and what its answers take. */
interface Tenant {
  readonly people: number
  readonly months: number
  readonly latencyMs: number
}

const TENANTS: readonly Tenant[] = [
  { people: 25, months: 12, latencyMs: 0 },
  { people: 100, months: 24, latencyMs: 0 },
  { people: 400, months: 24, latencyMs: 0 },
  { people: 100, months: 24, latencyMs: 100 },
]
const PAGE_SIZE = 1000
const COLUMNS = ['people', 'months', '     rows', 'requests', 's/response', 'seconds', 'peak MB']

/**
 * How long the first sync of all streams takes, by the size of the tenant: on loopback, which is what the
 * connector itself takes, and with answers that take 100 ms, as over the internet.
 */
export async function* firstSync(): AsyncGenerator<string> {
  yield COLUMNS.join('  ')
  for (const tenant of TENANTS) yield await firstSyncOf(tenant)
}

async function firstSyncOf({ people, months, latencyMs }: Tenant): Promise<string> {
  const flags = { people, months, 'latency-ms': latencyMs, 'page-size': PAGE_SIZE }
  const emulated = await startEmulated(flags)
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const metrics = join(folder, 'sync.prom')
  const settings = { ...emulated.config, start_date: '2024-01-01' }
  const reading = { origin: '', streams: [...streams.keys()], settings }
  try {
    const { seconds, peakMegabytes } = await withConnector(reading, (program) =>
      measure([...program, '--metrics', metrics]),
    )
    const text = readFileSync(metrics, 'utf8')
    const cells = [
      people,
      months,
      sumOf('stream_rows', text),
      sumOf('requests', text),
      (latencyMs / 1000).toFixed(1),
      seconds.toFixed(1),
      peakMegabytes.toFixed(0),
    ]
    return cells.map((cell, i) => String(cell).padStart(COLUMNS[i]?.length ?? 0)).join('  ')
  } finally {
    rmSync(folder, { recursive: true })
    await emulated.stop()
  }
}

/** The samples of a metric, added up. */
function sumOf(metric: string, text: string): number {
  const samples = text.matchAll(new RegExp(`^protime_sync_${metric}\\{.*\\} (.*)$`, 'gm'))
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0)
}

/** A smaller tenant than one of 10 million records: `BENCH_PEOPLE=100 npm run bench -- many-streams`. */
const PEOPLE = Number(process.env['BENCH_PEOPLE'] ?? 2600)
const MONTHS = 24
const AT_ONCE = 4
const DAY_MS = 86_400_000

/** All streams of a large emulated tenant: their lists only downloaded, then read by the connector. */
export async function* manyStreams(): AsyncGenerator<string | Judged> {
  const tenant = { people: PEOPLE, months: MONTHS, 'page-size': PAGE_SIZE }
  const emulated = await startEmulated(tenant)
  let ofEmulator: Cost
  try {
    const { config, readySeconds } = emulated
    yield `${PEOPLE} people and ${MONTHS} months are ready after ${readySeconds.toFixed(1)} s`
    const download = [here('comparisons.js'), 'lists', JSON.stringify(config), String(AT_ONCE)]
    const { seconds } = await measure([...download, ...lists(config)])
    const { records, cost } = await readAll(config)
    const rate = (of: number) => Math.round(records / of)
    yield `only downloaded: ${seconds.toFixed(1)} s, about ${rate(seconds)} records/s`
    yield `read: ${records} records of ${streams.size} streams in ${cost.seconds.toFixed(1)} s, ${rate(cost.seconds)} records/s`
    yield peakLine('the connector', cost.peakMegabytes, 150)
  } finally {
    ofEmulator = await emulated.stop()
  }
  yield peakLine('the emulator', ofEmulator.peakMegabytes, 4000)
}

async function readAll(config: EmulatedConfig): Promise<{ records: number; cost: Cost }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'records')
  const origin = config.environment.base_url
  try {
    const cost = await withConnector(
      { origin, streams: [...streams.keys()], concurrency: AT_ONCE, settings: config },
      (program) => measure(program, { reader: `grep -c '^{"type":"RECORD"' > '${file}'` }),
    )
    return { records: Number(readFileSync(file, 'utf8')), cost }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The paths of lists with the records of all streams; dated records need one list for each year. */
function lists({ environment, start_date }: EmulatedConfig): string[] {
  const prefix = `/connector/${environment.api_name}/api/v1`
  const start = Date.parse(start_date)
  const date = (year: number, day: number) =>
    new Date(start + (year * 365 + day) * DAY_MS).toISOString().slice(0, 10)
  const years = Array.from(
    { length: Math.ceil(MONTHS / 12) + 1 },
    (_, year) => `?filter=date%20ge%20'${date(year, 0)}'%20and%20date%20le%20'${date(year, 364)}'`,
  )
  const listed = [...streams.values()].filter(({ nested }) => nested === undefined)
  return listed.flatMap(({ collection, dateField }) =>
    (dateField === undefined ? [''] : years).map((filter) => `${prefix}/${collection}${filter}`),
  )
}
