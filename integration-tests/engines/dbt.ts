import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { execute, expectSame, output } from './command.ts'
import {
  AUDIT,
  expectAgeTold,
  expectFaultsFound,
  expectFaultsOfKeysFound,
  expectLastSentCounts,
  found,
} from './dbt-audit.ts'
import { expectCorrections, expectCorrectionsUnknown } from './dbt-corrections.ts'
import {
  answers,
  beside,
  copied,
  dbtOf,
  LANDINGS,
  type LandingParts,
  postgresTarget,
  protimeSync,
  rowsOf,
  runDbt,
  writeProfile,
} from './dbt-landings.ts'
import { expectUnknownIsNotZero, inDuckDb, inPostgreSql } from './dbt-unknown.ts'
import type { Engine, Tools } from './engine.ts'
import { type PostgreSql, startPostgreSql } from './meltano/postgresql.ts'
import { dbtCommand, OLDER, REQUIREMENTS } from './python.ts'
import { type Row, startTenant, type Tenant } from './tenant.ts'

const PRIVACY_KEY = '8f2c61d0b7e94a35a1c4d27f60b93e58'
const CHANGES = { inserts: 60, updates: 60, deletes: 40, softDeletes: 5 }
const WITH_DBT = {
  requirements: REQUIREMENTS,
  environment: 'dbt',
  imports: ['dbt.cli.main', 'dbt.adapters.duckdb', 'dbt.adapters.postgres'],
}

/** The dbt package, built of the tables of four loaders. */
export const dbtLandings: Engine = {
  name: 'dbt-landings',
  ...WITH_DBT,
  run: (tools) =>
    withPostgreSql(tools, async (postgres) => {
      const pages = ['README.md', 'dbt/README.md']
      const sql = pages
        .map((page) => guideBlock('sql dbt', join(tools.projectFolder, page)))
        .join(';')
      const rows = new Map<string, ReadonlySet<string>>()
      for (const [name, make] of Object.entries(LANDINGS)) {
        await inTenant(tools, name, async (parts, tenant) => {
          const landing = make({ ...parts, postgres })
          await tools.step(`${name}: the package builds after load, changes and load`, async () => {
            await landing.load()
            tenant.emulator.randomChanges(CHANGES)
            // The second load audits.
            tenant.emulator.advance({ hours: 25 })
            await landing.load()
            // The audit would tell that target-duckdb has lost a deletion, as it may: see docs/singer.md.
            const said = await landing.dbt([
              'build',
              ...(name === LOSES_ROWS ? ['--exclude', AUDIT] : []),
            ])
            // The project of README leaves the choice of counters to the tenant.
            if (name === README) expectOnlyOvertimeUnknown(said)
            else expectClean(said)
            const lines = await rowsOf(landing, sql, tools)
            rows.set(name, new Set(lines))
            if (name === LOSES_ROWS) return
            expectInventory(lines, tenant)
            expectHours(lines, tenant)
          })
          if (name === 'target-postgres')
            await tools.step(
              `${name}: a loader that replaces rows leaves corrections unknown`,
              () => expectCorrectionsUnknown(landing),
            )
          const deletedAt = APPENDING[name]
          if (deletedAt !== undefined)
            await tools.step(`${name}: of several records of a row, the last one counts`, () =>
              expectLastSentCounts(landing, tenant, deletedAt),
            )
          await tools.step(`${name}: the audit finds five faults by stream and month`, async () =>
            expectFaultsFound(landing, tenant, name === LOSES_ROWS ? await found(landing) : []),
          )
        })
      }
      await compared(rows, tools)
    }),
}

/** The dbt package, built of rows that are worth a look, of parts of a tenant, and of two tenants. */
export const dbtCases: Engine = {
  name: 'dbt-cases',
  ...WITH_DBT,
  run: (tools) =>
    withPostgreSql(tools, async (postgres) => {
      await asExpected(tools, postgres)
      await unknown(tools, postgres)
      await expectCorrections(tools, postgres)
      await installed(tools)
      await ofParts(tools)
      await inTenant(tools, 'keys', (parts, tenant) =>
        tools.step('without an audit faults of keys are found, and how old they are', async () => {
          const landing = beside(parts, await protimeSync(parts), 'main')
          await expectFaultsOfKeysFound(landing, tenant)
          await expectAgeTold(landing)
        }),
      )
    }),
}

/** Starts a server, and stops it in the end. */
async function withPostgreSql(
  tools: Tools,
  use: (postgres: PostgreSql) => Promise<void>,
): Promise<void> {
  const postgres = await tools.step('PostgreSQL started', () => startPostgreSql(tools.folder))
  if (postgres === undefined) return
  try {
    await use(postgres)
  } finally {
    await postgres.stop()
  }
}

const LOSES_ROWS = 'target-duckdb'
const README = 'protime sync'
/** Landings of which a table is made one of appended versions, with their columns of deletes. */
const APPENDING: Readonly<Record<string, string>> = {
  PyAirbyte: '_ab_cdc_deleted_at',
  'target-postgres': '_sdc_deleted_at',
}

