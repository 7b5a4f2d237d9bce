import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask, withDuckDb } from '../../integration-tests/testing/protime.ts'
import type { Column } from './column.ts'
import { createLanding } from './duckdb/landing.ts'
import type { Landing } from './landing.ts'
import { type Load, loadRows, type Progress, partsOf } from './load-rows.ts'
import { alterTable, createTable, nextOf, type Table } from './sql.ts'
import { createStreamRows } from './stream-rows.ts'
import { type Script, send, streamOf, syncLists } from './testing/list-source.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settle-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = () => join(folder, 'w.duckdb')
const rows = (sql: string) => ask(file(), sql)
const change = (sql: string) => withDuckDb(file(), (connection) => connection.run(sql))
const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })
const named = (name: string, ...ids: readonly number[]) =>
  ids.map((id) => JSON.stringify({ id, name }))
/** A complete read with a commit after its first part. */
const reading =
  (generation: number, first: readonly string[], last: readonly string[]): Script =>
  async (output) => {
    await send(output, first, generation)
    await output.checkpoint({ flush: true })
    await send(output, last, generation)
    output.note({ type: 'generation complete', generation })
    await output.complete()
  }
const sync = async (script: Script, at?: string) => {
  const now = at === undefined ? {} : { now: () => new Date(at) }
  const { failures, warnings } = await syncLists(file(), new Map([[jobs, script]]), now)
  expect([failures, warnings]).toEqual([[], []])
}

describe('a complete read', () => {
  it.each([
    ['rise', named('a', 1, 2), named('a', 3)],
    ['fall', named('a', 3), named('a', 2, 1)],
  ])('writes no row that has not changed, when keys %s', async (_, first, last) => {
    await sync(reading(1, first, last))
    const before = await rows('SELECT *, rowid FROM jobs ORDER BY id')
    await sync(reading(2, first, last))
    expect(await rows('SELECT *, rowid FROM jobs ORDER BY id')).toEqual(before)
  })

  it('gives rows the moment since which they have these values, also if the clock is set back', async () => {
    const KNOWN =
      'SELECT id::INTEGER AS id, epoch_us(_known_from)::VARCHAR AS at FROM jobs ORDER BY 1'
    await sync(reading(1, named('a', 1, 2), []), '2026-11-01T12:00:00Z')
    const before = await rows(KNOWN)
    expect(before.map(({ at }) => at)).toEqual(
      Array(2).fill(String(Date.UTC(2026, 10, 1, 12) * 1000)),
    )
    await sync(reading(2, named('a', 1), named('b', 2)), '2026-10-01T12:00:00Z')
    const [kept, changed] = await rows(KNOWN)
    expect(kept).toEqual(before[0])
    expect(Number(changed?.['at'])).toBeGreaterThan(Number(before[1]?.['at']))
  })

  it('leaves what others have made, and their values where the key of a row stays', async () => {
    await sync(reading(1, named('a', 1, 2), named('a', 3)))
    await change(`ALTER TABLE jobs ADD COLUMN "Note" VARCHAR; UPDATE jobs SET "Note" = 'mine ' || id;
      CREATE UNIQUE INDEX mine ON jobs (id); CREATE VIEW report AS SELECT name, "Note" FROM jobs`)
    await sync(reading(2, named('b', 1, 4), named('a', 2)))
    expect(await rows('FROM report ORDER BY name, "Note"')).toEqual([
      { name: 'a', Note: 'mine 2' },
      { name: 'b', Note: 'mine 1' },
      { name: 'b', Note: null },
    ])
    expect(await rows("SELECT index_name FROM duckdb_indexes() WHERE table_name = 'jobs'")).toEqual(
      [{ index_name: 'mine' }],
    )
  })

  it('does not take a key for one that does not fit its column', async () => {
    const texts = streamOf('texts', { id: { type: 'string' }, name: { type: 'string' } })
    const script = reading(1, ['{"id":"j7","name":"a"}', '{"id":7,"name":"b"}'], [])
    for (const again of [script, script])
      expect((await syncLists(file(), new Map([[texts, again]]))).failures).toEqual([])
    expect(await rows('SELECT name FROM texts ORDER BY name')).toEqual([
      { name: 'a' },
      { name: 'b' },
    ])
  })

  it('is compared with rows that are longer than its own', async () => {
    const long = (id: number) => JSON.stringify({ id, name: 'x'.repeat(30_000_000) })
    await sync(reading(1, [1, 2, 3].map(long), [4, 5, 6].map(long)))
    await sync(reading(2, named('a', 1, 2, 3), named('a', 4, 5, 6)))
    expect(await rows('SELECT max(length(name))::INTEGER AS longest FROM jobs')).toEqual([
      { longest: 1 },
    ])
  }, 60_000)

  it('that is read from the beginning again loses the rows that waited, if they are lost', async () => {
    await sync(reading(1, named('a', 1), []))
    await sync(async (output) => {
      await send(output, named('b', 1, 2), 2)
      await output.checkpoint({ flush: true })
    })
    await change('DELETE FROM _protime.next_jobs WHERE id = 2')
    const { startedOver } = await syncLists(
      file(),
      new Map([[jobs, reading(3, named('c', 1), [])]]),
    )
    expect([...startedOver]).toEqual(['jobs'])
    expect(await rows('SELECT name FROM jobs')).toEqual([{ name: 'c' }])
  })
})

