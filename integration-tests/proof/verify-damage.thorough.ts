import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { DAY_MS, runSettings } from '../histories/property.ts'
import { temporaryFolder } from '../testing/files.ts'
import { ask, protime, verify, withDuckDb } from '../testing/protime.ts'

const STREAMS = ['absences', 'activity_definitions', 'clockings', 'contracts', 'people', 'sectors']

let tenant: Tenant
let folder: ReturnType<typeof temporaryFolder>
/** Some rows of each stream. */
const ids = new Map<string, unknown[]>()
beforeAll(async () => {
  tenant = await startTenant()
  folder = temporaryFolder()
  const config = { ...tenant.config, streams: STREAMS }
  writeFileSync(path('config.json'), JSON.stringify(config), { mode: 0o600 })
  await protime('sync', ...words('synced.duckdb'))
  for (const stream of STREAMS) {
    const rows = await ask(path('synced.duckdb'), `SELECT id FROM ${stream} ORDER BY id LIMIT 5`)
    ids.set(
      stream,
      rows.map(({ id }) => id),
    )
  }
})
afterAll(async () => {
  await tenant.emulator.close()
  folder.remove()
})

const path = (name: string) => join(folder.path, name)
const words = (file: string) => ['--config', path('config.json'), '--warehouse', path(file)]

const KINDS = ['missing', 'too many', 'old', 'changed'] as const

