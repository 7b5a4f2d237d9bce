import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { expectSame, output } from './command.ts'
import {
  answersTo,
  dbtOf,
  type LoadedLanding,
  postgresTarget,
  statementsIn,
} from './dbt-landings.ts'
import type { Tools } from './engine.ts'
import type { PostgreSql } from './meltano/postgresql.ts'
import type { Row } from './tenant.ts'
import { FIELDS, lineOf, twentyCorrections } from './twenty-corrections.ts'

const PAGE = 'docs/closes.md'
const COLUMNS = [
  ...['stream', 'record_id', 'person_id', 'day', 'definition_id', 'field'],
  ...['minutes_before', 'minutes_after', 'kind'],
]
/** What is to be as it was known at the close. */
const MARTS = ['headcount_days', 'person_days', 'people', 'corrections']
const BUILT = ['--select', ...[...MARTS, 'audit'].map((name) => `+protime__${name}`)]
/** A warehouse of `protime sync`, where its account is, and a dbt that reads it. */
interface Closed {
  readonly address: string
  /** Runs a statement on the account and the tables. */
  change(statement: (account: string, tables: string) => string): Promise<unknown>
  readonly landing: Pick<LoadedLanding, 'dbt' | 'models' | 'attached'>
}

/** A month is closed, and each of twenty corrections of the service is told afterwards, and nothing else, in both engines. */
export async function expectCorrections(tools: Tools, postgres: PostgreSql): Promise<void> {
  for (const [name, open] of Object.entries({ DuckDB: inFile, PostgreSQL: inServer }))
    await tools.step(
      `${name}: corrections of a closed month are told exactly, and what was known at the close`,
      async () => {
        const folder = join(tools.folder, `corrections-${name}`)
        mkdirSync(folder)
        // The month before this one: what is not over cannot be closed.
        const emulator = await startEmulator({
          people: 8,
          months: 3,
          now: new Date().toISOString(),
        })
        try {
          await expectToldExactly(tools, open(tools, folder, postgres), {
            emulator,
            folder,
            postgres,
          })
        } finally {
          await emulator.close()
        }
      },
    )
}

/** Where a table has one record of each row, nobody knows what the rows were: there are no corrections, and a test warns. */
export async function expectCorrectionsUnknown(landing: LoadedLanding): Promise<void> {
  const [first_day, last_day] = ['2026-10-01', '2026-10-31']
  const close = { period: '2026-10', first_day, last_day, closed_at: '2026-11-03T09:00:00Z' }
  const models = ['--select', 'int_protime__closes', 'protime__corrections']
  const said = await landing.dbt(['build', ...models], { protime_closes: [close] })
  const lines = said.split('\n').filter((text) => text.includes('no corrections of'))
  const all = 'absences, breaks, calculated_totals, counters, paid_presences'
  expectSame(
    [lines.length, lines[0]?.includes(`tenant: 2026-10: no corrections of ${all}`)],
    [1, true],
  )
  expectSame(/WARN 5 protime_corrections_are_known/.test(said), true)
  expectSame(await answersTo(landing, 'select 1 as one from protime__corrections'), [])
}

function inFile(tools: Tools, folder: string): Closed {
  const [path, file] = [join(folder, 'analytics.duckdb'), join(folder, 'protime.duckdb')]
  const attach = [{ path: file, alias: 'raw', read_only: true }]
  const target = { type: 'duckdb', path, threads: 2, attach }
  const place = { protime_database: 'raw', protime_schema: 'main' }
  return {
    address: file,
    change: (statement) => statementsIn(file, statement('_protime', 'main')),
    landing: {
      dbt: (words, variables) =>
        dbtOf({ tools, folder }, target, { ...place, ...variables }, words),
      models: ['duckdb', path, 'main'],
      attached: [`raw=${file}`],
    },
  }
}

