import { withConnector } from '../connector.ts'
import { here, type Judged, measure, peakLine, startServer } from '../measure.ts'

const SECONDS = 60
const BYTES_PER_SECOND = 1_000_000
const LINE_BYTES = 371
const PAGE_SIZE = 1000

/** A destination that takes 1 MB/s for a minute: what waits must wait at the service, not in memory. */
export async function* slowReader(): AsyncGenerator<Judged> {
  const pages = Math.ceil((SECONDS * BYTES_PER_SECOND) / (LINE_BYTES * PAGE_SIZE))
  const server = await startServer({ pages, pageSize: PAGE_SIZE })
  const reader = `'${process.execPath}' '${here('slow-reader.js')}' ${BYTES_PER_SECOND}`
  try {
    const cost = await withConnector({ origin: server.origin, streams: ['clockings'] }, (program) =>
      measure(program, { reader }),
    )
    yield peakLine(`${cost.seconds.toFixed(0)} s at 1 MB/s`, cost.peakMegabytes, 150)
  } finally {
    await server.stop()
  }
}
