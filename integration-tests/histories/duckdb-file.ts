import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { DuckDBConnection } from '@duckdb/node-api'
import type { Stream } from '../../src/streams/collections.ts'
import { streamSpec } from '../../src/streams/streams.ts'
import { tableRows } from '../testing/compare.ts'
import { askOf } from '../testing/protime.ts'
import type { StreamState } from './warehouses.ts'

type Row = Readonly<Record<string, unknown>>

/** What a DuckDB file holds. */
export interface Held {
  /** What lives, by stream, with nulls; streams without a table are left out. */
  readonly rows: ReadonlyMap<string, readonly Row[]>
  /** The same rows as they came, with every digit. */
  readonly texts: ReadonlyMap<string, readonly string[]>
  readonly states: ReadonlyMap<string, StreamState>
  /** Which questions it answers wrongly, in words. */
  readonly wrong: readonly string[]
}

const guide = readFileSync('docs/warehouse.md', 'utf8')
const [CLOCKINGS = '', AGES = ''] = [...guide.matchAll(/```sql\n([^`]*)```/g)].map(
  ([, sql = '']) => sql,
)

/** Reads what lives in a file, and asks it what the guide asks. */
export async function heldBy(
  connection: DuckDBConnection,
  streams: readonly Stream[],
): Promise<Held> {
  const ask = askOf(connection)
  const states = new Map<string, StreamState>()
  for (const { stream, state } of await ask('FROM _protime.states'))
    states.set(String(stream), JSON.parse(String(state)))
  const rows = new Map<string, readonly Row[]>()
  const texts = new Map<string, readonly string[]>()
  const wrong: string[] = []
  for (const stream of streams) {
    const columns = await ask(
      `SELECT column_name FROM duckdb_columns() WHERE schema_name = 'main' AND table_name = '${stream.stream}'`,
    )
    if (columns.length === 0) continue
    const found: string[] = []
    for await (const text of tableRows(stream.stream, connection)) found.push(text)
    const held = found.map((text) => JSON.parse(text) as Row)
    texts.set(stream.stream, found)
    rows.set(stream.stream, held)
    const names = new Set(columns.map((column) => column['column_name']))
    for (const { sql, count } of questions(stream, held, names)) {
      const found = await ask(sql).then(
        ([first]) => Number(first?.['count']),
        (error: Error) => error.message,
      )
      if (found !== count) wrong.push(`${sql} is answered ${found} in place of ${count}`)
    }
  }
  for (const { stream, rows: count } of await ask(AGES)) {
    const held = rows.get(String(stream))?.length
    if (held !== undefined && count !== null && Number(count) !== held)
      wrong.push(`the file says that ${stream} has ${count} rows, and it has ${held}`)
  }
  return { rows, texts, states, wrong }
}

interface Question {
  readonly sql: string
  readonly count: number
}

/** What a person asks the view of a stream, by number and by day, and how many rows answer it. */
function questions(
  stream: Stream,
  held: readonly Row[],
  columns: ReadonlySet<unknown>,
): Question[] {
  const from = `SELECT count(*) AS count FROM flat."${stream.stream}"`
  const question = (sql: string, isMeant: (row: Row) => boolean): Question => ({
    sql,
    count: held.filter(isMeant).length,
  })
  const { dateField: day } = stream
  return [
    question(from, () => true),
    ...Object.entries(streamSpec(stream).schema.properties ?? {})
      .filter(([name]) => columns.has(name))
      .filter(([, { type }]) => [type].flat().includes('integer') && [type].flat().length <= 2)
      .map(([name]) => question(`${from} WHERE "${name}" >= 0`, (row) => isNatural(row[name]))),
    ...(day === undefined
      ? []
      : [question(`${from} WHERE "${day}" >= '2025-01-01'`, (row) => String(row[day]) >= '2025-')]),
    ...(stream.stream === 'clockings'
      ? [
          question(
            `SELECT count(*) AS count FROM (${CLOCKINGS})`,
            (row) => String(row['date']) >= '2026-11-01',
          ),
        ]
      : []),
  ]
}

function isNatural(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 63
}

/** What a killed process may leave of a warehouse. */
const ENDINGS = ['', '.wal', '.rewrite', '.rewrite.wal']
/** How a shell tells the end by SIGKILL. */
const KILLED = 137

/**
 * Runs a sync into a warehouse as if its process was killed after so many commits: nothing more is written, the files are
 * as they were then, and the service is asked for hardly anything more. Returns the exit code; 0 commits let the sync live.
 */
export async function killedAfter(
  commits: number,
  file: string,
  sync: () => Promise<number>,
): Promise<number> {
  if (commits === 0) return sync()
  const { run } = DuckDBConnection.prototype
  let left = commits
  DuckDBConnection.prototype.run = async function (sql, ...others) {
    if (left === 0 && !sql.startsWith('SELECT')) throw new Error('IO Error: the process was killed')
    const result = await run.call(this, sql, ...others)
    if (sql === 'COMMIT' && --left === 0) move(file, keptOf(file))
    return result
  }
  try {
    const exitCode = await sync()
    if (left > 0) return exitCode
  } finally {
    DuckDBConnection.prototype.run = run
  }
  move(keptOf(file), file)
  return KILLED
}

const keptOf = (file: string) => `${file}.killed`

function move(from: string, to: string): void {
  for (const ending of ENDINGS) {
    rmSync(`${to}${ending}`, { force: true })
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`)
  }
}