function inServer(tools: Tools, folder: string, postgres: PostgreSql): Closed {
  const { user, port, password } = postgres
  const target = { ...postgresTarget(postgres, 'postgres'), schema: 'corrections', threads: 2 }
  return {
    address: `postgres://${user}@127.0.0.1:${port}/postgres?schema=closed`,
    change: (statement) => postgres.query(statement('closed_meta', 'closed')),
    landing: {
      dbt: (words, variables) =>
        dbtOf({ tools, folder }, target, { protime_schema: 'closed', ...variables }, words),
      models: [
        'postgres',
        `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`,
        'corrections',
      ],
    },
  }
}

async function expectToldExactly(
  tools: Tools,
  { address, change, landing }: Closed,
  { emulator, folder, postgres }: { emulator: Emulator; folder: string; postgres: PostgreSql },
): Promise<void> {
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ ...emulator.config(), warehouse: address }), {
    mode: 0o600,
  })
  const protime = (...words: readonly string[]) =>
    output({
      program: join(tools.projectFolder, 'bin/protime'),
      args: [...words, '--config', config, '--quiet'],
      folder,
      environment: { PGPASSWORD: postgres.password },
    })
  const month = monthBefore(emulator.now())
  const corrections = twentyCorrections(emulator, month)
  corrections.prepare()
  let close = ''
  for (const line of guideBlock('sh close', join(tools.projectFolder, PAGE)).trim().split('\n'))
    close = await protime(...line.replace('2026-10', month).split(' ').slice(1))
  const { closed_at } = JSON.parse(close) as { closed_at: string }
  await landing.dbt(['run', ...BUILT], { protime_now: closed_at })
  const then = await martsOf(landing)
  const before = totalsOf(emulator, month)
  corrections.first()
  await protime('sync')
  corrections.second()
  hireAndMove(emulator)
  await protime('sync')
  const without = ['--exclude', 'test_name:protime_documented']
  const said = await landing.dbt(['build', ...BUILT, ...without], { protime_now: closed_at })
  expectSame(/ERROR=0/.test(said), true)
  const query = (sql: string) => answersTo(landing, sql)
  const told = await query(
    `select stream, record_id, person_id, cast(date_day as varchar) as day, definition_id, field, minutes_before, minutes_after, kind
      from protime__corrections where period = '${month}'`,
  )
  const lines = told.map((row) => lineOf(COLUMNS.map((name) => row[name])))
  expectSame(lines.toSorted(), corrections.expected.toSorted())
  const changes = await query(
    `select field, sum(coalesce(minutes_after, 0) - coalesce(minutes_before, 0)) as minutes from protime__corrections group by 1 order by 1`,
  )
  const after = totalsOf(emulator, month)
  const changed = Object.keys(before).map((field) => ({
    field,
    minutes: (after[field] ?? 0) - (before[field] ?? 0),
  }))
  expectSame(
    changes,
    changed.toSorted((a, b) => (a.field < b.field ? -1 : 1)),
  )
  await expectPageHolds(month, query, tools)
  await expectKnownThen({ change, landing }, closed_at, then, tools)
  // Nothing that dbt has made then keeps the history.
  await protime('history', 'off', '--forget')
}

