import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountTables } from './account.ts'
import { type Column, KNOWN_FROM, KNOWN_UNTIL } from './column.ts'
import { createLanding } from './duckdb/landing.ts'
import { noteRead } from './history.ts'
import type { Landing } from './landing.ts'
import { type Load, loadRows, type Progress, partsOf } from './load-rows.ts'
import { landingInProcess } from './postgres/testing/pglite.ts'
import { alterTable, closedPlace, createTable, nextOf, type Table } from './sql.ts'
import { createStreamRows } from './stream-rows.ts'

/** Thousands by night, see vitest.config.ts; by day fewer in PostgreSQL, where they take three times as long. */
const { HISTORIES_RUNS, HISTORIES_SCALE } = process.env
const byNight = HISTORIES_SCALE && 80 * Number(HISTORIES_SCALE)
const RUNS = {
  DuckDB: Number(HISTORIES_RUNS ?? byNight ?? 25),
  PostgreSQL: Number(HISTORIES_RUNS ?? byNight ?? 12),
}

const folder = mkdtempSync(join(tmpdir(), 'random-commits-'))
afterAll(() => rmSync(folder, { recursive: true }))

const KEYS = ['1', '2', '3', '"x"', '"1"'] as const
/** What is sent of a row: its content, of which `extra` is in no schema, or a delete, also with content. */
const record = fc.record({
  key: fc.constantFrom(...KEYS),
  name: fc.constantFrom('null', '"a"', '"b"', '7'),
  extra: fc.constantFrom('null', 'null', '"p"', '1.10'),
  kind: fc.constantFrom('upsert', 'upsert', 'repeat', 'repeat', 'gone', 'content'),
})
const commit = fc.record({
  records: fc.array(record, { maxLength: 6 }),
  hasExtra: fc.constantFrom(false, false, true),
  isLater: fc.boolean(),
  end: fc.constantFrom('none', 'none', 'whole', 'complete'),
})
type Sent = typeof record extends fc.Arbitrary<infer T> ? T : never
type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never

interface Row {
  readonly name: string
  readonly extra: string
}
/** The rows by their keys. */
type Model = Map<string, Row>

const ENGINES = {
  async DuckDB() {
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
    const landing = createLanding('', { connection, close: () => connection.closeSync() })
    await landing.run('CREATE SCHEMA _protime')
    return { landing, close: () => landing.close() }
  },
  async PostgreSQL() {
    const { landing, end } = await landingInProcess()
    return { landing, close: end }
  },
}

describe.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])(
  'random commits in %s',
  (engine) => {
    let opened: Awaited<ReturnType<(typeof ENGINES)[typeof engine]>>
    beforeAll(async () => {
      opened = await ENGINES[engine]()
      const { landing } = opened
      await landing.atomically(() => landing.run(accountTables(landing.sql).join(';\n')))
    })
    afterAll(() => opened.close())

    it.each([
      ['without a history', false],
      ['with a history', true],
    ])(
      '%s: rows are those of a model, as of each commit, and only what differs is written',
      async (_, keepsHistory) => {
        await fc.assert(
          fc.asyncProperty(fc.array(commit, { minLength: 2, maxLength: 6 }), (commits) =>
            runCommits(opened.landing, commits, keepsHistory),
          ),
          { numRuns: RUNS[engine] },
        )
      },
      86_400_000,
    )
  },
)

