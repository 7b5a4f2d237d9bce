import { withConnector } from '../connector.ts'
import { type Judged, measure, peakLine, startServer } from '../measure.ts'

const CHANGES = 1_150_000

/** One delta answer of more than 300 MB on a single page: memory must not follow its size. */
export async function* largePage(): AsyncGenerator<Judged> {
  const server = await startServer({ pages: 1, pageSize: 1, changes: CHANGES })
  try {
    const cost = await withConnector({ origin: server.origin, streams: ['clockings'] }, (program) =>
      measure(program),
    )
    yield peakLine(`${CHANGES} changes in ${cost.seconds.toFixed(1)} s`, cost.peakMegabytes, 150)
  } finally {
    await server.stop()
  }
}
