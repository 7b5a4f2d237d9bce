import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBConnection } from '@duckdb/node-api'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { askOf, withDuckDb } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { DELETE, SOFT_DELETE } from '../records/record-batch.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import {
  type Script,
  type Sent,
  send,
  sending,
  streamOf,
  syncLists,
} from './testing/list-source.ts'

const { file, rows } = eachWithWarehouse()

afterEach(() => {
  vi.restoreAllMocks()
})

/** Names that are words of SQL, or that SQL does not take. */
const ODD = [
  ...['', '\0', 'a\0b', '\ud800', '\udfff', 'a\nb', '\u001b[2J', '\u202e', ' ', '"', "'", '""; --'],
  ...['n'.repeat(1000), `${'n'.repeat(999)}m`, 'N'.repeat(1000), 'é', 'É', '😀'],
  // DuckDB and JavaScript have different lower cases of these.
  ...['ΟΔΟΣ', 'İstanbul', '\ua7da'],
  ...['rowid', 'ROWID', 'content', 'is_gone', '_op', 'select', 'NULL', 'old', 'batch', 'last'],
]

const NUMBER = { type: ['integer', 'null'] }

/** A row as a member of a name and one more have it: numbers that fall while the rows come. */
type Fields = Readonly<Record<string, number>>

/**
 * Writes a table in each way that there is, with these members in every record: rows that come twice and go,
 * a new generation that replaces all, versions that close, values that do not fit. After each sync the
 * rows that live are the ones that came last.
 */
async function writeInEachWay(path: string, stream: StreamSpec, names: readonly string[]) {
  const truth = new Map<number, Fields>()
  let next = 1_000
  const put = (id: number): string => {
    const fields = Object.fromEntries(names.map((name) => [name, next--]))
    truth.set(id, fields)
    return JSON.stringify({ ...fields, id, note: id === 1 ? { bad: 1 } : 'a' })
  }
  const gone = (id: number, op: typeof DELETE | typeof SOFT_DELETE = DELETE): Sent => {
    truth.delete(id)
    return { json: JSON.stringify({ id, note: 'gone', changeVersion: 'B' }), op }
  }
  const sync = async (script: Script) => {
    const done = await syncLists(path, new Map([[stream, script]]), { keepsHistory: true })
    expect(done.failures).toEqual([])
    expect(done.warnings.filter((text) => !text.includes('note is not a valid'))).toEqual([])
    expect(await content(path)).toEqual(truth)
  }
  await sync(sending(put(1), put(2), put(1), put(3), gone(2), put(4)))
  await sync(sending(put(1), put(3)))
  const again = async (generation: number, ...ids: readonly number[]) =>
    sync(async (output) => {
      truth.clear()
      await send(output, ids.map(put), generation)
      await output.checkpoint({ flush: true })
      await send(output, [put(8), put(9)], generation)
      output.note({ type: 'generation complete', generation })
      await output.complete()
    })
  await again(2, 3, 4, 5)
  await sync(sending(put(5), put(5), gone(8), gone(9, SOFT_DELETE), put(3), put(4)))
  await sync(sending(put(3), put(6), gone(4), put(6)))
  await again(3, 1, 5)
}

/** The rows that live, by the names of the service. */
async function content(path: string): Promise<Map<number, Fields>> {
  const [columns, rows] = await withDuckDb(path, async (connection) => {
    const ask = askOf(connection)
    const columns = await ask(
      'SELECT property, name FROM _protime.columns WHERE variant_of IS NULL',
    )
    return [columns, await ask('FROM jobs')] as const
  })
  const found = new Map<number, Fields>()
  for (const row of rows) {
    const fields = columns.flatMap(({ property, name }) => {
      const member = JSON.parse(String(property)) as string
      const isGiven = !['id', 'note', 'changeVersion'].includes(member)
      return isGiven ? [[member, Number(row[String(name)])]] : []
    })
    found.set(Number(row['id']), Object.fromEntries(fields))
  }
  return found
}

/** Every word of every statement that such a history needs. */
async function words(path: string): Promise<string[]> {
  const statements: string[] = []
  const { run, runAndReadAll } = DuckDBConnection.prototype
  vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(function (
    this: DuckDBConnection,
    sql,
    ...values
  ) {
    statements.push(sql)
    return run.call(this, sql, ...values)
  })
  vi.spyOn(DuckDBConnection.prototype, 'runAndReadAll').mockImplementation(function (
    this: DuckDBConnection,
    sql,
  ) {
    statements.push(sql)
    return runAndReadAll.call(this, sql)
  })
  await writeInEachWay(path, jobs(), ['member'])
  vi.restoreAllMocks()
  return [...new Set(statements.join('\n').match(/[A-Za-z_]\w*/g))]
}

const OURS = ['id', 'note', 'changeVersion']
const jobs = (names: readonly string[] = []) =>
  streamOf('jobs', {
    changeVersion: { type: ['string', 'null'] },
    note: { type: ['string', 'null'] },
    ...Object.fromEntries(names.map((name) => [name, NUMBER])),
  })

describe('a name of the service', () => {
  let wordsOfSql: readonly string[]
  beforeAll(async () => {
    const path = mkdtempSync(join(tmpdir(), 'warehouse-words-'))
    wordsOfSql = await words(join(path, 'w.duckdb'))
    rmSync(path, { recursive: true })
    expect(wordsOfSql).toContain('_protime_is_gone')
    expect(wordsOfSql.length).toBeGreaterThan(100)
  })

  it.each(['unknown', 'known'])('is never a keyword of SQL if the field is %s', async (kind) => {
    const names = [...new Set([...wordsOfSql, ...ODD])].filter((name) => !OURS.includes(name))
    const stream = jobs(kind === 'known' ? names : [])
    await writeInEachWay(file(), stream, names)
    expect(await rows('SELECT id::INTEGER AS id FROM flat.jobs ORDER BY id')).toEqual(
      [1, 5, 8, 9].map((id) => ({ id })),
    )
  })

  it('is shown without invisible characters, and shortened', async () => {
    const record = JSON.stringify({ id: 1, '': 1, '\u001b[2Ja': 2, ['x'.repeat(999)]: 3 })
    const { infos } = await syncLists(file(), new Map([[jobs(), sending(record)]]))
    expect(infos.slice(0, 3)).toEqual([
      'jobs: a new field of the service has become the column column.',
      'jobs: a new field of the service has become the column _[2Ja.',
      `jobs: a new field of the service has become the column ${'x'.repeat(200)}.`,
    ])
  })

  it('may be any text if it is the name of an external reference', async () => {
    const stream = streamOf('people', { externalReferences: { type: ['object', 'null'] } })
    const references = JSON.stringify({
      id: 1,
      externalReferences: Object.fromEntries(ODD.map((name) => [name, name])),
    })
    const { failures } = await syncLists(file(), new Map([[stream, sending(references)]]))
    expect(failures).toEqual([])
    const [row = {}] = await rows('FROM flat.people')
    expect(Object.keys(row)).toHaveLength(
      1 + new Set(ODD.map((name) => String(Buffer.from(name)))).size,
    )
    expect(Object.values(row)).toContain('a\0b')
  })
})