/** As of the moment of the close, the marts are what they were then; but nobody knows what a stream was before its history began. */
async function expectKnownThen(
  { change, landing }: Omit<Closed, 'address'>,
  closedAt: string,
  then: readonly (readonly string[])[],
  { projectFolder }: Tools,
): Promise<void> {
  const differing = async (others: typeof then) => {
    const rows = await martsOf(landing)
    return MARTS.filter((_, i) => rows[i]?.join() !== others[i]?.toSorted().join())
  }
  expectSame(await differing(then), MARTS)
  await change(
    (account, tables) =>
      `update ${account}.streams set known_since = now() where stream = 'breaks'; alter table ${tables}.people add column theirs int`,
  )
  const without = ['--exclude', 'resource_type:test,path:models/staging']
  const variables = guideBlock('sh as of', join(projectFolder, 'docs/history.md'))
    .replace(/^dbt build --vars '(.*)'\n$/, '$1')
    .replace('2026-11-02T12:00:00Z', closedAt)
  const asOf = { ...(JSON.parse(variables) as object), protime_now: null }
  const said = await landing.dbt(['build', ...BUILT, ...without], asOf)
  const lacks =
    'protime__person_days lacks breaks (not known at protime_as_of); unknown: break_minutes'
  const warned = [...said.matchAll(/ (?:WARN|FAIL|ERROR) \d+ (\w+)/g)].map(([, test]) => test)
  expectSame(
    [said.includes(lacks), warned.toSorted()],
    [true, ['protime_corrections_are_known', 'protime_models_lack_nothing']],
  )
  const unknown = (line: string) => line.replace(/"break_minutes":[^,]*/, '"break_minutes":null')
  expectSame(await differing(then.map((lines) => lines.map(unknown))), [])
}

/** The rows of the marts, each as text. */
async function martsOf(landing: Closed['landing']): Promise<string[][]> {
  const rows: string[][] = []
  for (const mart of MARTS) {
    const answer = await answersTo(landing, `select * from protime__${mart}`)
    rows.push(answer.map((row) => JSON.stringify(row)).toSorted())
  }
  return rows
}

/** Somebody is hired, and somebody else has always been in another department. */
function hireAndMove(emulator: Emulator): void {
  emulator.insert('people', { inServiceDate: '2020-01-01', outOfServiceDate: null })
  const rows = emulator.all('department-histories')
  const moved = rows.find(({ until }) => (until ?? null) === null)
  const isOther = (row: Row) =>
    JSON.stringify(row['department']) !== JSON.stringify(moved?.['department'])
  const department = rows.find(isOther)?.['department']
  expectSame(department === undefined, false)
  emulator.update('department-histories', moved?.['id'] as number, { department })
}

/** The page's query has the page's answer. */
async function expectPageHolds(
  month: string,
  query: (sql: string) => Promise<Row[]>,
  { projectFolder }: Tools,
): Promise<void> {
  const page = join(projectFolder, PAGE)
  const answer = await query(guideBlock('sql dbt', page).replace('2026-10', month))
  const [, table = ''] =
    /```sql dbt\n[\s\S]*?```\n\n([\s\S]*?)\n\n/.exec(readFileSync(page, 'utf8')) ?? []
  const rows = table
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  expectSame(
    answer.map(({ person_id, field, minutes }) => [`${person_id}`, `${field}`, `${minutes}`]),
    rows,
  )
}

/** The sums of the minutes of a month, as they are at the service. */
function totalsOf(emulator: Emulator, month: string): Record<string, number> {
  const sum = (collection: string, minutes: (row: Row) => unknown) =>
    emulator
      .all(collection)
      .filter(({ date }) => String(date).startsWith(month))
      .reduce((all, row) => all + Number(minutes(row) ?? 0), 0)
  const isGranted = ({ approvalLevel }: Row) =>
    !/^(NotApproved|Awaiting)/.test(String(approvalLevel))
  return {
    ...Object.fromEntries(
      Object.entries(FIELDS).map(([field, name]) => [
        field,
        sum('calculated-totals', (row) => row[name]),
      ]),
    ),
    paid_minutes: sum('paid-presences', (row) => row['durationInMinutes']),
    break_minutes: sum(
      'breaks',
      (row) => row['isBreakTaken'] === true && row['calculatedDurationInMinutes'],
    ),
    absent_minutes: sum(
      'absences',
      (row) => isGranted(row) && (row['calculatedDurationInMinutes'] ?? row['durationInMinutes']),
    ),
    counter_minutes: sum('counters', (row) => row['durationInMinutes']),
  }
}

function monthBefore(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0)).toISOString().slice(0, 7)
}
