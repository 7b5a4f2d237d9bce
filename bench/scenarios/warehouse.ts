import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonWith } from '../../integration-tests/engines/python.ts'
import { addDays, dayOf } from '../../src/ground/days.ts'
import { clocking, PROJECT, withConnector } from '../connector.ts'
import {
  type Cost,
  further,
  here,
  inTurn,
  type Judged,
  type Measured,
  measure,
  peakLine,
  rateLine,
  startServer,
} from '../measure.ts'

const PAGE_SIZE = 1000
const ROUNDS = 3
const DLT = ['dlt[duckdb,parquet,postgres]==1.31.0']
const PROGRAMS = ['ours', 'unchanged', 'verified', 'copy'] as const

/**
 * Records from the service into an empty DuckDB file by `protime sync`, and once more into one that has them, which writes
 * nothing. Beside it the `rest_api` source of dlt with parquet files and a merge by key, and the COPY of the same rows from a file, which
 * makes no request. `protime verify` then compares the file with the service. What each million costs after the first is judged.
 */
export async function* warehouse(): AsyncGenerator<string | Judged> {
  const one = await costsOf(1)
  for (const name of PROGRAMS) yield rateLine(name, 1_000_000, one.of)
  const eight = await costsOf(8)
  const more = further(one, eight)
  for (const name of PROGRAMS) {
    const [seconds, cpu] = [more(name, 'seconds'), more(name, 'cpuSeconds')]
    yield `${rateLine(name, 8_000_000, eight.of)}, each further million ${seconds.toFixed(2)} s, ${cpu.toFixed(2)} CPU s`
  }
  const part = (more('copy', 'seconds') / more('ours', 'seconds')) * 100
  const line = `ours is ${part.toFixed(0)} % of DuckDB's COPY (at least 70), which reads a file and merges nothing`
  yield { line, isMet: part >= 70 }
  yield peakLine('ours, of 8 million', eight.of('ours', 'peakMegabytes'), 400)
  yield peakLine('protime verify, of a million', one.of('verified', 'peakMegabytes'), 170)
  const again = more('unchanged', 'cpuSeconds') / more('ours', 'cpuSeconds')
  yield {
    // They are loaded, and then compared with those that are there, so that nothing is written.
    line: `unchanged rows take ${again.toFixed(2)} times the CPU of the first load (at most 2)`,
    isMet: again <= 2,
  }
  const python = dltOrReason()
  if (typeof python !== 'string') {
    yield `dlt is not measured: ${python.reason}`
    return
  }
  const seconds = await dltSeconds(python)
  const times = seconds / one.of('ours', 'seconds')
  yield `dlt takes ${seconds.toFixed(1)} s for a million: ours is ${times.toFixed(1)} times dlt (to reach: 12)`
}

async function costsOf(millions: number): Promise<Measured<(typeof PROGRAMS)[number]>> {
  const pages = (millions * 1_000_000) / PAGE_SIZE
  const server = await startServer({ pages, pageSize: PAGE_SIZE })
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const [rows, file, copied] = ['rows.ndjson', 'ours.duckdb', 'copied.duckdb'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  // The server answers the list of any days with all records, so there must be one list only.
  const settings = { start_date: addDays(dayOf(new Date()), -100), future_days: 100 }
  const run = (command: 'sync' | 'verify', ...options: readonly string[]) =>
    withConnector(
      { origin: server.origin, streams: ['clockings'], protocol: 'warehouse', command, settings },
      (program) => measure([...program, '--warehouse', file, ...options], { isQuiet: true }),
    )
  try {
    for (let page = 0; page < pages; page++) writeFileSync(rows, linesOf(page), { flag: 'a' })
    const of = await inTurn(ROUNDS, {
      ours: () => into(file, () => run('sync')),
      unchanged: () => run('sync', '--full-refresh'),
      verified: () => run('verify'),
      copy: () => into(copied, () => measure([here('duckdb-copy.js'), rows, copied])),
    })
    return { of, millions }
  } finally {
    rmSync(folder, { recursive: true })
    await server.stop()
  }
}

/** The seconds that dlt takes for a million records, into a new DuckDB file or a database of PostgreSQL. */
export async function dltSeconds(python: string, address?: string): Promise<number> {
  const server = await startServer({ pages: 1000, pageSize: PAGE_SIZE })
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const program = [join(PROJECT, 'bench', 'rest_api_dlt.py'), server.origin]
  try {
    const { seconds } = await measure([...program, folder, address ?? join(folder, 'w.duckdb')], {
      interpreter: [python],
    })
    return seconds
  } finally {
    rmSync(folder, { recursive: true })
    await server.stop()
  }
}

/** A new file each time. */
function into(file: string, use: () => Promise<Cost>): Promise<Cost> {
  rmSync(file, { force: true })
  return use()
}

/** The records of a page as the server has them, one per line. */
function linesOf(page: number): string {
  const first = page * PAGE_SIZE
  return Array.from({ length: PAGE_SIZE }, (_, i) => `${clocking(first + i)}\n`).join('')
}

/** The Python that has dlt, which is installed at the first use. */
export function dltOrReason(): string | { readonly reason: string } {
  try {
    return pythonWith('dlt', DLT)
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    return { reason }
  }
}
