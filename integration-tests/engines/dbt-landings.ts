import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { execute, expectSame, output } from './command.ts'
import type { Tools } from './engine.ts'
import type { PostgreSql } from './meltano/postgresql.ts'
import { pyairbyte } from './pyairbyte.ts'
import { dbtCommand, dbtPython, pythonWith } from './python.ts'
import type { Row } from './tenant.ts'

/** A day of the emulator's people, and what they have for overtime. */
const VARIABLES = { protime_now: '2026-11-19', protime_overtime_counters: ['Overtime'] }

/** What dbt makes of the staging models. */
type Staging = 'view' | 'table'

/** Where dbt finds what was loaded. */
export interface LoadedLanding {
  /** Runs dbt on the package, with variables; answers with what it has said. */
  dbt(words: readonly string[], variables?: object, staging?: Staging): Promise<string>
  /** Changes the tables that were loaded, by one statement or several with ; between them. */
  change(statements: string): Promise<unknown>
  /** Where dbt_rows.py finds the models: the arguments before and after the query. */
  readonly models: readonly string[]
  readonly attached?: readonly string[]
}

/** Who loads a tenant. */
interface Landing extends LoadedLanding {
  /** Loads what is new. */
  load(): Promise<unknown>
}

/** What a landing is made with. */
export interface LandingParts {
  readonly tools: Tools
  readonly folder: string
  readonly config: string
  readonly postgres: PostgreSql
}

type Parts = Omit<LandingParts, 'postgres'>
type Place = Pick<LandingParts, 'tools' | 'folder'>

/** Everybody who loads a tenant in a form of its own. */
export const LANDINGS: Readonly<Record<string, (parts: LandingParts) => Landing>> = {
  'protime sync': ofReadme,
  PyAirbyte: ofPyAirbyte,
  'target-postgres': (parts) => targetPostgres(parts),
  'target-duckdb': targetDuckDb,
}

/** `protime sync`, as often as it is called; answers with its file. */
export async function protimeSync({ tools, folder, config }: Parts): Promise<string> {
  const warehouse = join(folder, 'protime.duckdb')
  const args = ['sync', '--config', config, '--warehouse', warehouse, '--quiet']
  await output({ program: join(tools.projectFolder, 'bin/protime'), args, folder })
  return warehouse
}

/** The three commands of README, of which the first loads. */
function ofReadme({ tools, folder }: LandingParts): Landing {
  const block = guideBlock('sh dbt', join(tools.projectFolder, 'README.md'))
  const [sync = '', init = '', build] = block
    .replaceAll(/^npx -y (?:-p \S+ )+/gm, '')
    .trim()
    .split('\n')
  expectSame(build, 'dbt build')
  const typed = (line: string) => {
    const [program = '', ...args] = line.split(' ')
    return output({ program: join(tools.projectFolder, 'bin', program), args, folder })
  }
  let isMade = false
  const file = join(folder, 'protime.duckdb')
  return {
    load: () => typed(sync),
    async dbt(words, variables = {}) {
      const given = [...words, '--vars', JSON.stringify(variables)]
      if (isMade) return runDbt(tools, folder, ...given)
      await typed(init)
      isMade = true
      // As people start it.
      return (await execute(dbtCommand(folder, given))).stdout
    },
    change: changing(file, 'main'),
    models: ['duckdb', join(folder, 'analytics', 'analytics.duckdb'), 'main'],
    attached: [`raw=${file}`],
  }
}

function ofPyAirbyte({ tools, folder, config }: LandingParts): Landing {
  const file = join(folder, 'cache.duckdb')
  const program = join(tools.projectFolder, 'integration-tests/engines/pyairbyte.py')
  const interpreter = pythonWith(pyairbyte.name, pyairbyte.requirements)
  const path = `${dirname(interpreter)}:${process.env['PATH']}`
  return {
    load: () =>
      output({
        program: interpreter,
        args: [program, 'read', tools.executable, config, file],
        folder,
        environment: { PATH: path, HOME: folder, AIRBYTE_OFFLINE_MODE: '1', DO_NOT_TRACK: '1' },
      }),
    ...beside({ tools, folder }, file, 'tenant'),
  }
}

function targetDuckDb({ tools, folder, config }: LandingParts): Landing {
  const filepath = join(folder, 'target.duckdb')
  // With hard_delete this version loses the first row of each file that it loads, as meltano.yml says.
  const settings = { filepath, default_target_schema: 'protime', hard_delete: false }
  return {
    load: () => throughSinger('target-duckdb', settings, { tools, folder, config }),
    ...beside({ tools, folder }, filepath, 'protime'),
  }
}

// The compiled script stands one folder deeper than its source.
const ROWS = fileURLToPath(
  new URL('../../../integration-tests/engines/dbt_rows.py', import.meta.url),
)

const RUN = `import duckdb, sys
connection = duckdb.connect(sys.argv[1])
for statement in sys.argv[2:]:
    connection.execute(statement)`

/** Runs statements on the tables of a DuckDB file, by the DuckDB of dbt, which is as new as that of any loader. */
function changing(file: string, schema: string): LoadedLanding['change'] {
  return (statements) => statementsIn(file, `use ${schema}; ${statements}`)
}

/** Runs statements with ; between them in a DuckDB file, which is made if there is none. */
export function statementsIn(file: string, statements: string): Promise<string> {
  return output({
    program: dbtPython(),
    args: ['-c', RUN, file, statements],
    folder: dirname(file),
  })
}