async function runCommits(landing: Landing, commits: readonly Commit[], keepsHistory: boolean) {
  const { sql } = landing
  const columns: Column[] = [
    { property: 'id', name: 'id', type: 'BIGINT' },
    { property: 'v', name: 'v', type: 'VARCHAR' },
    { property: 'name', name: 'name', type: 'VARCHAR' },
  ]
  const closed = closedPlace(sql, 'jobs')
  let table: Table = {
    ...{ name: 'jobs', place: `${sql.schemas.tables}.jobs`, columns, keys: ['id'] },
    history: keepsHistory ? { place: closed, hasBegun: false, members: new Set() } : undefined,
    others: new Set(),
  }
  const { account } = sql.schemas
  await landing.atomically(() =>
    landing.run(
      [
        ...[table.place, closed, nextOf(sql, table).place].map(
          (one) => `DROP TABLE IF EXISTS ${one}`,
        ),
        createTable(sql, table),
        createTable(sql, { ...table, place: closed }, 'TABLE', [KNOWN_FROM, KNOWN_UNTIL]),
        ...['streams', 'fields'].map((name) => `DELETE FROM ${account}.${name}`),
        `INSERT INTO ${account}.streams (stream) VALUES ('jobs')`,
      ].join(';\n'),
    ),
  )
  let progress: Progress = { generation: -1, rows: 0, next: undefined, longest: 0, isFilling: true }
  let files = 0
  const nextPath = () => join(folder, `${++files}.rows`)
  const added = createStreamRows({ sql, columns, nextPath, onAdded() {} })
  let [model, waiting]: [Model, Model | undefined] = [new Map(), undefined]
  let [generation, latest, versions] = [1, 1, 0]
  const known: { moment: string; model: Model; hasExtra: boolean }[] = []
  for (const [n, { isLater, end, ...sent }] of commits.entries()) {
    const records = recordsOf(sent, model)
    if (isLater) generation += 1
    // A read without rows is not known to have begun.
    if (generation > latest && (records.length > 0 || end === 'whole')) {
      latest = generation
      waiting = progress.generation < 0 ? undefined : new Map()
    }
    const before = new Map(model)
    const isRead = waiting !== undefined && end !== 'none'
    model = modelAfter(model, waiting, records, end)
    if (waiting !== undefined && end !== 'none') waiting = undefined
    added.add(linesOf(records), generation)
    const load: Load = {
      ...{ stream: 'jobs', ...added.take(), columns: [...added.columns], risesFrom: undefined },
      ...{ generation, state: undefined },
      completeGeneration: end === 'whole' ? generation : undefined,
      complete: end === 'complete' ? new Date() : undefined,
    }
    const moment = `CAST('2026-11-01T00:00:0${n}Z' AS TIMESTAMPTZ)`
    const { history } = table
    const found = await landing.atomically(async () => {
      const now = { ...table, columns: load.columns }
      const next = progress.next === undefined ? [] : [nextOf(sql, now).place]
      for (const place of [now.place, closed, ...next])
        for (const statement of alterTable(sql, place, table.columns, now.columns))
          await landing.run(statement)
      table = now
      for (const part of partsOf(load))
        progress = await loadRows(landing, table, part, progress, moment)
      if (end !== 'none')
        table = { ...table, history: await noteRead(landing, table, end === 'whole', moment) }
      return landing.query(
        `SELECT ${keyAndRow(table)}, ${KNOWN_FROM} = ${moment} FROM ${table.place}`,
      )
    })
    expect(told(found)).toEqual(toldOf(model))
    expect(progress.rows).toBe(model.size)
    /** Whether a row differs by nothing but a field that this read is the first to fill. */
    const isFilled = (old: Row | undefined, row: Row | undefined) =>
      isRead &&
      history?.hasBegun === true &&
      !history.members.has('extra') &&
      old?.extra === 'null' &&
      old.name === row?.name
    const differing = [...new Set([...before.keys(), ...model.keys()])].filter((key) => {
      const [old, row] = [before.get(key), model.get(key)]
      return textOf(old) !== textOf(row) && !isFilled(old, row)
    })
    const written = found
      .filter((row) => ['true', 't'].includes(String(row.at(-1))))
      .map(([key]) => key)
    expect(written.sort()).toEqual(differing.filter((key) => model.has(key)).sort())
    if (history?.hasBegun === true) versions += differing.filter((key) => before.has(key)).length
    if (table.history?.hasBegun === true)
      known.push({ moment, model: new Map(model), hasExtra: table.history.members.has('extra') })
  }
  const all = `(SELECT ${keyAndRow(table)}, ${KNOWN_FROM}, CAST(NULL AS TIMESTAMPTZ) AS ${KNOWN_UNTIL} FROM ${table.place}
    UNION ALL SELECT ${keyAndRow(table)}, ${KNOWN_FROM}, ${KNOWN_UNTIL} FROM ${closed}) AS version`
  const query = (sql: string) => landing.atomically(() => landing.query(sql))
  for (const { moment, model: then, hasExtra } of known) {
    const rows = await query(
      `SELECT version.* FROM ${all} WHERE ${KNOWN_FROM} <= ${moment} AND (${KNOWN_UNTIL} IS NULL OR ${KNOWN_UNTIL} > ${moment})`,
    )
    expect(told(rows, hasExtra)).toEqual(toldOf(then, hasExtra))
  }
  expect(await query(`SELECT count(*) FROM ${closed}`)).toEqual([[String(versions)]])
}

