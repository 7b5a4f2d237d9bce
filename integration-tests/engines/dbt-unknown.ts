import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStreamSchema, streams } from '../../src/streams/streams.ts'
import { expectSame } from './command.ts'
import {
  answersTo,
  dbtOf,
  type LandingParts,
  type LoadedLanding,
  protimeSync,
  statementsIn,
  targetPostgres,
} from './dbt-landings.ts'
import type { Row } from './tenant.ts'

const PRIVACY_KEY = '8f2c61d0b7e94a35a1c4d27f60b93e58'
const MODES = ['complete', 'without_secrets', 'pseudonymised', 'minimal'] as const
const TABLES = [...streams.keys(), 'inventory']
const INPUTS = readFileSync(new URL('../../../dbt/macros/inputs.sql', import.meta.url), 'utf8')
/** What the package names as inputs of its marts: streams, and fields of them. */
const NAMED = new Set([...INPUTS.matchAll(/'(\w+)'/g)].map(([, name = '']) => name))
/** The streams that a mart needs; the others are left out together. */
const NEEDED = TABLES.filter((table) => NAMED.has(table))
/** The stream that the client may not read: its table is empty. */
const REFUSED = 'absence_groups'

/** A mart, or sums of it where a left-out stream changes its rows: what is compared with that of the whole tenant, by its key. */
const COMPARED: Readonly<
  Record<string, { readonly key: readonly string[]; readonly of?: string }>
> = {
  protime__people: { key: ['person_id'] },
  protime__person_days: { key: ['person_id', 'date_day'] },
  protime__absences: { key: ['absence_id'] },
  // Without decisions, years in which all absences were refused have a row, too.
  protime__absence_years: {
    key: ['person_id', 'year'],
    of: `select tenant, person_id, year, ${['minutes_taken', 'minutes_planned', 'minutes_awaiting'].map(knownSum).join(', ')}
      from protime__absence_years y where exists (
        select 1 from protime__absence_years w where w.tenant = 'complete' and w.person_id = y.person_id and w.year = y.year)
      group by 1, 2, 3`,
  },
  protime__clockings: { key: ['clocking_id'] },
  protime__counters: { key: ['person_id', 'date_day', 'counter_definition_id'] },
  protime__headcount_days: {
    key: ['date_day'],
    of: `select tenant, date_day, sum(headcount) as headcount, round(cast(sum(fte) as numeric), 6) as fte
      from protime__headcount_days group by 1, 2`,
  },
  protime__presence_now: { key: ['person_id'] },
  protime__clocking_anomalies: { key: ['person_id', 'date_day', 'anomaly'] },
}
/** Columns whose values another treatment of personal data changes. */
const TREATED = ['last_name', 'first_name', 'employee_number', 'badge_number']

/** Known without absences of people who have clocked. */
const PARTLY = 'protime__presence_now.presence'

/** What nobody knows without a stream, among other columns. */
const UNKNOWN: Readonly<Record<string, readonly string[]>> = {
  absences: ['protime__person_days.absent_minutes', 'protime__person_days.elsewhere_minutes'],
  absence_definitions: ['protime__person_days.absent_minutes', 'protime__absences.absence_name'],
  absence_groups: [
    'protime__person_days.elsewhere_minutes',
    'protime__absences.is_working_elsewhere',
  ],
  breaks: ['protime__person_days.break_minutes'],
  clockings: ['protime__person_days.clockings', 'protime__presence_now.presence'],
  contracts: ['protime__people.fte', 'protime__headcount_days.fte'],
  counters: ['protime__person_days.overtime_minutes'],
  counter_definitions: ['protime__person_days.overtime_minutes', 'protime__counters.is_overtime'],
  department_histories: ['protime__people.department_id'],
  paid_presences: ['protime__person_days.paid_minutes'],
}

type Parts = Omit<LandingParts, 'postgres'>

/** Where the tables of tenants are, each in a schema, and a dbt that reads them. */
interface Place {
  readonly schemas: readonly string[]
  readonly landing: Pick<LoadedLanding, 'dbt' | 'models' | 'attached'>
}

/** A tenant in each mode of personal data, and in the form of a stream left out, in a DuckDB file. */
export async function inDuckDb(parts: Parts): Promise<Place> {
  const file = join(parts.folder, 'parts.duckdb')
  const statements: string[] = []
  for (const mode of MODES) {
    const path = await protimeSync(inMode(parts, mode))
    statements.push(`attach '${path}' as ${mode}_file (read_only)`, `create schema ${mode}`)
    for (const table of TABLES)
      statements.push(
        `create table if not exists ${mode}.${table} as select * from ${mode}_file.main.${table}`,
      )
  }
  await statementsIn(file, [...statements.filter(isOffered), ...leftOut()].join(';'))
  const path = join(parts.folder, 'analytics.duckdb')
  const attach = [{ path: file, alias: 'raw', read_only: true }]
  const target = { type: 'duckdb', path, threads: 2, attach }
  return {
    schemas: schemas(),
    landing: {
      dbt: (words, variables, staging) =>
        dbtOf(parts, target, { protime_database: 'raw', ...variables }, words, staging),
      models: ['duckdb', path, 'main'],
      attached: [`raw=${file}`],
    },
  }
}