/** dbt builds in a DuckDB file of its own, and reads that of the loader. */
export function beside(parts: Place, file: string, protime_schema: string): LoadedLanding {
  const path = join(parts.folder, 'analytics.duckdb')
  const attach = [{ path: file, alias: 'raw', read_only: true }]
  const target = { type: 'duckdb', path, threads: 2, attach }
  return {
    dbt: (words, variables) =>
      dbtOf(parts, target, { protime_database: 'raw', protime_schema, ...variables }, words),
    change: changing(file, protime_schema),
    models: ['duckdb', path, 'main'],
    attached: [`raw=${file}`],
  }
}

/** target-postgres, into a schema. */
export function targetPostgres(
  { tools, folder, config, postgres }: LandingParts,
  schema = 'protime',
): Landing {
  const { port, user, password } = postgres
  const place = { host: '127.0.0.1', port, user, password }
  const settings = {
    ...place,
    database: 'postgres',
    default_target_schema: schema,
    hard_delete: true,
    activate_version: true,
  }
  const target = { ...postgresTarget(postgres, 'postgres'), schema: 'analytics', threads: 2 }
  const address = `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`
  return {
    load: () => throughSinger('target-postgres', settings, { tools, folder, config }),
    dbt: (words, variables = {}, staging) =>
      dbtOf({ tools, folder }, target, variables, words, staging),
    change: (statements) => postgres.query(`set search_path = ${schema}; ${statements}`),
    models: ['postgres', address, 'analytics'],
  }
}

/** What a profile of dbt has of a server. */
export function postgresTarget({ port, user, password }: PostgreSql, dbname: string) {
  return { type: 'postgres', host: '127.0.0.1', port, user, password, dbname }
}

/** The tap into a target of meltano.yml, which goes on where the last run ended. */
async function throughSinger(
  target: string,
  settings: object,
  { tools, folder, config }: Parts,
): Promise<void> {
  const meltano = readFileSync(join(tools.projectFolder, 'meltano.yml'), 'utf8')
  const [, requirement = target] = new RegExp(`pip_url: (\\S*${target}==\\S+)`).exec(meltano) ?? []
  const interpreter = pythonWith(target, [requirement])
  const file = join(folder, 'target.json')
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 })
  const tap = join(tools.projectFolder, 'bin/tap-protime')
  const load = `set -e
"$TAP" --config "$CONFIG" --discover > catalog.json
touch state.json
"$TAP" --config "$CONFIG" --catalog catalog.json $(test -s state.json && echo --state state.json) --quiet > messages.jsonl
"$PYTHON" "$TARGET" --config target.json < messages.jsonl > states.jsonl
tail -n 1 states.jsonl > state.json`
  await output({
    program: 'bash',
    args: ['-c', load],
    folder,
    environment: {
      TAP: tap,
      CONFIG: config,
      PYTHON: interpreter,
      TARGET: join(dirname(interpreter), target),
    },
  })
}

/** Runs dbt in a folder, without the files that nobody reads here; answers with what it said, of failures, too. */
export async function runDbt(
  { execute }: Tools,
  folder: string,
  ...words: readonly string[]
): Promise<string> {
  const { args, environment } = dbtCommand(folder, words)
  const without = { DBT_LOG_LEVEL_FILE: 'none', DBT_WRITE_JSON: 'false' }
  return (await execute({ args, folder, environment: { ...environment, ...without } })).stdout
}

/** Runs dbt on a copy of the package, which nobody else has written into. */
export function dbtOf(
  { tools, folder }: Place,
  target: object,
  variables: object,
  words: readonly string[],
  staging: Staging = 'view',
): Promise<string> {
  const home = copied(tools, folder)
  const project = join(home, 'dbt_project.yml')
  const text = readFileSync(project, 'utf8')
  writeFileSync(project, text.replace(/(staging: \{ \+materialized: )view/, `$1${staging}`))
  writeProfile(home, target)
  return runDbt(tools, home, ...words, '--vars', JSON.stringify({ ...VARIABLES, ...variables }))
}

/** A copy of the package in a folder, which dbt may write into. */
export function copied({ projectFolder }: Tools, folder: string): string {
  const home = join(folder, 'dbt')
  cpSync(join(projectFolder, 'dbt'), home, { recursive: true })
  return home
}

/** The profile of a folder: where dbt builds. */
export function writeProfile(folder: string, target: object): void {
  const profile = { protime: { target: 'here', outputs: { here: target } } }
  writeFileSync(join(folder, 'profiles.yml'), stringify(profile))
}

/** The rows of the staging models, and the answer to a query, as lines of JSON. */
export async function rowsOf(
  { models, attached = [] }: Pick<LoadedLanding, 'models' | 'attached'>,
  sql: string,
  { python }: Tools,
): Promise<string[]> {
  const lines = await python('dbt_rows.py', [...models, sql, ...attached])
  return lines.trim().split('\n')
}

/** The answer to a query alone. */
export async function answersTo(
  landing: Pick<LoadedLanding, 'models' | 'attached'>,
  sql: string,
): Promise<Row[]> {
  const args = [ROWS, '--answers', ...landing.models, sql, ...(landing.attached ?? [])]
  const lines = await output({ program: dbtPython(), args, folder: '/' })
  return lines.trim() === '' ? [] : answers(lines.trim().split('\n'))
}

/** The answers to the query among them. */
export function answers(lines: readonly string[]): Row[] {
  return lines
    .map((line) => JSON.parse(line) as { model: string; row: Row })
    .flatMap(({ model, row }) => (model === 'answer' ? [row] : []))
}
