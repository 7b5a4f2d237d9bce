import { LINE_BYTES, withConnector } from '../connector.ts'
import {
  type Cost,
  further,
  here,
  inTurn,
  type Judged,
  type Medians,
  measure,
  rateLine,
  startServer,
} from '../measure.ts'
import type { Encoding } from '../server.ts'

const PAGE_SIZE = 1000
const ROUNDS = 5
/** How many pages the server keeps; all pages of 8 million records would fill the server's memory. */
const KEPT_PAGES = 1000

export type Program = 'ours' | 'conventional' | 'floor (node:http)' | 'floor (dispatch)'

export const PROGRAMS = [
  'ours',
  'conventional',
  'floor (node:http)',
  'floor (dispatch)',
] as const satisfies readonly Program[]

/** Measures the programs in turn with this many million records, in pages of a thousand. */
export async function costsOf(millions: number, rounds = ROUNDS): Promise<Medians<Program>> {
  const pages = (millions * 1_000_000) / PAGE_SIZE
  const server = await startServer({ pages, kept: KEPT_PAGES, pageSize: PAGE_SIZE })
  const { origin } = server
  const link = `${origin}/connector/svcapi/api/v1/clockings`
  const floor = (via: 'http' | 'dispatch') => () =>
    measure([here('comparisons.js'), via, link, String(pages), String(PAGE_SIZE * LINE_BYTES)])
  try {
    return await inTurn(rounds, {
      ours: () => withConnector({ origin, streams: ['clockings'] }, (p) => measure(p)),
      conventional: () => measure([here('comparisons.js'), 'conventional', link]),
      'floor (node:http)': floor('http'),
      'floor (dispatch)': floor('dispatch'),
    })
  } finally {
    await server.stop()
  }
}

/** A million records with the start-up, and the cost of each further million, which is computed from eight and one. */
export async function* throughput(): AsyncGenerator<string> {
  const one = await costsOf(1)
  yield* toldOf('1 million records', 1, one)
  const eight = await costsOf(8, 3)
  yield* toldOf('8 million records', 8, eight)
  yield 'each million between them:'
  const more = further({ of: one, millions: 1 }, { of: eight, millions: 8 })
  for (const name of PROGRAMS)
    yield `${name.padEnd(18)} ${more(name, 'seconds').toFixed(2)} s, ${more(name, 'cpuSeconds').toFixed(2)} CPU s`
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

const PAGES = 1000
const RECORDS = PAGES * PAGE_SIZE
const FEW_ROUNDS = 3

/** A million records from a service that compresses its answers, as real ones do, and as plain text. */
export async function compressedCosts(): Promise<Medians<'plain' | 'gzip' | 'brotli'>> {
  const serve = (encoding?: Encoding) =>
    startServer({ pages: PAGES, pageSize: PAGE_SIZE, ...(encoding && { encoding }) })
  const servers = await Promise.all([serve(), serve('gzip'), serve('br')])
  const read = (index: 0 | 1 | 2) => () =>
    withConnector({ origin: servers[index].origin, streams: ['clockings'] }, (p) => measure(p))
  try {
    return await inTurn(FEW_ROUNDS, { plain: read(0), gzip: read(1), brotli: read(2) })
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

const REDACTED = {
  untouched: { personal_data: 'complete' },
  'one field left out': {
    personal_data: 'complete',
    field_rules: [{ stream: 'clockings', path: 'kind', rule: 'drop' }],
  },
  minimal: { personal_data: 'minimal' },
  pseudonymised: { personal_data: 'pseudonymised', privacy_key: 'Wq3-xkT9_mB7vZ2p' },
}
type Redacting = keyof typeof REDACTED

export const REDACTIONS = Object.keys(REDACTED) as Redacting[]

/** The least speed of redacted records, in percent of untouched ones. */
const LEAST_PERCENT = { untouched: 100, 'one field left out': 90, minimal: 90, pseudonymised: 75 }

/**
 * Clockings whose personal data is redacted, beside the same ones as they came: what each further million costs,
 * because a single million is half start-up. Judged by processor time, which other programs on the machine change less.
 */
export async function* privacy(): AsyncGenerator<Judged> {
  const { eight, further } = await redactionCosts()
  for (const name of REDACTIONS) {
    const least = LEAST_PERCENT[name]
    const percent = (further('untouched') / further(name)) * 100
    const steady = `each further million ${further(name).toFixed(2)} CPU s`
    const line = `${rateLine(name, 8_000_000, eight)}, ${steady}, ${percent.toFixed(0)} % of the speed (at least ${least})`
    yield { line, isMet: percent >= least }
  }
}

/** What eight million records cost under each setting, and in CPU seconds each million after the first. */
export async function redactionCosts() {
  const one = await privacyCosts(1)
  const eight = await privacyCosts(8)
  const more = further({ of: one, millions: 1 }, { of: eight, millions: 8 })
  return { eight, further: (name: Redacting) => more(name, 'cpuSeconds') }
}

async function privacyCosts(millions: number): Promise<Medians<Redacting>> {
  const pages = (millions * 1_000_000) / PAGE_SIZE
  const server = await startServer({ pages, kept: KEPT_PAGES, pageSize: PAGE_SIZE })
  const { origin } = server
  const read = (settings: object) => () =>
    withConnector({ origin, streams: ['clockings'], settings }, (program) => measure(program))
  try {
    return await inTurn(FEW_ROUNDS, {
      untouched: read(REDACTED.untouched),
      'one field left out': read(REDACTED['one field left out']),
      minimal: read(REDACTED.minimal),
      pseudonymised: read(REDACTED.pseudonymised),
    })
  } finally {
    await server.stop()
  }
}

const SINGER_ROUNDS = 5

/** The same million records by either program, in turn: Singer may cost 15 % more. */
export async function* singer(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const reading = { origin: server.origin, streams: ['clockings'] }
  const read = (protocol: 'airbyte' | 'singer') => () =>
    withConnector({ ...reading, protocol }, (program) => measure(program))
  try {
    const of = await inTurn(SINGER_ROUNDS, { airbyte: read('airbyte'), singer: read('singer') })
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