/** The same in PostgreSQL, as target-postgres loads them. */
export async function inPostgreSql({ postgres, ...parts }: LandingParts): Promise<Place> {
  for (const mode of MODES) await targetPostgres({ ...inMode(parts, mode), postgres }, mode).load()
  await postgres.query(leftOut().join(';'))
  return { schemas: schemas(), landing: targetPostgres({ ...parts, postgres }) }
}

/** `minimal` does not offer the stream whose key has values of references. */
function isOffered(statement: string): boolean {
  return !statement.includes('minimal.external_references')
}

function inMode({ tools, folder, config }: Parts, mode: string): Parts {
  const own = join(folder, mode)
  mkdirSync(own)
  const settings = {
    personal_data: mode,
    ...(mode === 'pseudonymised' && { privacy_key: PRIVACY_KEY }),
  }
  const given = JSON.parse(readFileSync(config, 'utf8')) as object
  const path = join(own, 'config.json')
  writeFileSync(path, JSON.stringify({ ...given, ...settings }), { mode: 0o600 })
  return { tools, folder: own, config: path }
}

/** Of each stream, the fields that a mart needs. */
const FIELDS = NEEDED.map((stream) => {
  const { properties = {} } = readStreamSchema(stream)
  return { stream, fields: Object.keys(properties).filter((name) => NAMED.has(name)) }
})

/** In each of these, every table lacks another one of its fields. */
const FEWER = Array.from(
  { length: Math.max(...FIELDS.map(({ fields }) => fields.length)) },
  (_, i) => `without_field_${i}`,
)

/** Which tables are left out, by the names of the schemas. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries([...NEEDED, 'inventory'].map((table) => [`without_${table}`, [table]])),
  without_others: [...streams.keys()].filter((stream) => !NEEDED.includes(stream)),
}

function schemas(): string[] {
  return [...MODES, ...Object.keys(LEFT_OUT), ...FEWER, 'refused']
}

/** Schemas in which a table or fields are left out, and one in which a table has no rows, as the inventory says. */
function leftOut(): string[] {
  const copy = (schema: string, tables: readonly string[]) => [
    `create schema ${schema}`,
    ...tables.map((table) => `create table ${schema}.${table} as select * from complete.${table}`),
  ]
  return [
    ...Object.entries(LEFT_OUT).flatMap(([schema, left]) => [
      ...copy(
        schema,
        TABLES.filter((table) => !left.includes(table)),
      ),
      ...(left.includes('inventory')
        ? []
        : [`delete from ${schema}.inventory where stream in ('${left.join("', '")}')`]),
    ]),
    ...FEWER.flatMap((schema, i) => [
      ...copy(schema, [...NEEDED, 'inventory']),
      ...FIELDS.flatMap(({ stream, fields: { [i]: field } }) =>
        field === undefined ? [] : [`alter table ${schema}.${stream} drop column "${field}"`],
      ),
    ]),
    ...copy('refused', TABLES),
    `delete from refused.${REFUSED}`,
    `update refused.inventory set "isComplete" = false, records = null, keys = null where stream = '${REFUSED}'`,
  ]
}

/** Builds the marts of all tenants: each value is that of the whole tenant or null, and the log says what is unknown, and why. */
export async function expectUnknownIsNotZero({ schemas, landing }: Place): Promise<void> {
  const [whole = ''] = schemas
  const said = await built(landing, schemas)
  const known = await compared(landing)
  const isWrong = (column: string) => (known.get(column) ?? 0) > 0 && !column.endsWith(PARTLY)
  expectSame((await toldUnknown(landing)).filter(isWrong), [])
  expectTold(said)
  for (const [stream, columns] of Object.entries(UNKNOWN))
    for (const column of columns) {
      const counts = [whole, `without_${stream}`].map((name) => known.get(`${name} ${column}`) ?? 0)
      expectSame([column, counts.map((count) => count > 0)], [column, [true, false]])
    }
}