/** Selects the key and the row of `Row`. */
function keyAndRow({ columns }: Table): string {
  const names = new Set(columns.map(({ name }) => name))
  const value = (name: string, text: string) => {
    const variant = `${name}_json`
    return names.has(variant) ? `coalesce(${text}, CAST(${variant} AS VARCHAR))` : text
  }
  const extra = names.has('extra') ? 'CAST(extra AS VARCHAR)' : 'CAST(NULL AS VARCHAR)'
  return `${value('id', 'CAST(id AS VARCHAR)')} AS key, coalesce(${value('name', `'"' || name || '"'`)}, 'null') AS name,
    coalesce(${extra}, 'null') AS extra`
}

function told(rows: readonly (readonly (string | null)[])[], hasExtra = true): string[] {
  return rows.map(([key, name, extra]) => `${key} ${name} ${hasExtra ? extra : ''}`).sort()
}

function toldOf(model: Model, hasExtra = true): string[] {
  return told(
    [...model].map(([key, { name, extra }]) => [key, name, extra]),
    hasExtra,
  )
}

function textOf(row: Row | undefined): string {
  return row === undefined ? '' : `${row.name} ${row.extra}`
}

/** What is sent: a repeat has the name that its row has. */
function recordsOf({ records, hasExtra }: Pick<Commit, 'records' | 'hasExtra'>, model: Model) {
  return records.map(({ key, name, extra, kind }): Sent => {
    const own = { key, extra: hasExtra ? extra : 'null' }
    if (kind !== 'repeat') return { ...own, name, kind }
    return { ...own, name: model.get(key)?.name ?? name, kind: 'upsert' } as Sent
  })
}

/** The rows after a commit; those of `waiting`, which it extends, come when the read is over. */
function modelAfter(
  before: Model,
  waiting: Model | undefined,
  records: readonly Sent[],
  end: Commit['end'],
): Model {
  const after = new Map(before)
  // Of the records of one commit, the last of a row counts.
  for (const [key, last] of new Map(records.map((one) => [one.key, one]))) {
    const isGone = last.kind !== 'upsert'
    for (const one of waiting === undefined ? [after] : [waiting])
      if (isGone) one.delete(key)
      else one.set(key, { name: last.name, extra: last.extra })
    // A delete that is reported is known at once.
    if (isGone) after.delete(key)
  }
  if (waiting === undefined || end === 'none') return after
  return new Map([...(end === 'whole' ? [] : after), ...waiting])
}

/** The lines of records, as `LINE_PARTS` ends them. */
function linesOf(records: readonly Sent[]): Buffer {
  const lines = records.map(({ key, name, extra, kind }) => {
    if (kind === 'gone') return `{"id":${key}}d\n`
    const more = extra === 'null' ? '' : `,"extra":${extra}`
    return `{"id":${key},"v":"x","name":${name}${more}}${kind === 'content' ? 'd' : ''}\n`
  })
  return Buffer.from(lines.join(''))
}
