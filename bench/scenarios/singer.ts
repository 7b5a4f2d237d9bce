import { withConnector } from '../connector.ts'
import { type Cost, inTurn, measure, rateLine, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const RECORDS = PAGES * PAGE_SIZE
const ROUNDS = 5

/** The same million records by either program, in turn: Singer may cost 15 % more. */
export async function* singer(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const reading = { origin: server.origin, streams: ['clockings'] }
  const read = (protocol: 'airbyte' | 'singer') => () =>
    withConnector({ ...reading, protocol }, (program) => measure(program))
  try {
    const of = await inTurn(ROUNDS, { airbyte: read('airbyte'), singer: read('singer') })
    for (const protocol of ['airbyte', 'singer'] as const) yield rateLine(protocol, RECORDS, of)
    const more = (figure: keyof Cost) => (of('singer', figure) / of('airbyte', figure) - 1) * 100
    yield `singer takes ${signed(more('seconds'))} of the time and ${signed(more('cpuSeconds'))} of the CPU (at most +15 %)`
  } finally {
    await server.stop()
  }
}

function signed(percent: number): string {
  return `${percent < 0 ? '' : '+'}${percent.toFixed(0)} %`
}