/** A damage to one row of a stream; the numbers choose the row and the column among those that there are. */
const damages = fc.uniqueArray(
  fc.record({
    stream: fc.constantFrom(...STREAMS),
    row: fc.nat(9_999),
    kind: fc.constantFrom(...KINDS),
    column: fc.nat(9_999),
    isEmptied: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8, selector: ({ stream, row }) => `${stream} ${row % 5}` },
)
type Damage = (typeof damages extends fc.Arbitrary<infer All> ? All : never) extends (infer One)[]
  ? One
  : never

/** Another value of a column, by its type. */
const OTHER: Readonly<Record<string, (column: string) => string>> = {
  BIGINT: (column) => `coalesce(${column}, 0) + 1`,
  DOUBLE: (column) => `coalesce(${column}, 0) + 0.5`,
  BOOLEAN: (column) => `NOT coalesce(${column}, false)`,
  DATE: (column) => `coalesce(${column}, DATE '2026-01-01') + 1`,
  VARCHAR: (column) => `coalesce(${column}, '') || 'x'`,
  JSON: () => `'{"another": [1, null, "x"]}'`,
}

/** Does the damage, and answers with what must be found. */
async function damage(connection: DuckDBConnection, one: Damage, n: number) {
  const { stream, kind } = one
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  const columns = await rows(
    `SELECT name, type FROM _protime.columns WHERE stream = '${stream}' AND variant_of IS NULL
      AND name NOT IN ('id', 'changeVersion') ORDER BY position`,
  )
  const id = ids.get(stream)?.[one.row % 5]
  const key = typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : id
  const where = `WHERE CAST(id AS VARCHAR) = '${id}'`
  if (kind === 'missing') {
    await connection.run(`DELETE FROM ${stream} ${where}`)
    return { stream, key, difference: kind }
  }
  if (kind === 'too many') {
    const another = typeof key === 'number' ? `${900_000 + n}` : `'another-${n}'`
    await connection.run(
      `INSERT INTO ${stream} BY NAME SELECT * REPLACE (${another} AS id) FROM ${stream} ${where}`,
    )
    const added = another.startsWith("'") ? `another-${n}` : 900_000 + n
    // The next sync may delete it.
    return { stream, key: added, difference: kind, pending: true }
  }
  const [name, type] = columns[one.column % columns.length] as [string, string]
  const column = `"${name}"`
  const [[isNull] = []] = await rows(`SELECT ${column} IS NULL FROM ${stream} ${where}`)
  const value = one.isEmptied && isNull === false ? 'NULL' : OTHER[type]?.(column)
  const old = kind === 'old' ? ", changeVersion = '00000000000000000000'" : ''
  await connection.run(`UPDATE ${stream} SET ${column} = ${value}${old} ${where}`)
  return { stream, key, difference: kind, fields: [name] }
}

it('any damage to rows of a file is named exactly, by stream, key and field', async () => {
  await fc.assert(
    fc.asyncProperty(damages, async (chosen) => {
      copyFileSync(path('synced.duckdb'), path('damaged.duckdb'))
      // A row that is copied is copied before another damage takes it away.
      const inOrder = chosen.toSorted((a, b) => KINDS.indexOf(b.kind) - KINDS.indexOf(a.kind))
      const expected = await withDuckDb(path('damaged.duckdb'), async (connection) => {
        const found: object[] = []
        for (const [n, one] of inOrder.entries()) found.push(await damage(connection, one, n))
        return found
      })
      const { exitCode, differences } = await verify(...words('damaged.duckdb'))
      const told = differences.map(({ version: _, ...difference }) => difference)
      expect(exitCode).toBe(3)
      expect(inSomeOrder(told)).toEqual(inSomeOrder(expected))
    }),
    { numRuns: 6 },
  )
})

function inSomeOrder(all: readonly object[]): string[] {
  return all.map((one) => JSON.stringify(one)).toSorted()
}

it.each([
  ['DROP TABLE sectors', { stream: 'sectors', difference: 'missing' }],
  ['ALTER TABLE sectors DROP COLUMN name', { difference: 'changed', fields: ['name'] }],
  [
    `ALTER TABLE sectors ALTER COLUMN name TYPE VARCHAR USING '["no JSON \\'`,
    { difference: 'changed', fields: ['name'] },
  ],
])('what is taken from a table as a whole is missed in each row: %s', async (sql, difference) => {
  copyFileSync(path('synced.duckdb'), path('damaged.duckdb'))
  const [count = {}] = await ask(
    path('damaged.duckdb'),
    'SELECT count(*)::INTEGER AS n FROM sectors',
  )
  await withDuckDb(path('damaged.duckdb'), (connection) => connection.run(sql))
  const { exitCode, differences } = await verify(...words('damaged.duckdb'))
  expect(exitCode).toBe(3)
  expect(differences.length).toBe(count['n'])
  for (const one of differences) expect(one).toMatchObject(difference)
})

it('values that only have another type are the same, and a view in the place of a table is not compared', async () => {
  copyFileSync(path('synced.duckdb'), path('damaged.duckdb'))
  await withDuckDb(path('damaged.duckdb'), (connection) =>
    connection.run(`ALTER TABLE sectors ALTER COLUMN name TYPE VARCHAR;
      ALTER TABLE sectors ALTER COLUMN id TYPE VARCHAR;
      ALTER TABLE people RENAME TO others; CREATE VIEW people AS FROM others`),
  )
  const { summary, stderr } = await verify(...words('damaged.duckdb'))
  expect(summary).toMatchObject({ differences: 0, notVerified: ['people'] })
  expect(stderr).toContain('something else is in the place of its table')
})

it('a number that is none is not taken for a missing one', async () => {
  copyFileSync(path('synced.duckdb'), path('damaged.duckdb'))
  const [none = {}] = await ask(
    path('damaged.duckdb'),
    'SELECT count(*)::INTEGER AS n FROM people WHERE "hourlyRate" IS NULL',
  )
  await withDuckDb(path('damaged.duckdb'), (connection) =>
    connection.run(`UPDATE people SET "hourlyRate" = 'nan' WHERE "hourlyRate" IS NULL`),
  )
  const { differences } = await verify(...words('damaged.duckdb'))
  expect(none['n']).toBeGreaterThan(0)
  expect(differences.length).toBe(none['n'])
  for (const { fields } of differences) expect(fields).toEqual(['hourlyRate'])
})

/** The streams that are compared while the service changes. */
const MOVING = ['clockings', 'jobs', 'people', 'sectors', 'external_references']
/** Streams whose rows a sync leaves alone unless a delta tells of them. */
const WATCHED = ['clockings', 'jobs', 'people']

const stories = fc.record({
  seed: fc.nat(1_000_000),
  /** After how many requests something changes again. */
  pause: fc.integer({ min: 1, max: 6 }),
  damages: fc.uniqueArray(
    fc.record({ stream: fc.constantFrom(...WATCHED), row: fc.nat(2), isRemoved: fc.boolean() }),
    { maxLength: 3, selector: ({ stream, row }) => `${stream} ${row}` },
  ),
})

/** Changes of every kind; a record that changes each time, and one that lives until the next change. */
function changing(emulator: Emulator, seed: number): () => void {
  const last = Number(emulator.all('jobs').at(-1)?.['id'])
  let passing: number | undefined
  let count = 0
  return () => {
    count++
    emulator.randomChanges({
      inserts: 3,
      updates: 3,
      deletes: 1,
      softDeletes: 1,
      seed: seed + count,
    })
    if (emulator.all('jobs').some(({ id }) => id === last))
      emulator.update('jobs', last, { name: { default: `Job ${count}` } })
    if (passing !== undefined && emulator.all('jobs').some(({ id }) => id === passing))
      emulator.remove('jobs', passing)
    passing = Number(emulator.insert('jobs')['id'])
  }
}

it('--sync finds the same differences while the service changes as once it stands still', {
  timeout: DAY_MS,
}, async () => {
  const { runs } = runSettings(2)
  await fc.assert(
    fc.asyncProperty(stories, async ({ seed, pause, damages }) => {
      const emulator = await startEmulator({ people: 4, months: 1, seed: (seed % 5) + 1 })
      const folder = temporaryFolder()
      try {
        const config = join(folder.path, 'config.json')
        const warehouse = join(folder.path, 'w.duckdb')
        const settings = { ...emulator.config(), streams: MOVING }
        writeFileSync(config, JSON.stringify(settings), { mode: 0o600 })
        const words = ['--quiet', '--config', config, '--warehouse', warehouse]
        await protime('sync', ...words)
        await withDuckDb(warehouse, async (connection) => {
          for (const { stream, row, isRemoved } of damages) {
            const where = `WHERE id = (SELECT id FROM ${stream} ORDER BY id LIMIT 1 OFFSET ${row})`
            const act = isRemoved ? `DELETE FROM ${stream}` : `UPDATE ${stream} SET id = -id - 1`
            await connection.run(`${act} ${where}`)
          }
        })
        const change = changing(emulator, seed)
        change()
        let asked = 0
        const stop = emulator.onRequest(() => {
          asked++
          if (asked % pause === 0) change()
        })
        const moving = await verify(...words, '--sync')
        stop()
        expect(moving.summary['failures']).toEqual([])
        await protime('sync', ...words)
        const still = await verify(...words)
        const places = ({ differences }: typeof still) =>
          differences.map(({ stream, key, difference }) => `${stream} ${key} ${difference}`)
        // A change after the comparison may have mended what it found.
        expect(places(moving)).toEqual(expect.arrayContaining(places(still)))
        const isWatched = places(moving).every((place) =>
          WATCHED.includes(place.split(' ')[0] ?? ''),
        )
        expect(isWatched && places(moving).length <= damages.length * 2).toBe(true)
        if (damages.length === 0) expect(moving.exitCode).toBe(0)
      } finally {
        await emulator.close()
        folder.remove()
      }
    }),
    { numRuns: runs },
  )
})