/** A tenant of its own, and a folder with its configuration. */
async function inTenant(
  tools: Tools,
  name: string,
  use: (parts: Omit<LandingParts, 'postgres'>, tenant: Tenant) => Promise<unknown>,
): Promise<void> {
  const tenant = await startTenant()
  try {
    const folder = join(tools.folder, name.replace(' ', '-'))
    mkdirSync(folder)
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ ...tenant.config, audit_days: 1 }), { mode: 0o600 })
    await use({ tools, folder, config }, tenant)
  } finally {
    await tenant.emulator.close()
  }
}

/** The audit has something to compare of each stream. */
function expectInventory(lines: readonly string[], { streams }: Tenant): void {
  const rows = lines
    .map((line) => JSON.parse(line) as { model: string; row: Row })
    .filter(
      ({ model, row }) =>
        model === 'stg_protime__inventory' && row['part'] === 'all' && row['is_complete'] === true,
    )
  expectSame(rows.map(({ row }) => row['stream']).toSorted(), streams.toSorted())
}

/** The answer to the query of README is the service's. */
function expectHours(lines: readonly string[], { emulator }: Tenant): void {
  const october = emulator
    .all('calculated-totals')
    .filter(({ date }) => String(date).startsWith('2026-10-'))
  const hours = (property: string) =>
    Math.round(october.reduce((sum, row) => sum + Number(row[property] ?? 0), 0) / 60)
  const all = answers(lines).find(({ department }) => department === 'All')
  expectSame(
    [all?.['hours_due'], all?.['hours_present']],
    [hours('normalTimeDurationInMinutes'), hours('timePresentDurationInMinutes')],
  )
}

/** Overtime alone is unknown, since nobody has named its counters: a test warns. */
function expectOnlyOvertimeUnknown(said: string): void {
  const lacking = [...said.matchAll(/tenant: (\w+ lacks .*)/g)].map(([, line]) => line)
  expectSame(
    [/Done\. .*/.exec(said)?.[0].includes('WARN=1 ERROR=0'), lacking],
    [
      true,
      [
        'protime__counters lacks the variable protime_overtime_counters; unknown: is_overtime',
        'protime__person_days lacks the variable protime_overtime_counters; unknown: overtime_minutes',
      ],
    ],
  )
}

/** Everything passed, and dbt warned of nothing, not even of what a later version will refuse. */
function expectClean(said: string): void {
  const [done = said] = /Done\. PASS=.*/.exec(said) ?? []
  const warned = said.split('\n').filter((line) => /\[WARNING\]|eprecat/.test(line))
  expectSame([done.replace(/PASS=\d+|TOTAL=\d+|REUSED=\d+ /g, ''), warned], [CLEAN, []])
}

const CLEAN = 'Done.  WARN=0 ERROR=0 SKIP=0 NO-OP=0 '

/**
 * Each record is in every landing with the same values. target-duckdb 0.8.0 may lose the first row of a load, as docs/singer.md
 * says: a deletion, so that a stream has one row more, and one of the inventory, whose values are texts.
 */
async function compared(
  landings: ReadonlyMap<string, ReadonlySet<string>>,
  { step }: Tools,
): Promise<void> {
  const [[first, expected] = ['', new Set<string>()], ...others] = landings
  for (const [name, rows] of others) {
    await step(`${name}: has the rows of ${first} in its staging models`, async () => {
      const missing = modelsOf([...expected].filter((line) => !rows.has(line)))
      const more = modelsOf([...rows].filter((line) => !expected.has(line)))
      const isLost = (model: string) => model === 'stg_protime__inventory' && missing.length === 1
      const isLeft = (model: string) => more.filter((other) => other === model).length === 1
      const isExcused = name === LOSES_ROWS
      expectSame(
        [
          expected.size > 0,
          missing.filter((model) => !(isExcused && isLost(model))),
          more.filter((model) => !(isExcused && isLeft(model))),
        ],
        [true, [], []],
      )
    })
  }
}

/** The models of lines of dbt_rows.py. */
function modelsOf(lines: readonly string[]): string[] {
  return lines.map((line) => (JSON.parse(line) as { model: string }).model)
}

/** The seeds of the package: what the marts make of rows that are worth a look, and what the macros make of vectors. */
async function asExpected(tools: Tools, postgres: PostgreSql): Promise<void> {
  const targets = {
    DuckDB: { type: 'duckdb', path: 'seeds.duckdb' },
    PostgreSQL: postgresTarget(postgres, 'seeds'),
  }
  for (const [name, target] of Object.entries(targets))
    await tools.step(`${name}: marts and sums are as integration_tests expects`, async () => {
      const folder = join(tools.folder, `seeds-${name}`)
      const home = join(copied(tools, folder), 'integration_tests')
      if (target.type === 'postgres') {
        await postgres.query('create database seeds')
        await postgres.query("alter database seeds set timezone = 'America/Santiago'")
      }
      writeProfile(home, { ...target, schema: 'protime', threads: 2 })
      const said: string[] = []
      for (const word of ['deps', 'seed', 'build']) said.push(await runDbt(tools, home, word))
      expectSeeds(said.at(-1))
      // The oldest dbt, too.
      expectSeeds((await execute(dbtCommand(home, ['build'], OLDER))).stdout)
    })
}

