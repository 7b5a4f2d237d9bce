import { spawn } from 'node:child_process'
import { withConnector } from '../connector.ts'
import { here, inTurn, measure, startServer } from '../measure.ts'

const DELAY_MS = 30
const PAGES = 200
const STREAMS = ['absences', 'breaks', 'clockings', 'counters', 'people', 'contracts']
const ROUNDS = 3

/**
 * Six streams of a service that takes 30 ms for each page, so that the longest chain of pages determines the time. They
 * are compared with a program that only downloads one such chain, which also warms up the server.
 */
export async function* latency(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: 1000, delayMs: DELAY_MS })
  const { origin } = server
  const link = `${origin}/connector/svcapi/api/v1/clockings`
  const reading = { origin, streams: STREAMS, concurrency: STREAMS.length }
  try {
    const of = await inTurn(ROUNDS, {
      floor: () => measure([here('comparisons.js'), 'http', link, String(PAGES)]),
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

const PER_SECOND = 10
const BUCKET = 10
const LIMITED_STREAMS = ['absences', 'breaks', 'clockings', 'counters']
/** A thousand requests in all, with the token and one more page for each stream. */
const LIMITED_PAGES = 249

/** A service that accepts ten requests per second: few should be refused, and little time should be lost. */
export async function* rateLimit(): AsyncGenerator<string> {
  const server = await startServer({
    pages: LIMITED_PAGES,
    pageSize: 10,
    rateLimit: { perSecond: PER_SECOND, bucket: BUCKET },
  })
  try {
    const startedAt = performance.now()
    const summary = await withConnector(
      { origin: server.origin, streams: LIMITED_STREAMS },
      lastLine,
    )
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
