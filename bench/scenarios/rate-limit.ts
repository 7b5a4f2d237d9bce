import { spawn } from 'node:child_process'
import { withConnector } from '../connector.ts'
import { startServer } from '../measure.ts'

const PER_SECOND = 10
const BUCKET = 10
const STREAMS = ['absences', 'breaks', 'clockings', 'counters']
/** With the token and one hop for each stream a thousand requests in all. */
const PAGES = 249

/** A service that takes ten requests a second: few are to be refused, and little time lost. */
export async function* rateLimit(): AsyncGenerator<string> {
  const server = await startServer({
    pages: PAGES,
    pageSize: 10,
    rateLimit: { perSecond: PER_SECOND, bucket: BUCKET },
  })
  try {
    const startedAt = performance.now()
    const summary = await withConnector({ origin: server.origin, streams: STREAMS }, lastLine)
    const seconds = (performance.now() - startedAt) / 1000
    const requests = Number(/(\d+) requests/.exec(summary)?.[1])
    const refused = Number(/(\d+) refused/.exec(summary)?.[1])
    const ideal = (requests - refused - BUCKET) / PER_SECOND
    yield `${requests} requests, ${((refused / requests) * 100).toFixed(1)} % refused (to reach: under 5), ${seconds.toFixed(0)} s, ${(seconds / ideal).toFixed(2)} times the ideal (1.3)`
  } finally {
    await server.stop()
  }
}

/** The last line of a program's output. */
function lastLine(program: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000)
    })
    child.on('error', reject)
    child.on('close', () => resolve(output.trimEnd().split('\n').at(-1) ?? ''))
  })
}
