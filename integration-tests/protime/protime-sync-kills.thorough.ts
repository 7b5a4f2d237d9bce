import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBConnection } from '@duckdb/node-api'
import { beforeEach, expect, it } from 'vitest'
import type { Tenant } from '../engines/tenant.ts'
import { temporariesBeside } from '../testing/files.ts'
import { ask, protime, startProtime, verifiedDifferences, withDuckDb } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'

const CHANGES = { inserts: 40, updates: 40, deletes: 30, softDeletes: 5 }

let folder: string
let tenant: Tenant
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
})

/** More at night, of all streams; by day of some of each kind, whose syncs take a quarter of the time. */
const { HISTORIES_SCALE } = process.env
const KILLS = 4 + Math.floor(Number(HISTORIES_SCALE ?? 1) / 2)
const FEW = [
  ...['people', 'jobs', 'clockings', 'calculated_totals', 'department_histories'],
  ...['sectors', 'external_references', 'inventory'],
]
const SETTINGS = HISTORIES_SCALE === undefined ? { streams: FEW } : {}
/** The time in which a sync makes its file. */
const FIRST_MS = 300
/** The time in which one of a single stream reads and writes. */
const WORK_MS = 600
/** The kills are spread over twenty times as many milliseconds: over most of a sync. */
const STEP_MS = HISTORIES_SCALE === undefined ? 4 : 15
/** Of processes one after the other; each may be waited for as long as in other tests. */
const TIMEOUT_MS = (KILLS + 1) * 60_000

/** The configuration, and the words of a sync with it. */
function settle(more: object = {}) {
  const config = { ...tenant.config, ...SETTINGS, ...more }
  const [file, warehouse] = [join(folder, 'config.json'), join(folder, 'acme.duckdb')]
  writeFileSync(file, JSON.stringify(config))
  return { config, warehouse, words: ['sync', '--config', file, '--warehouse', warehouse] }
}

it('protime sync equals the service after kills at any moment', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { config, warehouse, words } = settle()
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, log, ended } = startProtime(words)
    // Some before the first request, most while pages come and commits run.
    if (kill % 4 > 0) await expect.poll(log, { interval: 1 }).toMatch(/ s, (from|whole|incr|cont)/)
    setTimeout(() => child.kill('SIGKILL'), STEP_MS * ((7 * kill) % 20))
    await ended
    if (kill % 3 === 2) tenant.emulator.randomChanges({ ...CHANGES, seed: kill })
  }
  expect(await protime(...words)).toMatchObject({ exitCode: 0 })
  expect(await verifiedDifferences(config, '--warehouse', warehouse)).toEqual([])
})

/** What the tables of all streams hold, and since when. */
function contentOf(warehouse: string): Promise<object> {
  return withDuckDb(warehouse, async (connection) => {
    const tables = await connection.runAndReadAll(
      `SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'
        AND table_name <> 'inventory' ORDER BY ALL`,
    )
    const contents = []
    for (const [name] of tables.getRows()) {
      const content = await connection.runAndReadAll(
        `SELECT '${name}' AS name, count(*) AS rows, sum(hash(COLUMNS(*)))::VARCHAR FROM ${name}`,
      )
      contents.push(content.getRowObjectsJson())
    }
    return contents
  })
}

it('protime sync that is killed while it withholds deletes keeps all rows, and while days leave goes on', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { emulator } = tenant
  const streams = ['clockings']
  const { config, warehouse, words } = settle({ streams })
  expect(await protime(...words)).toMatchObject({ exitCode: 0 })
  const kept = () => ask(warehouse, 'SELECT count(*)::INT AS n FROM clockings')
  const before = await kept()
  const killed = async (kill: number) => {
    const { child, log, ended } = startProtime(words)
    await expect.poll(log, { interval: 1 }).toMatch(/INFO protime \d/)
    setTimeout(() => child.kill('SIGKILL'), (WORK_MS * kill) / KILLS)
    await ended
  }
  emulator.hide((person) => person % 2 === 0)
  for (let kill = 1; kill < KILLS; kill += 2) {
    emulator.advance({ hours: 73 })
    await killed(kill)
    expect(await kept()).toEqual(before)
  }
  expect([(await protime(...words)).exitCode, await kept()]).toEqual([2, before])
  emulator.hide(() => false)
  emulator.advance({ hours: 73 })
  expect(await protime(...words)).toMatchObject({ exitCode: 0 })
  const later = { start_date: '2026-09-01' }
  settle({ streams, ...later })
  for (let kill = 1; kill < KILLS; kill += 2) await killed(kill)
  expect(await protime(...words)).toMatchObject({ exitCode: 0 })
  const old = "SELECT count(*)::INT AS n FROM clockings WHERE date < '2026-09-01'"
  expect(await ask(warehouse, old)).toEqual([{ n: 0 }])
  expect(await verifiedDifferences({ ...config, ...later }, '--warehouse', warehouse)).toEqual([])
})

