import { withConnector } from '../connector.ts'
import { here, inTurn, measure, rateLine, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const RECORDS = PAGES * PAGE_SIZE
const ROUNDS = 3
/** Bytes of one of our RECORD lines for a record of the bench server. */
const LINE_BYTES = 371

/** A million records in pages of a thousand: ours, the conventional program and the floor, in turn. */
export async function* throughput(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const { origin } = server
  const link = `${origin}/connector/svcapi/api/v1/clockings`
  try {
    const of = await inTurn(ROUNDS, {
      ours: () => withConnector({ origin, streams: ['clockings'] }, (p) => measure(p)),
      conventional: () => measure([here('conventional.js'), link]),
      floor: () => measure([here('floor.js'), link, String(PAGES), String(PAGE_SIZE * LINE_BYTES)]),
    })
    for (const name of ['ours', 'conventional', 'floor'] as const) yield rateLine(name, RECORDS, of)
    const speed = of('conventional', 'seconds') / of('ours', 'seconds')
    const cpu = of('conventional', 'cpuSeconds') / of('ours', 'cpuSeconds')
    const part = (of('floor', 'seconds') / of('ours', 'seconds')) * 100
    const memory = of('ours', 'peakMegabytes') - of('floor', 'peakMegabytes')
    yield `ours is ${speed.toFixed(2)} times the conventional program (to reach: 3), with 1/${cpu.toFixed(2)} of its CPU (1/3)`
    yield `ours is ${part.toFixed(0)} % of the floor (60, then 80), ${memory.toFixed(0)} MB above its peak (at most 40)`
  } finally {
    await server.stop()
  }
}
