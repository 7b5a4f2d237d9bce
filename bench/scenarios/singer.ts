import { withConnector } from '../connector.ts'
import { type Cost, measure, median, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const RECORDS = PAGES * PAGE_SIZE
const ROUNDS = 5

/** The same million records by either program, in turn: Singer may cost 15 % more. */
export async function* singer(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const costs = { airbyte: [] as Cost[], singer: [] as Cost[] }
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const protocol of ['airbyte', 'singer'] as const) {
        const reading = { origin: server.origin, streams: ['clockings'], protocol }
        costs[protocol].push(await withConnector(reading, (program) => measure(program)))
      }
    }
  } finally {
    await server.stop()
  }
  const of = (protocol: keyof typeof costs, figure: keyof Cost) =>
    median(costs[protocol].map((cost) => cost[figure]))
  for (const protocol of ['airbyte', 'singer'] as const) {
    const rate = Math.round(RECORDS / of(protocol, 'seconds'))
    const cpu = of(protocol, 'cpuSeconds').toFixed(2)
    const peak = of(protocol, 'peakMegabytes').toFixed(0)
    yield `${protocol.padEnd(13)} ${rate} records/s, ${cpu} CPU s per million, peak ${peak} MB`
  }
  const more = (figure: keyof Cost) => (of('singer', figure) / of('airbyte', figure) - 1) * 100
  yield `singer takes ${signed(more('seconds'))} of the time and ${signed(more('cpuSeconds'))} of the CPU (at most +15 %)`
}

function signed(percent: number): string {
  return `${percent < 0 ? '' : '+'}${percent.toFixed(0)} %`
}
