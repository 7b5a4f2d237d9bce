import { withConnector } from '../connector.ts'
import { type Cost, here, measure, median, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const RECORDS = PAGES * PAGE_SIZE
const ROUNDS = 3
/** Bytes of one of our RECORD lines for a record of the bench server. */
const LINE_BYTES = 371

/** A million records in pages of a thousand: ours, the conventional program and the floor, in turn. */
export async function* throughput(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const link = `${server.origin}/connector/svcapi/api/v1/clockings`
  const programs: Record<string, () => Promise<Cost>> = {
    ours: () => withConnector({ origin: server.origin, streams: ['clockings'] }, (p) => measure(p)),
    conventional: () => measure([here('conventional.js'), link]),
    floor: () => measure([here('floor.js'), link, String(PAGES), String(PAGE_SIZE * LINE_BYTES)]),
  }
  const costs = new Map(Object.keys(programs).map((name) => [name, [] as Cost[]]))
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, run] of Object.entries(programs)) costs.get(name)?.push(await run())
    }
  } finally {
    await server.stop()
  }
  const of = (name: string, figure: keyof Cost) =>
    median((costs.get(name) ?? []).map((cost) => cost[figure]))
  for (const name of costs.keys()) {
    const rate = Math.round(RECORDS / of(name, 'seconds'))
    const cpu = of(name, 'cpuSeconds').toFixed(2)
    yield `${name.padEnd(13)} ${rate} records/s, ${cpu} CPU s per million, peak ${of(name, 'peakMegabytes').toFixed(0)} MB`
  }
  const speed = of('conventional', 'seconds') / of('ours', 'seconds')
  const cpu = of('conventional', 'cpuSeconds') / of('ours', 'cpuSeconds')
  const part = (of('floor', 'seconds') / of('ours', 'seconds')) * 100
  const memory = of('ours', 'peakMegabytes') - of('floor', 'peakMegabytes')
  yield `ours is ${speed.toFixed(2)} times the conventional program (to reach: 3), with 1/${cpu.toFixed(2)} of its CPU (1/3)`
  yield `ours is ${part.toFixed(0)} % of the floor (60, then 80), ${memory.toFixed(0)} MB above its peak (at most 40)`
}