/** Six tests warn of what the seeds have for that, or lack. */
function expectSeeds(said = ''): void {
  expectSame(/PASS=\d+ WARN=6 ERROR=0/.test(said), true)
}

/** What is not known is null, whatever a tenant leaves out. */
async function unknown(tools: Tools, postgres: PostgreSql): Promise<void> {
  for (const [name, load] of Object.entries({ DuckDB: inDuckDb, PostgreSQL: inPostgreSql }))
    await inTenant(tools, `unknown-${name}`, (parts) =>
      tools.step(`${name}: without a stream, and in each mode, what is unknown is null`, async () =>
        expectUnknownIsNotZero(await load({ ...parts, postgres })),
      ),
    )
}

/** The lines of dbt/README.md install the package, here of this clone in place of the published one. */
async function installed(tools: Tools): Promise<void> {
  await tools.step('dbt deps installs the package as its README says', async () => {
    const folder = join(tools.folder, 'project')
    mkdirSync(folder)
    const clone = join(tools.folder, 'clone.git')
    const git = (...args: readonly string[]) => output({ program: 'git', args, folder })
    await git('clone', '--quiet', '--bare', tools.projectFolder, clone)
    const revision = (await git('-C', clone, 'rev-parse', 'HEAD')).trim()
    const packages = guideBlock('yaml packages', join(tools.projectFolder, 'dbt/README.md'))
      .replace(/git: .*/, `git: file://${clone}`)
      .replace(/revision: .*/, `revision: ${revision}`)
    writeFileSync(join(folder, 'packages.yml'), packages)
    writeFileSync(
      join(folder, 'dbt_project.yml'),
      'name: mine\nversion: "1.0.0"\nprofile: protime\n',
    )
    writeProfile(folder, { type: 'duckdb', path: 'mine.duckdb' })
    const said = await runDbt(tools, folder, 'deps')
    expectSame(/and subdirectory dbt/.test(said), true)
    expectSame(existsSync(join(folder, 'dbt_packages/protime/dbt_project.yml')), true)
  })
}

/** What a mart says of two tenants with equal ids. */
const TENANTS = `select tenant, count(*) as people, count(last_name) as named,
  (select count(*) from protime__person_days d where d.tenant = p.tenant) as days,
  min(department_name) as department
from protime__people p group by tenant order by tenant`

/** Two tenants in one set of models: four streams in their minimal form, and everything pseudonymised. */
async function ofParts(tools: Tools): Promise<void> {
  const streams = ['people', 'clockings', 'departments', 'department_histories']
  const load = async (parts: Omit<LandingParts, 'postgres'>, more: object) => {
    const config = JSON.parse(readFileSync(parts.config, 'utf8')) as object
    writeFileSync(parts.config, JSON.stringify({ ...config, ...more }))
    return protimeSync(parts)
  }
  await inTenant(tools, 'four', (four, tenant) =>
    inTenant(tools, 'all', (all) =>
      tools.step('two tenants, four streams alone, minimal, pseudonymised, in Dutch', async () => {
        const files = [
          await load(four, { personal_data: 'minimal', streams: [...streams, 'inventory'] }),
          await load(all, { personal_data: 'pseudonymised', privacy_key: PRIVACY_KEY }),
        ]
        const [path, attach] = [join(four.folder, 'analytics.duckdb'), attachments(files)]
        const target = { type: 'duckdb', path, threads: 2, attach }
        const protime_tenants = attach.map(({ alias }, i) => ({
          name: ['four', 'all'][i],
          database: alias,
          schema: 'main',
        }))
        const variables = { protime_tenants, protime_language: 'nl' }
        const said = await dbtOf(four, target, variables, ['build'])
        const told = [...said.matchAll(/ (?:WARN|FAIL|ERROR) \d+ (\w+)/g)].map(([, test]) => test)
        expectSame(
          [told, said.includes('all: protime__')],
          [['protime_models_lack_nothing'], false],
        )
        const models = ['duckdb', path, 'main']
        const found = answers(
          await rowsOf(
            { models, attached: files.map((file, i) => `raw${i}=${file}`) },
            TENANTS,
            tools,
          ),
        )
        const people = tenant.emulator.all('people').length
        const days = tenant.emulator.all('calculated-totals').length
        expectSame(
          found.map(({ department: _, ...row }) => row),
          [
            { days, named: people, people, tenant: 'all' },
            { days: 0, named: 0, people, tenant: 'four' },
          ],
        )
        const dutch = tenant.emulator.all('departments').map(({ name }) => nameIn(name, 'nl'))
        expectSame(
          found.map(({ department }) => dutch.includes(department)),
          [true, true],
        )
      }),
    ),
  )
}

function nameIn(name: unknown, language: string): unknown {
  const { default: fallback, translations } = name as { default: string; translations?: Row }
  return translations?.[language] ?? fallback
}

function attachments(files: readonly string[]) {
  return files.map((path, i) => ({ path, alias: `raw${i}`, read_only: true }))
}
