import { withConnector } from '../connector.ts'
import { here, inTurn, measure, startServer } from '../measure.ts'

const DELAY_MS = 30
const PAGES = 200
const STREAMS = ['absences', 'breaks', 'clockings', 'counters', 'people', 'contracts']
const ROUNDS = 3

/**
 * Six streams of a service that takes 30 ms a page: the longest chain of pages is all that counts.
 * Beside them a program that downloads one such chain and does nothing else, which also warms the
 * server up.
 */
export async function* latency(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: 1000, delayMs: DELAY_MS })
  const { origin } = server
  const link = `${origin}/connector/svcapi/api/v1/clockings`
  const reading = { origin, streams: STREAMS, concurrency: STREAMS.length }
  try {
    const of = await inTurn(ROUNDS, {
      floor: () => measure([here('floor.js'), 'http', link, String(PAGES)]),
      ours: () => withConnector(reading, (program) => measure(program)),
    })
    const waiting = ((PAGES + 2) * DELAY_MS) / 1000
    const above = (seconds: number) => ((seconds / waiting - 1) * 100).toFixed(0)
    const [took, floor] = [of('ours', 'seconds'), of('floor', 'seconds')]
    yield `${STREAMS.length} streams of ${PAGES} pages in ${took.toFixed(2)} s, ${above(took)} % above ${waiting.toFixed(2)} s of waiting (to reach: 15)`
    yield `one chain of pages, only downloaded: ${floor.toFixed(2)} s, ${above(floor)} % above it`
  } finally {
    await server.stop()
  }
}