const KEYS = ['1', '2', '3', '"x"', '"1"'] as const
/** What is sent of a row: its content, a delete, or a delete with its content. */
const record = fc.record({
  key: fc.constantFrom(...KEYS),
  name: fc.constantFrom('null', '"a"', '"b"', '7'),
  kind: fc.constantFrom('upsert', 'upsert', 'upsert', 'gone', 'content'),
})
const commit = fc.record({
  records: fc.array(record, { maxLength: 6 }),
  isLater: fc.boolean(),
  end: fc.constantFrom('none', 'none', 'whole', 'complete'),
})
type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never

/** The rows by their keys; a deleted one may be kept. */
type Model = Map<string, { readonly name: string; readonly lives: boolean }>

function apply(model: Model, { key, name, kind }: Commit['records'][number], keeps: boolean) {
  const before = model.get(key)
  if (kind === 'upsert') model.set(key, { name, lives: true })
  else if (!keeps) model.delete(key)
  else if (kind === 'content') model.set(key, { name, lives: false })
  else if (before !== undefined) model.set(key, { ...before, lives: false })
}

describe.each([false, true])(
  'rows of random commits (deleted rows are kept: %s)',
  (keepsDeleted) => {
    it('are those of a model, and only rows that differ are written', async () => {
      const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
      const landing = createLanding('', { connection, close() {} })
      await landing.run('CREATE SCHEMA _protime')
      await fc.assert(
        fc.asyncProperty(fc.array(commit, { minLength: 2, maxLength: 6 }), (commits) =>
          runCommits(landing, commits, keepsDeleted),
        ),
        { numRuns: 60 },
      )
    }, 120_000)
  },
)

