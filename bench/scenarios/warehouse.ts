import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonWith } from '../../integration-tests/engines/python.ts'
import { clocking } from '../clocking.ts'
import { PROJECT, type Reading, withConnector } from '../connector.ts'
import { type Cost, here, inTurn, measure, rateLine, startServer } from '../measure.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const RECORDS = PAGES * PAGE_SIZE
const ROUNDS = 3
const DLT = ['dlt[duckdb,parquet]==1.31.0']

/**
 * A million records from the service into an empty DuckDB file, and once more into one that has them: by
 * `protime sync`. Beside it the `rest_api` source of dlt with parquet files and a merge by key, and the COPY of
 * the same rows from a file, without any request.
 */
export async function* warehouse(): AsyncGenerator<string> {
  const server = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const { origin } = server
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const reading = { origin, streams: ['clockings'], protocol: 'warehouse' } as const
  const rows = join(folder, 'rows.ndjson')
  try {
    for (let page = 0; page < PAGES; page++) writeFileSync(rows, linesOf(page), { flag: 'a' })
    const of = await inTurn(ROUNDS, {
      ours: () => intoFile((file) => sync(reading, file)),
      replaced: () =>
        intoFile(async (file) => {
          await sync(reading, file)
          return sync(reading, file, '--full-refresh')
        }),
      copy: () => intoFile((file) => measure([here('duckdb-copy.js'), rows, file])),
    })
    yield rateLine('ours', RECORDS, of)
    yield rateLine('replaced', RECORDS, of)
    yield rateLine('copy', RECORDS, of)
    const part = (of('copy', 'seconds') / of('ours', 'seconds')) * 100
    yield `ours is ${part.toFixed(0)} % of DuckDB's COPY, which reads a file and merges nothing`
    const python = dltOrReason()
    if (typeof python !== 'string') {
      yield `dlt is not measured: ${python.reason}`
      return
    }
    const program = [join(PROJECT, 'bench', 'rest_api_dlt.py'), origin]
    const dlt = await inTurn(1, {
      dlt: () => intoFile((file) => measure([...program, file], { interpreter: [python] })),
    })
    yield rateLine('dlt', RECORDS, dlt)
    const times = dlt('dlt', 'seconds') / of('ours', 'seconds')
    yield `ours is ${times.toFixed(1)} times dlt (to reach: 5)`
  } finally {
    rmSync(folder, { recursive: true })
    await server.stop()
  }
}

function sync(reading: Reading, file: string, ...options: readonly string[]): Promise<Cost> {
  return withConnector(reading, (program) =>
    measure([...program, '--warehouse', file, ...options], { isQuiet: true }),
  )
}

/** The records of a page as the server has them, one per line. */
function linesOf(page: number): string {
  const first = page * PAGE_SIZE
  return Array.from({ length: PAGE_SIZE }, (_, i) => `${clocking(first + i)}\n`).join('')
}

async function intoFile(use: (file: string) => Promise<Cost>): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    return await use(join(folder, 'w.duckdb'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The Python that has dlt, which is installed at the first use. */
function dltOrReason(): string | { readonly reason: string } {
  try {
    return pythonWith('dlt', DLT)
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    return { reason }
  }
}
