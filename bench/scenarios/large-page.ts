import { withConnector } from '../connector.ts'
import { measure, startServer } from '../measure.ts'

const CHANGES = 1_150_000

/** One delta answer of more than 300 MB on a single page: memory must not follow its size. */
export async function* largePage(): AsyncGenerator<string> {
  const server = await startServer({ pages: 1, pageSize: 1, changes: CHANGES })
  try {
    const { seconds, peakMegabytes } = await withConnector(
      { origin: server.origin, streams: ['clockings'] },
      (program) => measure(program),
    )
    yield `${CHANGES} changes in ${seconds.toFixed(1)} s, peak ${peakMegabytes.toFixed(0)} MB (to reach: under 150)`
  } finally {
    await server.stop()
  }
}
