import { execFile, execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { guideBlock, guideBlocks } from '../../scripts/guide-blocks.ts'
import type { Message } from '../../src/protocol/acceptance/messages.ts'
import { keyOf, readStreamSchema, streams } from '../../src/streams/streams.ts'
import { columnType } from '../../src/warehouse/column.ts'
import { executableOf } from '../testing/child.ts'
import { ask, protime, withDuckDb } from '../testing/protime.ts'
import { type AirbyteRun, parseLines, run } from '../testing/run.ts'
import { createWarehouse, differences } from '../testing/warehouse.ts'

const GUIDE = 'docs/streams.md'
const [firstSync, nextSync] = [guideBlock('sh first', GUIDE), guideBlock('sh next', GUIDE)]
const catalog = guideBlocks('json', GUIDE).find((text) => text.includes('"sync_mode"')) ?? ''

let emulator: Emulator
let folder: string
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1 })
  folder = mkdtempSync(join(tmpdir(), 'guide-'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify(emulator.config()))
})
afterEach(async () => {
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs lines of the documents in a shell, as a reader does who has installed the package. */
function shell(lines: string) {
  const PATH = `${dirname(executableOf('source-protime'))}:${process.env['PATH']}`
  return promisify(execFile)('sh', ['-e', '-c', lines], {
    cwd: folder,
    env: { ...process.env, PATH },
  })
}

async function follow(lines: string): Promise<Message[]> {
  await shell(lines)
  return parseLines(readFileSync(join(folder, 'messages.jsonl'), 'utf8'))
}

it('the commands without a platform load everything, and then what has changed', async () => {
  const warehouse = createWarehouse('highest-cursor')
  const first = await follow(firstSync)
  warehouse.load(first)
  expect(first.flatMap(({ log }) => log?.message ?? [])).toContain(
    `The catalog is the output of discover: all ${streams.size + 1} streams are read, incrementally.`,
  )
  const [person, gone] = emulator.all('people')
  emulator.update('people', person?.['id'] as number, { firstName: 'Zoe' })
  emulator.remove('people', gone?.['id'] as number)
  const next = await follow(nextSync)
  warehouse.load(next)
  expect(next.filter(({ record }) => record?.stream === 'people')).toHaveLength(2)
  for (const [stream, collection] of [
    ['people', 'people'],
    ['clockings', 'clockings'],
    ['sectors', 'sectors'],
  ] as const) {
    expect(differences(stream, warehouse.rows(stream), emulator.all(collection))).toEqual([])
  }
})

it("README's two lines bring a tenant into a DuckDB file", async () => {
  const steps = guideBlock('sh npx', 'README.md')
  const installed = steps.replaceAll('npx -y -p source-protime -p @duckdb/node-api ', '')
  expect(installed).toBe('protime init\nprotime sync\n')
  const { base_url, api_name } = emulator.config()['environment'] as Record<string, string>
  rmSync(join(folder, 'config.json'))
  const running = shell(installed)
  running.child.stdin?.end(`demo\n${base_url}\n\n${api_name}\nconnector\nemulator-secret\n`)
  await running
  const [counted] = await ask(
    join(folder, 'protime.duckdb'),
    'SELECT count(*)::INTEGER AS n FROM people',
  )
  expect(counted).toEqual({ n: emulator.all('people').length })
})

it('the configured catalog of docs/streams.md is valid', async () => {
  writeFileSync(join(folder, 'catalog.json'), catalog)
  const commands = firstSync.split('\n').filter((line) => !line.includes('discover'))
  const messages = await follow(commands.join('\n'))
  const read = new Set(messages.flatMap(({ record }) => record?.stream ?? []))
  expect([...read]).toEqual(['people'])
})

type Row = Readonly<Record<string, unknown>>

const guide = readFileSync('docs/how-a-sync-works.md', 'utf8')
const queries = [...guide.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql)

/** The query of docs/how-a-sync-works.md that has these words. */
function queryWith(words: string): string {
  const found = queries.filter((sql) => sql.includes(words))
  expect(found).toHaveLength(1)
  return found[0] ?? ''
}

/** The last record of each key, deletions too: what PyAirbyte's cache keeps. */
let tables: Map<string, Map<string, Row>>
let state: unknown
beforeEach(() => {
  tables = new Map()
  state = undefined
})

async function sync(catalog: readonly string[], settings: object = {}): Promise<AirbyteRun> {
  const config = { ...emulator.config(), ...settings }
  const recording = await run({
    program: 'source-protime',
    command: 'read',
    in: 'process',
    config,
    catalog,
    state,
  })
  expect(recording.exitCode).toBe(0)
  state = recording.state
  for (const name of catalog) {
    const stream = streams.get(name)
    const rows = tables.get(name) ?? new Map<string, Row>()
    tables.set(name, rows)
    for (const row of recording.records(name)) {
      rows.set(JSON.stringify(stream && keyOf(stream).map((column) => row[column])), row)
    }
  }
  return recording
}

/** What DuckDB answers of the tables. */
async function answersTo(sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    for (const [name, rows] of tables) {
      const file = join(folder, `${name}.ndjson`)
      writeFileSync(file, [...rows.values()].map((row) => `${JSON.stringify(row)}\n`).join(''))
      await connection.run(
        `CREATE TABLE ${name} AS FROM read_json('${file}', format = 'newline_delimited', columns = {${columnsOf(name)}})`,
      )
    }
    const reader = await connection.runAndReadAll(sql)
    return reader.getRowObjectsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** DuckDB does not tell names apart by case: the twins of people are left out. */
function columnsOf(name: string): string {
  const properties = Object.entries(readStreamSchema(name).properties).filter(
    ([property]) => !/ISOCode$/.test(property),
  )
  const types = properties.map(([property, schema]) => `"${property}": '${columnType(schema)}'`)
  return [...types, `_ab_cdc_deleted_at: 'TIMESTAMP'`, `_generation: 'BIGINT'`].join(', ')
}

describe('the queries of docs/how-a-sync-works.md', () => {
  it('join current references, while those inside records are older', async () => {
    const names = ['clockings', 'people', 'external_references']
    const references = [{ collection: 'people', names: ['@employee-number', 'payroll'] }]
    emulator.setReference('people', 'payroll', 'old', 1)
    await sync(names, { external_references: references })
    emulator.setReference('people', 'payroll', 'new', 1)
    emulator.update('people', 1, { employeeNumber: '777' })
    const { records } = await sync(names, { external_references: references })
    expect(records('clockings')).toEqual([])
    const clockings = emulator.all('clockings').map(({ id, person }) => [id, person])
    const ofFirst = clockings.filter(([, person]) => (person as Row)['id'] === 1)
    const rows = await answersTo(queryWith('payroll'))
    expect(rows).toHaveLength(clockings.length)
    expect(
      rows.filter(({ number, payroll }) => number === '777' && payroll === 'new'),
    ).toHaveLength(ofFirst.length)
    expect(rows.filter(({ payroll }) => payroll === 'old')).toEqual([])
  })

  it('distinguish existing rows from deleted ones', async () => {
    await sync(['people'])
    emulator.remove('people', 2)
    await sync(['people'])
    expect(tables.get('people')?.size).toBe(3)
    const rows = await answersTo(queryWith('FROM people WHERE'))
    expect(rows.map(({ id }) => Number(id))).toEqual([1, 3])
  })

  it('find rows that vanished while there was no state', async () => {
    await sync(['clockings'])
    const [first] = emulator.all('clockings')
    emulator.remove('clockings', first?.['id'] as number)
    state = undefined
    emulator.advance({ hours: 1 })
    await sync(['clockings'])
    const rows = await answersTo(queryWith('_generation <'))
    expect(rows.map(({ id }) => Number(id))).toEqual([first?.['id']])
  })
})

describe('a later sync', () => {
  it('makes as many requests as docs/how-a-sync-works.md says', async () => {
    const names = [...streams.keys()]
    const config = { activity_structures: emulator.activityStructures }
    await sync(names, config)
    const before = emulator.requests.length
    await sync(names, config)
    const paths = emulator.requests.slice(before).map(({ path }) => path)
    const count = (what: RegExp) => paths.filter((path) => what.test(path)).length
    const deltas = [...streams.values()].filter(({ replication }) => replication === 'delta')
    expect(count(/^\/delta\//)).toBe(deltas.length)
    expect(count(/^\/external-references\//)).toBe(18)
    expect(paths.length).toBeGreaterThan(45)
    expect(paths.length).toBeLessThan(55)
  })
})

describe('docs/warehouse.md and docs/verify.md', () => {
  const page = readFileSync('docs/verify.md', 'utf8')
  const warehouse = readFileSync('docs/warehouse.md', 'utf8')
  const [clockings = '', ages = ''] = [...warehouse.matchAll(/```sql\n([^`]*)```/g)].map(
    ([, sql = '']) => sql,
  )

  let tenant: Emulator
  let place: string
  const file = (name: string) => join(place, name)

  /** What `npm run ask` prints, in the folder of the warehouses. */
  const askScript = (sql: string, ...words: readonly string[]) =>
    execFileSync(
      process.execPath,
      [join(process.cwd(), 'dist/scripts/demo/warehouse.js'), 'ask', sql, ...words],
      { cwd: place, encoding: 'utf8' },
    )

  beforeAll(async () => {
    tenant = await startEmulator({ people: 3, months: 1 })
    place = mkdtempSync(join(tmpdir(), 'warehouse-guide-'))
    const few = { ...tenant.config(), streams: ['clockings', 'people', 'jobs'] }
    writeFileSync(file('config.json'), JSON.stringify(few))
    await protime('sync', '--config', file('config.json'), '--warehouse', file('protime.duckdb'))
  })
  afterAll(async () => {
    await tenant.close()
    rmSync(place, { recursive: true })
  })

  it('queries the clockings of a month', () => {
    expect(askScript(clockings, 'protime.duckdb')).toMatch(/^person_id +date +timeOfDayInMinutes\n/)
    expect(askScript('SHOW TABLES', 'protime.duckdb')).toContain('clockings')
  })

  it('queries the age of the rows', () => {
    const answer = askScript(ages, 'protime.duckdb')
    expect(answer).toMatch(/^stream +last_complete +rows +failure\n/)
    expect(answer).toMatch(/\nclockings +20\d\d-/)
  })

  it('shows what protime verify prints', async () => {
    copyFileSync(file('protime.duckdb'), file('wrong.duckdb'))
    await withDuckDb(file('wrong.duckdb'), (connection) =>
      connection.run(
        'UPDATE clockings SET timeOfDayInMinutes = 1441 WHERE id = (SELECT min(id) FROM clockings)',
      ),
    )
    const words = ['--config', file('config.json'), '--warehouse', file('wrong.duckdb')]
    const { exitCode, stdout } = await protime('verify', ...words)
    const [, shown = ''] = /```\n(\{"stream"[^`]*)```/.exec(page) ?? []
    const masked = (text: string) => text.replaceAll(/\d+|"[0-9A-F]{20}"/g, 'n')
    expect([exitCode, masked(stdout)]).toEqual([3, masked(shown)])
  })
})

/** The commands of protime that the documents show with options, and all options that they show with each. */
const shown = new Map<string, Set<string>>()
for (const file of ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)]) {
  if (!file.endsWith('.md')) continue
  const text = readFileSync(file, 'utf8').replaceAll('\\\n', ' ')
  for (const [, words = '', rest = ''] of text.matchAll(
    /(?<![\w-])protime((?: [a-z]+)+)( [^`\n|>]*)/g,
  )) {
    const options = rest.match(/(?<= )--[a-z][a-z-]*(?=[ =]|$)/g) ?? []
    const command = words.trim().split(' ').slice(0, 2).join(' ')
    if (options.length > 0) shown.set(command, new Set([...(shown.get(command) ?? []), ...options]))
  }
}

describe('the options that the documents show', () => {
  it.each([...shown])('protime %s has', async (command, options) => {
    const { stdout } = await protime(...command.split(' '), '--help')
    expect(
      [...options].filter((option) => !new RegExp(`^ .*${option}\\b`, 'm').test(stdout)),
    ).toEqual([])
  })
})
