import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type PostgreSql,
  startPostgreSql,
} from '../../integration-tests/engines/meltano/postgresql.ts'
import { withConnector } from '../connector.ts'
import { type Cost, inTurn, type Judged, measure, rateLine, startServer } from '../measure.ts'
import { dltOrReason, dltSeconds } from './warehouse.ts'

const PAGES = 1000
const PAGE_SIZE = 1000
const ROUNDS = 3
const PROGRAMS = ['ours', 'unchanged', 'copy'] as const

/**
 * A million records from the service into an empty schema of PostgreSQL, and once more into one that has them, by
 * `protime sync`. Beside it PostgreSQL's own COPY of the same rows into a table with a primary key, which makes no request,
 * and dlt with a merge by key. The server, whose work is only in the seconds, does not wait for the disk.
 */
export async function* postgres(): AsyncGenerator<string | Judged> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const service = await startServer({ pages: PAGES, pageSize: PAGE_SIZE })
  const server = await startPostgreSql(folder)
  const rows = join(folder, 'rows.csv')
  const address = `postgres://${server.user}@127.0.0.1:${server.port}/postgres`
  const env = { PGPASSWORD: server.password }
  const sync = (...options: readonly string[]) =>
    withConnector(
      { origin: service.origin, streams: ['clockings'], protocol: 'warehouse' },
      (program) =>
        measure([...program, '--warehouse', address, ...options], { isQuiet: true, env }),
    )
  let log = 0
  try {
    await sync()
    await server.query(`\\copy protime.clockings TO '${rows}' (FORMAT csv)`)
    const of = await inTurn(ROUNDS, {
      ours: async () => {
        await server.query(
          'DROP SCHEMA protime, protime_flat, protime_history, protime_meta CASCADE',
        )
        return sync()
      },
      unchanged: async () => {
        const before = await written(server)
        const cost = await sync('--full-refresh')
        log = (await written(server)) - before
        return cost
      },
      copy: async () => {
        await server.query('DROP TABLE IF EXISTS copied')
        await server.query('CREATE TABLE copied (LIKE protime.clockings, PRIMARY KEY (id))')
        return timed(server.query(`\\copy copied FROM '${rows}' (FORMAT csv)`))
      },
    })
    for (const name of PROGRAMS.slice(0, 2)) yield rateLine(name, PAGES * PAGE_SIZE, of)
    const [ours, unchanged, copy] = PROGRAMS.map((name) => of(name, 'seconds')) as [
      number,
      number,
      number,
    ]
    const times = ours / copy
    const line = `ours takes ${ours.toFixed(1)} s, ${times.toFixed(2)} times PostgreSQL's COPY into a table with a primary key (at most 1.6)`
    yield { line, isMet: times <= 1.6 }
    yield `unchanged rows take ${(unchanged / ours).toFixed(2)} times as long as the first load, and ${(log / 1e6).toFixed(1)} MB of log`
    const python = dltOrReason()
    if (typeof python !== 'string') {
      yield `dlt is not measured: ${python.reason}`
      return
    }
    const destination = `postgres://${server.user}:${server.password}@127.0.0.1:${server.port}/postgres`
    const seconds = await dltSeconds(python, destination)
    yield `dlt takes ${seconds.toFixed(1)} s: ours is ${(seconds / ours).toFixed(1)} times dlt`
  } finally {
    await server.stop()
    await service.stop()
    rmSync(folder, { recursive: true })
  }
}

/** The bytes of the server's log so far. */
async function written(server: PostgreSql): Promise<number> {
  return Number(await server.query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"))
}

/** Of the server only the seconds are known. */
async function timed(work: Promise<unknown>): Promise<Cost> {
  const began = performance.now()
  await work
  const seconds = (performance.now() - began) / 1000
  return { seconds, cpuSeconds: Number.NaN, peakMegabytes: Number.NaN }
}
