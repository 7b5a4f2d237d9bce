import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { personStreams } from '../../src/streams/person-paths.ts'
import { keyOf, streams } from '../../src/streams/streams.ts'
import { literal } from '../../src/warehouse/duckdb/dialect.ts'
import { quoted } from '../../src/warehouse/sql.ts'
import { type PostgreSql, startPostgreSql } from '../engines/meltano/postgresql.ts'
import { type Row, startTenant, type Tenant } from '../engines/tenant.ts'
import { protime, withDuckDb } from '../testing/protime.ts'

/** What loaders make of an id, of an object and of a text. */
interface Form {
  readonly id: string
  readonly object: string
  readonly text: string
  /** How they write the name of a column, if not as it is. */
  readonly name?: (column: string) => string
}

/** Runs statements; answers with the values of the first row that the last one selects. */
type Run = (sql: string) => Promise<readonly string[]>

let folder: string
let tenant: Tenant
let words: readonly string[]
let id: string
/** The number of rows of the person, by stream. */
let exported: Readonly<Record<string, number>>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'protime-person-sql-'))
  tenant = await startTenant()
  id = String(tenant.emulator.all('people')[1]?.['id'])
  const [file, warehouse] = [join(folder, 'config.json'), join(folder, 'acme.duckdb')]
  writeFileSync(file, JSON.stringify(tenant.config), { mode: 0o600 })
  words = ['--config', file, '--warehouse', warehouse]
  const contract = tenant.emulator
    .all('contracts')
    .find((row) => String((row['person'] as Row)['id']) === id)
  tenant.emulator.setReference('contracts', 'payroll', 'P-1042', Number(contract?.['id']))
  await protime('sync', ...words, '--quiet')
  const { stdout } = await protime('person', 'export', id, ...words)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
  const count = (name: string) => lines.filter(({ stream }) => stream === name).length
  exported = Object.fromEntries([...personStreams().keys()].map((name) => [name, count(name)]))
})
afterAll(async () => {
  await tenant.emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The statements that load the columns by which rows are found into tables of this form. */
async function tables({
  id: integer,
  object,
  text,
  name: named = String,
}: Form): Promise<string[]> {
  const statements: string[] = []
  for (const [name, paths] of personStreams()) {
    const stream = streams.get(name)
    const keys = stream === undefined ? [] : keyOf(stream)
    const columns = [...new Set([...keys, ...paths.map(([column]) => column)])]
    const typed = columns.map((column) => {
      const type = column === 'id' ? integer : column === 'person' ? object : text
      return `${quoted(named(column))} ${type}`
    })
    const rows = (await tenant.truth(name)).map(
      (row) => `(${columns.map((column) => written(row[column])).join(', ')})`,
    )
    statements.push(
      `CREATE TABLE ${name} (${typed.join(', ')}); INSERT INTO ${name} VALUES ${rows.join(', ')}`,
    )
  }
  return statements
}

function written(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  return literal(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** The statements find and delete what `person export` finds, and nothing else. */
async function expectSame(dialect: string, run: Run): Promise<void> {
  const printed = ['person', 'sql', id, '--dialect', dialect, ...words]
  const [{ stdout: shows }, { stdout: script }] = [
    await protime(...printed),
    await protime(...printed, '--erase'),
  ]
  const names = Object.keys(exported)
  const selects = shows.split('\n').filter((line) => line.startsWith('SELECT'))
  const each = names.map((name) =>
    selects
      .filter((select) => select.startsWith(`SELECT source.* FROM ${name} AS`))
      .map((select) => `(SELECT count(*) FROM (${select.slice(0, -1)}) AS found)`)
      .join(' + '),
  )
  const all = `SELECT ${names.map((name) => `(SELECT count(*) FROM ${name})`).join(', ')}`
  const numbers = async (sql: string) => (await run(sql)).map(Number)
  expect(await numbers(`SELECT ${each.join(', ')}`)).toEqual(Object.values(exported))
  const before = await numbers(all)
  expect(shows.includes('_history')).toBe(dialect === 'postgres')
  await run(shows)
  expect(await numbers(all)).toEqual(before)
  await run(script)
  const others = names.map((name, i) => Number(before[i]) - Number(exported[name]))
  expect(await numbers(all)).toEqual(others)
}

describe('protime person sql for DuckDB', () => {
  it.each<Form>([
    { id: 'BIGINT', object: 'JSON', text: 'VARCHAR' },
    { id: 'VARCHAR', object: 'VARCHAR', text: 'VARCHAR' },
  ])('finds and deletes what export finds: $id, $object', async (form) => {
    await withDuckDb(':memory:', async (connection) => {
      for (const statement of await tables(form)) await connection.run(statement)
      await expectSame('duckdb', async (sql) => {
        const reader = await connection.runAndReadAll(sql)
        return (reader.getRows()[0] ?? []).map(String)
      })
    })
  })
})

it('names the streams of persons that the configuration leaves out: a table of before may have rows', async () => {
  const few = join(folder, 'few.json')
  writeFileSync(few, JSON.stringify({ ...tenant.config, streams: ['people'] }), { mode: 0o600 })
  const { stdout } = await protime('person', 'sql', id, '--dialect', 'duckdb', '--config', few)
  const [, left = ''] = /^-- Not in the configuration: (.*)\. /m.exec(stdout) ?? []
  expect(['people', ...left.split(', ')].toSorted()).toEqual([...personStreams().keys()].toSorted())
})

it('says that protime status goes on counting rows that are deleted in PostgreSQL', async () => {
  const printed = ['person', 'sql', id, '--erase', ...words]
  expect((await protime(...printed, '--dialect', 'postgres')).stdout).toMatch(
    /column rows .* protime status/,
  )
  // There, protime person erase corrects them.
  expect((await protime(...printed, '--dialect', 'duckdb')).stdout).not.toContain('protime status')
})

describe('protime person sql for PostgreSQL', () => {
  let server: PostgreSql
  const place = mkdtempSync(join(tmpdir(), 'protime-person-pg-'))
  beforeAll(async () => {
    server = await startPostgreSql(place)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(place, { recursive: true, force: true })
  })

  it.each<Form>([
    { id: 'bigint', object: 'jsonb', text: 'text' },
    { id: 'numeric', object: 'json', text: 'varchar' },
    { id: 'text', object: 'text', text: 'text' },
    { id: 'int8', object: 'json', text: 'text', name: (column) => column.toLowerCase() },
  ])('finds and deletes what export finds: $id, $object', { timeout: 60_000 }, async (form) => {
    const schema = `as_${form.id}`
    const inSchema = (sql: string) => server.query(`SET search_path = ${schema}; ${sql}`)
    await server.query(`CREATE SCHEMA ${schema}`)
    for (const statement of await tables(form)) await inSchema(statement)
    await expectSame('postgres', async (sql) =>
      ((await inSchema(sql)).trim().split('\n').at(-1) ?? '').split('|'),
    )
  })
})
