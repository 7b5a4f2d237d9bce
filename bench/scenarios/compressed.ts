import { withConnector } from '../connector.ts'
import { inTurn, type Medians, measure, rateLine, startServer } from '../measure.ts'
import type { Encoding } from '../server.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const RECORDS = PAGES * PAGE_SIZE
const ROUNDS = 3

/** A million records from a service that compresses its answers, as real ones do, and as plain text. */
export async function compressedCosts(): Promise<Medians<'plain' | 'gzip' | 'brotli'>> {
  const serve = (encoding?: Encoding) =>
    startServer({ pages: PAGES, pageSize: PAGE_SIZE, ...(encoding && { encoding }) })
  const servers = await Promise.all([serve(), serve('gzip'), serve('br')])
  const read = (index: 0 | 1 | 2) => () =>
    withConnector({ origin: servers[index].origin, streams: ['clockings'] }, (p) => measure(p))
  try {
    return await inTurn(ROUNDS, { plain: read(0), gzip: read(1), brotli: read(2) })
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

export async function* compressed(): AsyncGenerator<string> {
  const of = await compressedCosts()
  for (const name of ['plain', 'gzip', 'brotli'] as const) yield rateLine(name, RECORDS, of)
  const beside = (name: 'gzip' | 'brotli', figure: 'seconds' | 'cpuSeconds') =>
    (of(name, figure) / of('plain', figure)).toFixed(2)
  for (const name of ['gzip', 'brotli'] as const)
    yield `${name} takes ${beside(name, 'seconds')} times as long as plain text, with ${beside(name, 'cpuSeconds')} of its CPU`
}