/** By day next-table.test.ts has the kills, and settle.test.ts the rows that have not changed. */
const night = it.runIf(HISTORIES_SCALE !== undefined)
night(
  'protime sync --full-refresh writes no row that has not changed, after kills at any moment',
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const { config, warehouse, words } = settle()
    expect(await protime(...words)).toMatchObject({ exitCode: 0 })
    const before = await contentOf(warehouse)
    for (let kill = 0; kill < KILLS; kill++) {
      // What one has left is continued by the next, or begun anew.
      const { child, log, ended } = startProtime(
        kill % 2 === 0 ? [...words, '--full-refresh'] : words,
      )
      await expect.poll(log, { interval: 1 }).toMatch(/committed [1-9]/)
      setTimeout(() => child.kill('SIGKILL'), STEP_MS * ((7 * kill) % 20))
      await ended
      expect(await contentOf(warehouse)).toEqual(before)
    }
    tenant.emulator.randomChanges({ ...CHANGES, seed: 1 })
    expect(await protime(...words)).toMatchObject({ exitCode: 0 })
    expect(await verifiedDifferences(config, '--warehouse', warehouse)).toEqual([])
  },
)

/** Waits for the folder of a sync beside a file, while a process runs. */
async function begins(file: string, { child }: ReturnType<typeof startProtime>): Promise<void> {
  while (child.exitCode === null && temporariesBeside(file).length === 0) await sleep(1)
}

it.each([
  ['a first sync', []],
  ['--rewrite', ['--rewrite']],
])(
  '%s that is killed while it makes its file leaves one with an owner, or none',
  {
    timeout: TIMEOUT_MS,
  },
  async (_, more) => {
    const { warehouse, words } = settle()
    const made = more.length === 0 ? warehouse : `${warehouse}.rewrite`
    if (more.length > 0) expect(await protime(...words)).toMatchObject({ exitCode: 0 })
    for (let kill = 0; kill < KILLS; kill++) {
      for (const name of [made, `${made}.wal`]) rmSync(name, { force: true })
      const sync = startProtime([...words, ...more])
      await begins(made, sync)
      await sleep((FIRST_MS * kill) / KILLS)
      sync.child.kill('SIGKILL')
      await sync.ended
      if (existsSync(made))
        expect(await ask(made, 'SELECT tenant FROM _protime.owner')).toEqual([{ tenant: 'acme' }])
    }
    expect(await protime(...words, ...more)).toMatchObject({ exitCode: 0 })
    expect(readdirSync(folder).sort()).toEqual(['acme.duckdb', 'config.json'])
  },
)

it('a first sync that is killed as soon as its file is there leaves one that every command reads', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { config, warehouse, words } = settle()
  const { run } = DuckDBConnection.prototype
  DuckDBConnection.prototype.run = async function (sql, ...others) {
    if (existsSync(warehouse) && !/^(SET|SELECT) /.test(sql))
      throw new Error('IO Error: the process was killed')
    return run.call(this, sql, ...others)
  }
  try {
    expect(await protime(...words)).toMatchObject({ exitCode: 1 })
  } finally {
    DuckDBConnection.prototype.run = run
  }
  const place = words.slice(1)
  for (const [exitCode, ...command] of [
    [1, 'status'],
    [2, 'close', '2026-10'],
    [4, 'person', 'export', '1'],
    [2, 'person', 'erase', '1'],
    [2, 'verify'],
  ] as const)
    expect([command, await protime(...command, ...place)]).toMatchObject([command, { exitCode }])
  expect(await protime(...words, '--rewrite')).toMatchObject({ exitCode: 0 })
  expect(await verifiedDifferences(config, '--warehouse', warehouse)).toEqual([])
})
