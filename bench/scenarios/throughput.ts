import { withConnector } from '../connector.ts'
import { here, inTurn, type Medians, measure, rateLine, startServer } from '../measure.ts'

const PAGE_SIZE = 1000
const ROUNDS = 5
/** Of larger numbers only so many pages differ: 8 million records would fill the server's memory. */
const DISTINCT_PAGES = 1000
/** Bytes of one of our RECORD lines for a record of the bench server. */
const LINE_BYTES = 371

export type Program = 'ours' | 'conventional' | 'floor (node:http)' | 'floor (dispatch)'

export const PROGRAMS = [
  'ours',
  'conventional',
  'floor (node:http)',
  'floor (dispatch)',
] as const satisfies readonly Program[]

/** What so many million records cost, in pages of a thousand: the programs in turn. */
export async function costsOf(millions: number, rounds = ROUNDS): Promise<Medians<Program>> {
  const pages = (millions * 1_000_000) / PAGE_SIZE
  const server = await startServer({ pages, distinct: DISTINCT_PAGES, pageSize: PAGE_SIZE })
  const { origin } = server
  const link = `${origin}/connector/svcapi/api/v1/clockings`
  const floor = (via: 'http' | 'dispatch') => () =>
    measure([here('floor.js'), via, link, String(pages), String(PAGE_SIZE * LINE_BYTES)])
  try {
    return await inTurn(rounds, {
      ours: () => withConnector({ origin, streams: ['clockings'] }, (p) => measure(p)),
      conventional: () => measure([here('conventional.js'), link]),
      'floor (node:http)': floor('http'),
      'floor (dispatch)': floor('dispatch'),
    })
  } finally {
    await server.stop()
  }
}

/** A million records, start-up included, and what each further million costs: eight less one, over seven. */
export async function* throughput(): AsyncGenerator<string> {
  const one = await costsOf(1)
  yield* toldOf('1 million records', 1, one)
  const eight = await costsOf(8, 3)
  yield* toldOf('8 million records', 8, eight)
  yield 'each million between them:'
  for (const name of PROGRAMS) {
    const more = (figure: 'seconds' | 'cpuSeconds') =>
      ((eight(name, figure) - one(name, figure)) / 7).toFixed(2)
    yield `${name.padEnd(18)} ${more('seconds')} s, ${more('cpuSeconds')} CPU s`
  }
}

function* toldOf(what: string, millions: number, of: Medians<Program>): Generator<string> {
  yield `${what}:`
  for (const name of PROGRAMS) yield rateLine(name, millions * 1_000_000, of)
  const speed = of('conventional', 'seconds') / of('ours', 'seconds')
  const cpu = of('conventional', 'cpuSeconds') / of('ours', 'cpuSeconds')
  const floor = 'floor (node:http)'
  const part = (of(floor, 'seconds') / of('ours', 'seconds')) * 100
  const work = of('ours', 'cpuSeconds') / of(floor, 'cpuSeconds')
  const memory = of('ours', 'peakMegabytes') - of(floor, 'peakMegabytes')
  yield `ours is ${speed.toFixed(2)} times the conventional program (to reach: 3.5), with 1/${cpu.toFixed(2)} of its CPU`
  yield `ours is ${part.toFixed(0)} % of the floor (${millions === 1 ? 70 : 75}), with ${work.toFixed(2)} times its CPU (1.6), ${memory.toFixed(0)} MB above its peak (20)`
}