async function runCommits(landing: Landing, commits: readonly Commit[], keepsDeleted: boolean) {
  const { sql } = landing
  const columns: Column[] = [
    { property: 'id', name: 'id', type: 'BIGINT' },
    { property: 'v', name: 'v', type: 'VARCHAR' },
    { property: 'w', name: 'w', type: 'VARCHAR' },
    { property: 'name', name: 'name', type: 'VARCHAR' },
  ]
  let table: Table = {
    ...{ name: 'jobs', place: 'main.jobs', columns, keys: ['id'], keepsDeleted },
    others: new Set(),
  }
  await landing.run(
    `DROP TABLE IF EXISTS ${table.place}; DROP TABLE IF EXISTS ${nextOf(sql, table).place}`,
  )
  await landing.run(createTable(sql, table))
  let progress: Progress = { generation: -1, rows: 0, next: undefined, longest: 0, isFilling: true }
  let files = 0
  const nextPath = () => join(folder, `${++files}.rows`)
  const added = createStreamRows({ sql, columns, keys: ['id'], nextPath, onAdded() {} })
  let [model, waiting]: [Model, Model | undefined] = [new Map(), undefined]
  let [generation, latest] = [1, 1]
  for (const [n, { records, isLater, end }] of commits.entries()) {
    if (isLater) generation += 1
    // A read without rows is not known to have begun.
    if (generation > latest && (records.length > 0 || end === 'whole')) {
      latest = generation
      waiting = progress.generation < 0 ? undefined : new Map()
    }
    const before = new Map(model)
    for (const one of records) {
      if (waiting !== undefined) apply(waiting, one, keepsDeleted)
      // A delete that is reported is known at once.
      if (waiting === undefined || one.kind !== 'upsert') apply(model, one, keepsDeleted)
    }
    // Of the records of one commit, the last of a row counts.
    if (waiting !== undefined) undo(model, before, records, keepsDeleted)
    if (waiting !== undefined && end !== 'none') {
      for (const [key, row] of model)
        if (end === 'whole' && !waiting.has(key)) {
          if (keepsDeleted) model.set(key, { ...row, lives: false })
          else model.delete(key)
        }
      for (const [key, row] of waiting) model.set(key, row)
      waiting = undefined
    }
    added.add(linesOf(records), generation)
    const now = { ...table, columns: [...added.columns] }
    for (const { place } of [now, ...(progress.next === undefined ? [] : [nextOf(sql, now)])])
      for (const statement of alterTable(sql, place, table.columns, now.columns))
        await landing.run(statement)
    table = now
    const load: Load = {
      ...{ stream: 'jobs', ...added.take(), columns: table.columns, risesFrom: undefined },
      ...{ generation, state: undefined },
      completeGeneration: end === 'whole' ? generation : undefined,
      complete: end === 'complete' ? new Date() : undefined,
    }
    const moment = `CAST('2026-11-01T00:00:0${n}Z' AS TIMESTAMPTZ)`
    for (const part of partsOf(load))
      progress = await loadRows(landing, table, part, progress, moment)
    const names = new Set(table.columns.map(({ name }) => name))
    const value = (column: string, or: string) =>
      names.has(`${column}_json`) ? `coalesce(${or}, ${column}_json)` : or
    const found = await landing.query(
      `SELECT ${value('id', 'CAST(id AS VARCHAR)')}, coalesce(${value('name', "'\"' || name || '\"'")}, 'null'),
        ${keepsDeleted ? '_deleted_at IS NULL' : 'true'}, _known_from = ${moment} FROM ${table.place}`,
    )
    const told = (key: string, name: string, lives: boolean) => `${key} ${name} ${lives}`
    expect(
      found.map(([key, name, lives]) => told(String(key), String(name), lives === 'true')).sort(),
    ).toEqual([...model].map(([key, { name, lives }]) => told(key, name, lives)).sort())
    const differing = [...model].filter(([key, { name, lives }]) => {
      const old = before.get(key)
      return old === undefined || old.name !== name || old.lives !== lives
    })
    const written = found.filter(([, , , isNew]) => isNew === 'true').map(([key]) => String(key))
    expect(written.sort()).toEqual(differing.map(([key]) => key).sort())
    expect(progress.rows).toBe([...model.values()].filter(({ lives }) => lives).length)
  }
}

/** Takes back deletes of rows that came again in the same commit. */
function undo(
  model: Model,
  before: Model,
  records: Commit['records'],
  keepsDeleted: boolean,
): void {
  for (const key of KEYS) {
    const own = records.filter((one) => one.key === key)
    const last = own.at(-1)
    const old = before.get(key)
    if (last === undefined) continue
    if (old === undefined) model.delete(key)
    else model.set(key, old)
    if (last.kind === 'upsert') continue
    const content = own.findLast(({ kind }) => kind !== 'gone')
    if (!keepsDeleted) model.delete(key)
    else if (content !== undefined) model.set(key, { name: content.name, lives: false })
    else if (old !== undefined) model.set(key, { ...old, lives: false })
  }
}

/** The lines of records, as `LINE_PARTS` ends them. */
function linesOf(records: Commit['records']): Buffer {
  const lines = records.map(({ key, name, kind }) => {
    if (kind === 'gone') return `{"id":${key}}d\n`
    const json = `{"id":${key},"v":"x","w":"x","name":${name}}`
    return kind === 'content' ? `${json}d\n` : `${json}\n`
  })
  return Buffer.from(lines.join(''))
}
