import { withConnector } from '../connector.ts'
import { measure, startServer } from '../measure.ts'

const DELAY_MS = 30
const PAGES = 200
const STREAMS = ['absences', 'breaks', 'clockings', 'counters', 'people', 'contracts']

/** Six streams of a service that takes 30 ms a page: the longest chain of pages is all that counts. */
export async function* latency(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: 1000, delayMs: DELAY_MS })
  try {
    const { seconds } = await withConnector(
      { origin: server.origin, streams: STREAMS, concurrency: STREAMS.length },
      (program) => measure(program),
    )
    const floor = ((PAGES + 2) * DELAY_MS) / 1000
    const above = (seconds / floor - 1) * 100
    yield `${STREAMS.length} streams of ${PAGES} pages in ${seconds.toFixed(2)} s, ${above.toFixed(0)} % above ${floor.toFixed(2)} s of waiting (to reach: 15)`
  } finally {
    await server.stop()
  }
}
