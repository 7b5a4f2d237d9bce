import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { runProtime } from '../../../src/cli/main.ts'
import { temporaryFolder } from '../../testing/files.ts'
import { createCollector } from '../../testing/output.ts'
import { withDuckDb } from '../../testing/protime.ts'
import { differences } from '../../testing/warehouse.ts'
import { runSync } from '../run-sync.ts'
import { createPlatform } from '../warehouses.ts'
import type { PrivacyPlace, PrivacySync } from './history.ts'
import { marksIn } from './marks.ts'

type Row = Readonly<Record<string, unknown>>

/** What a sync is given. */
interface PrivacyInput {
  readonly config: object
  readonly streams: readonly string[]
  readonly step: PrivacySync
}

/** How a sync ended, and all that it has left behind. */
interface PrivacyOutcome {
  /** Whether it has read all of its streams, to their end. */
  readonly isGood: boolean
  /** What was said and stored, by where it stands. */
  readonly texts: readonly Left[]
  /** What was logged. */
  readonly said: string
}

interface Left {
  readonly where: string
  readonly text: string
  /** Marks that the sync was given: it deletes references by the keys that they have in a warehouse. */
  readonly given?: ReadonlySet<string>
}

/** Where the records of a history go. */
export interface PrivacyDestination {
  sync(input: PrivacyInput): Promise<PrivacyOutcome>
  /** Where a stream's rows differ from these, in words; `areReferencesStale` lets those in records be older. */
  differences(
    stream: string,
    rows: readonly Row[],
    areReferencesStale: boolean,
  ): Promise<string[]> | string[]
  close(): void
}

export function createDestination(place: PrivacyPlace, publishes: boolean): PrivacyDestination {
  return place === 'warehouse' ? createFile(publishes) : createWarehouses(place)
}

/** Two warehouses behind a protocol, and the states of their platform. */
function createWarehouses(place: Exclude<PrivacyPlace, 'warehouse'>): PrivacyDestination {
  const platform = createPlatform()
  const folder = temporaryFolder()
  const metrics = join(folder.path, 'metrics.prom')
  return {
    async sync({ config, streams, step }) {
      const before = platform.state.map((entry) => JSON.stringify(entry))
      const outcome = await runSync(place, {
        config,
        catalog: streams.map((name) => ({ name, sync_mode: 'incremental' })),
        state: platform.state,
        killAfter: step.killAfter,
        words: ['--metrics', metrics],
        environment: { LOG_LEVEL: 'debug' },
      })
      platform.load(outcome, 'committed')
      const given = marksIn(before.map(unpacked).join('\n'))
      const isGood = outcome.exitCode === 0 && outcome.whole === undefined
      // A stream that was not read keeps the state that it had.
      const isNew = (text: string) => !before.includes(text)
      const states = platform.state.map((entry) => JSON.stringify(entry)).filter(isNew)
      const isState = (line: string) => line.startsWith('{"type":"STATE"')
      const lines = outcome.output.split('\n').filter((line) => !isState(line))
      return {
        isGood,
        said: outcome.said,
        texts: [
          { where: 'the output', text: lines.join('\n'), given },
          {
            where: 'the state',
            text: states.map(unpacked).join('\n'),
            ...(isGood ? {} : { given }),
          },
          ...filesIn(folder.path),
        ],
      }
    },
    differences(stream, rows, areReferencesStale) {
      const plain = (row: Row) => comparable(row, areReferencesStale) as Row
      return platform.warehouses.flatMap((warehouse) => {
        const held = [...warehouse.rows(stream)].map(([key, row]) => [key, plain(row)] as const)
        return differences(stream, new Map(held), rows.map(plain))
      })
    },
    close: folder.remove,
  }
}

/** A state with what its sets of ids hold. */
function unpacked(state: string): string {
  const sets = [...state.matchAll(/"r([A-Za-z0-9+/]+=*)\\?"/g)].map(([, set = '']) => bytesOf(set))
  const packed = [...state.matchAll(/"z([A-Za-z0-9+/]+=*)\\?"/g)].map(([, set = '']) =>
    bytesOf(set),
  )
  return [state, ...sets, ...packed.map((set) => inflateRawSync(set))].join('\n')
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}

/** What is null may be left out, and the references of a record may be those of its last change. */
function comparable(value: unknown, areReferencesStale: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => comparable(each, areReferencesStale))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => inner !== null && !(areReferencesStale && isReferences(name)))
      .map(([name, inner]) => [name, comparable(inner, areReferencesStale)]),
  )
}

function isReferences(name: string): boolean {
  return name === 'externalReferences'
}

/** The file of `protime sync`; one that was filled under other settings is written anew. */
function createFile(publishes: boolean): PrivacyDestination {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  return {
    async sync({ config, streams, step }) {
      const settings = step.keepsHistory ? { ...config, history: true } : config
      writeFileSync(at('config.json'), JSON.stringify(settings), { mode: 0o600 })
      const words = [
        ...['sync', '--config', at('config.json'), '--warehouse', at('w.duckdb')],
        ...['--streams', streams.join(','), '--metrics', at('metrics.prom')],
        ...(publishes ? ['--publish', at('published.duckdb')] : []),
        ...(step.isFull ? ['--full-refresh'] : []),
      ]
      const first = await protime(words)
      const isRefused = first.exitCode === 2 && first.said.includes('Add --rewrite')
      const last = isRefused ? await protime([...words, '--rewrite', '--forget-history']) : first
      const isGood = last.exitCode === 0
      const said = isRefused ? first.said + last.said : first.said
      const files = isGood ? [...filesIn(folder.path), ...(await tablesIn(at('w.duckdb')))] : []
      return {
        isGood,
        said,
        texts: [
          { where: 'the output', text: said },
          ...files.filter(({ where }) => !where.endsWith('config.json')),
        ],
      }
    },
    async differences(stream, rows, areReferencesStale) {
      const tables = await tablesIn(at('w.duckdb'))
      const held = marksIn(tables.find(({ where }) => where === `the table ${stream}`)?.text ?? '')
      return rows.flatMap((row) => {
        const missing = [...marksIn(comparable(row, areReferencesStale))].filter(
          (mark) => !held.has(mark),
        )
        return missing.map((mark) => `${stream} ${JSON.stringify(row)} is there without ${mark}`)
      })
    },
    close: folder.remove,
  }
}

async function protime(words: readonly string[]): Promise<{ exitCode: number; said: string }> {
  const output = createCollector()
  const io = { stdout: output, stderr: output, env: { LOG_LEVEL: 'debug' } }
  const exitCode = await runProtime(words, io)
  return { exitCode, said: output.text() }
}

/** The bytes of all files, one character each. */
function filesIn(folder: string): Left[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return []
    const path = join(entry.parentPath, entry.name)
    return [{ where: `the file ${entry.name}`, text: readFileSync(path, 'latin1') }]
  })
}

/** What each table holds: numbers and days are no texts in the file. */
async function tablesIn(path: string): Promise<Left[]> {
  if (!existsSync(path)) return []
  return withDuckDb(path, async (connection) => {
    const tables = await connection.runAndReadAll(
      'SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()',
    )
    const found = []
    for (const [schema, table] of tables.getRows()) {
      const rows = await connection.runAndReadAll(
        `SELECT to_json(t)::VARCHAR FROM "${schema}"."${table}" t`,
      )
      found.push({ where: `the table ${table}`, text: rows.getRows().flat().join('\n') })
    }
    return found
  })
}
