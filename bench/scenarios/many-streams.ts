import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { streams } from '../../src/streams/streams.ts'
import { withConnector } from '../connector.ts'
import { type EmulatedConfig, startEmulated } from '../emulated.ts'
import { type Cost, here, type Judged, measure, peakLine } from '../measure.ts'

/** A smaller tenant than one of 10 million records: `BENCH_PEOPLE=100 npm run bench -- many-streams`. */
const PEOPLE = Number(process.env['BENCH_PEOPLE'] ?? 2600)
const MONTHS = 24
const PAGE_SIZE = 1000
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
    const words = [here('download.js'), JSON.stringify(config), String(AT_ONCE), ...lists(config)]
    const { seconds } = await measure(words)
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

/** The lists that hold what the streams hold: of dated records one for each year. */
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