/** Builds the models of tenants; everything passes but the two tests that tell what is unknown. */
async function built(landing: Place['landing'], tenants: readonly string[]): Promise<string> {
  const protime_tenants = tenants.map((name) => ({ name, schema: name }))
  // Marts of so many tenants would take ever longer on top of views.
  const words = ['build', '--exclude', 'resource_type:test,path:models/staging']
  const said = await landing.dbt(words, { protime_tenants }, 'table')
  const failed = [...said.matchAll(/ (?:FAIL|ERROR|WARN) \d+ (\w+)/g)].map(([, test]) => test)
  const expected = ['protime_models_lack_nothing', 'protime_warehouse_equals_service']
  const isDone = /Done\. PASS=\d\d/.test(said)
  expectSame([isDone, failed.filter((test = '') => !expected.includes(test))], [true, []])
  return said
}

/** The values that each tenant has in a column, by `tenant model.column`. All are those of the whole tenant, and no row is invented. */
async function compared(landing: Place['landing']): Promise<Map<string, number>> {
  const known = new Map<string, number>()
  const models = Object.entries(COMPARED).map(
    ([model, { key, of = `select * from ${model}` }]) => ({
      ...{ model, key },
      from: `select '${model}' as model, rows.* from (${of}) rows`,
    }),
  )
  const oneOf = models.map(({ from }) => `select * from (${from}) rows limit 1`)
  const firsts = await answersTo(landing, oneOf.join(';'))
  const comparisons = models.map(({ model, key, from }) => {
    const first = firsts.find((row) => row['model'] === model) ?? {}
    const isValue = (name: string) => !['tenant', 'model', ...key].includes(name)
    return comparison(from, key, Object.keys(first).filter(isValue))
  })
  for (const row of await answersTo(landing, comparisons.join(';'))) {
    const [tenant, model] = [String(row['tenant']), String(row['model'])]
    const isTreated = (name: string) => !tenant.startsWith('without_') && TREATED.includes(name)
    const columns = Object.keys(row).flatMap((name) => name.match(/^wrong_(.*)/)?.[1] ?? [])
    const wrong = columns.filter((name) => row[`wrong_${name}`] !== 0 && !isTreated(name))
    expectSame([tenant, model, row['invented'], wrong], [tenant, model, 0, []])
    for (const name of columns) known.set(`${tenant} ${model}.${name}`, Number(row[`has_${name}`]))
  }
  return known
}

/** The log names what each model lacks, and the tenants and streams that nobody audits. */
function expectTold(said: string): void {
  const lines = [
    'without_breaks: protime__person_days lacks breaks (no table); unknown: break_minutes',
    'refused: protime__absences lacks absence_groups (no rows); unknown: is_working_elsewhere',
    'minimal: protime__absences lacks absences.requestedAbsenceDefinition, absences.resultingAbsenceDefinition; unknown: absence_definition_id, absence_name, is_working_elsewhere',
    'refused: absence_groups all: not audited, of which the connector knows no number, 0 in the warehouse',
    'without_inventory: the stream inventory is not loaded',
  ]
  expectSame(
    lines.filter((line) => !said.includes(line)),
    [],
  )
  const whole = said
    .split('\n')
    .filter((line) => /\b(complete|without_secrets|pseudonymised): /.test(line))
  expectSame(whole, [])
}

/** Each column that is told to be unknown: `tenant model.column`. */
async function toldUnknown(landing: Place['landing']): Promise<string[]> {
  const rows = await answersTo(
    landing,
    `select tenant, model, null_columns from ${landing.models[2]}_protime_staging.int_protime__missing_inputs`,
  )
  return rows.flatMap(({ tenant, model, null_columns }: Row) =>
    String(null_columns)
      .split(', ')
      .map((column) => `${tenant} ${model}.${column}`),
  )
}

/** Only the inventory knows where the days of a stream begin: without it, a sum may be of a part of a year. */
function isTold(name: string): string {
  return `o.${name} is not null and (c.${name} is not null or o.tenant <> 'without_inventory')`
}

/** The sum of a column; null if one of its values is unknown. */
function knownSum(name: string): string {
  return `case when count(*) = count(${name}) then sum(${name}) end as ${name}`
}

/** By tenant: rows that the whole tenant does not have, and by column the values that differ, and those that there are. */
function comparison(from: string, key: readonly string[], columns: readonly string[]): string {
  const counts = columns.flatMap((name) => [
    `sum(case when ${isTold(name)} and o.${name} is distinct from c.${name} then 1 else 0 end) as wrong_${name}`,
    `count(o.${name}) as has_${name}`,
  ])
  const on = key.map((name) => `o.${name} is not distinct from c.${name}`)
  return `select o.tenant, o.model, sum(case when c.tenant is null then 1 else 0 end) as invented, ${counts.join(', ')}
    from (${from}) o left join (select * from (${from}) rows where tenant = 'complete') c on ${on.join(' and ')}
    group by o.tenant, o.model`
}
