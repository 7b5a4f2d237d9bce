import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyOf, readStreamSchema, streams } from '../../../src/streams/streams.ts'
import { compare } from '../../testing/compare.ts'
import { protime } from '../../testing/protime.ts'
import { verify } from '../../testing/verify.ts'
import { output } from '../command.ts'
import type { Row, Tenant } from '../tenant.ts'
import type { PostgreSql } from './postgresql.ts'
import type { Project } from './project.ts'

/** A loader of Meltano with somebody who reads what it has stored. */
export interface Target {
  readonly plugin: string
  /** Whether ACTIVATE_VERSION removes rows; elsewhere the query on _generation finds ghosts. */
  readonly activatesVersions: boolean
  /** Whether the target may lose the first row of a load when that row is a deletion. */
  readonly losesFirstDelete: boolean
  /** Settings of the plugin, as Meltano reads them from variables. */
  readonly environment: Readonly<Record<string, string>>
  /** Every row of every table, by the name of the table, deleted rows too. */
  tables(project: Project): Promise<ReadonlyMap<string, readonly Row[]>>
  /** What SQL of `protime verify --sql` prints, where this target has a dialect and keeps to the versions. */
  printed?(queries: string): Promise<string>
  /** A record of the service as this target can hold it. */
  asStored(record: Row): Row
}

/**
 * DuckDB, which the target's own environment has to read: the file is of a newer version than others
 * know. The target folds names to lower case and stores empty texts as NULL.
 */
export function duckdbTarget(program: string): Target {
  return {
    plugin: 'target-duckdb',
    activatesVersions: false,
    losesFirstDelete: true,
    environment: {},
    async tables(project) {
      const interpreter = '.meltano/loaders/target-duckdb/venv/bin/python'
      const lines = await output({
        program: join(project.folder, interpreter),
        args: [program, join(project.folder, 'meltano-output/warehouse.duckdb')],
        folder: project.folder,
      })
      const tables = new Map<string, Row[]>()
      for (const line of lines.split('\n').filter(Boolean)) {
        const { table, row } = JSON.parse(line) as { table: string; row: Row | null }
        const rows = tables.get(table) ?? []
        tables.set(table, row === null ? rows : [...rows, unfolded(table, row)])
      }
      return tables
    },
    asStored: (record) =>
      Object.fromEntries(
        Object.entries(record).map(([name, value]) => [name, value === '' ? null : value]),
      ),
  }
}

/** The row with the names of the schema; of two that differ by case only, the first has the column. */
function unfolded(table: string, row: Row): Row {
  const names = new Map<string, string>()
  if (streams.has(table)) {
    for (const name of Object.keys(readStreamSchema(table).properties).toReversed())
      names.set(name.toLowerCase(), name)
  }
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [names.get(name) ?? name, value]),
  )
}

/** Files with a line for each record: what came last of a key is its row. */
export function jsonlTarget(): Target {
  return {
    plugin: 'target-jsonl',
    activatesVersions: false,
    losesFirstDelete: false,
    environment: {},
    async tables({ folder }) {
      const path = join(folder, 'meltano-output/jsonl')
      return new Map(
        readdirSync(path).map((file) => {
          const name = file.replace(/\.jsonl$/, '')
          return [name, lastRows(name, readFileSync(join(path, file), 'utf8'))]
        }),
      )
    },
    asStored: (record) => record,
  }
}

function lastRows(name: string, text: string): Row[] {
  const stream = streams.get(name)
  const columns = stream === undefined ? ['stream', 'part'] : keyOf(stream)
  const rows = new Map<string, Row>()
  for (const line of text.split('\n').filter(Boolean)) {
    const row = JSON.parse(line) as Row
    rows.set(JSON.stringify(columns.map((column) => row[column])), row)
  }
  return [...rows.values()]
}

/** A real PostgreSQL whose target deletes rows of older versions. */
export function postgresTarget({ port, user, password, query }: PostgreSql): Target {
  return {
    plugin: 'target-postgres',
    activatesVersions: true,
    losesFirstDelete: false,
    environment: {
      TARGET_POSTGRES_PORT: String(port),
      TARGET_POSTGRES_USER: user,
      TARGET_POSTGRES_PASSWORD: password,
      TARGET_POSTGRES_DATABASE: 'postgres',
    },
    async tables() {
      const names = await query(
        "select table_name from information_schema.tables where table_schema = 'protime'",
      )
      const tables = new Map<string, Row[]>()
      for (const name of names.split('\n').filter(Boolean)) {
        const rows = await query(`select row_to_json(t) from protime."${name}" t`)
        tables.set(
          name,
          rows
            .split('\n')
            .filter(Boolean)
            .map((row) => JSON.parse(row) as Row),
        )
      }
      return tables
    },
    printed: (queries) => query(`set search_path to protime; ${queries}`),
    asStored: (record) => record,
  }
}

/** Columns that the tap or the target adds. */
const ADDED = /^(_sdc_.*|_generation|_ab_cdc_cursor)$/

/** What `compare` says of a row whose deletion was lost. */
const NOT_IN_THE_SERVICE = 'is in the warehouse, but not in the service'

/** Told per stream. */
const TOLD = 5

export interface Comparison {
  readonly target: Target
  readonly project: Project
  readonly tenant: Tenant
  /** Leaves out what the documented query on _generation finds, after a reading without a state. */
  readonly isWithoutGhosts?: boolean
  /** How often each stream has been loaded: so many deletions a target may have lost. */
  readonly loads: number
  /** Streams that are not read at present. */
  readonly except?: readonly string[]
}

/** What a target and the service have not in common, one sentence a row; each stream is a table. */
export async function storedDifferences(comparison: Comparison): Promise<string[]> {
  const { target, project, tenant, loads, isWithoutGhosts = false, except = [] } = comparison
  const tables = await target.tables(project)
  const known = [...tenant.streams, 'inventory']
  const unknown = [...tables.keys()].filter((name) => !known.includes(name))
  const faults = unknown.map((name) => `there is a table ${name}, which is no stream`)
  for (const name of tenant.streams.filter((stream) => !except.includes(stream))) {
    const table = tables.get(name)
    const stream = streams.get(name)
    if (table === undefined || stream === undefined) {
      faults.push(`${name} has no table`)
      continue
    }
    const rows = isWithoutGhosts ? ofNewestGeneration(table) : table
    const live = rows.filter((row) => (row['_sdc_deleted_at'] ?? null) === null)
    const differences = await compare({
      stream: name,
      key: keyOf(stream),
      service: (await tenant.truth(name)).map(target.asStored),
      warehouse: live.map((row) => JSON.stringify(withoutAdded(row))),
    })
    const remaining = differences.filter(({ what }) => what === NOT_IN_THE_SERVICE)
    const isExcused = target.losesFirstDelete && remaining.length <= loads
    const told = isExcused ? differences.filter((one) => !remaining.includes(one)) : differences
    faults.push(...told.slice(0, TOLD).map(({ id, what }) => `${name} ${id} ${what}`))
  }
  return [...faults, ...(await verifiedDifferences(comparison, tables))]
}

/** What `protime verify` says of the rows, printed as its guide says. */
async function verifiedDifferences(
  { target, project, tenant, loads, isWithoutGhosts = false, except = [] }: Comparison,
  tables: ReadonlyMap<string, readonly Row[]>,
): Promise<string[]> {
  const names = tenant.streams.filter((name) => !except.includes(name))
  const config = join(project.folder, 'verify.json')
  writeFileSync(config, JSON.stringify(tenant.config), { mode: 0o600 })
  const words = ['--config', config, '--streams', names.join(',')]
  const lines = names.flatMap((stream) => {
    const table = tables.get(stream) ?? []
    const rows = isWithoutGhosts ? ofNewestGeneration(table) : table
    return rows.map((row) => JSON.stringify({ stream, row }))
  })
  const file = join(project.folder, 'rows.jsonl')
  const { stdout: queries } = await protime('verify', '--sql', 'postgres', ...words)
  writeFileSync(file, (await target.printed?.(queries)) ?? lines.join('\n'))
  const { exitCode, differences, stderr } = await verify(...words, '--rows', file)
  if (exitCode !== 0 && differences.length === 0) return [`protime verify failed: ${stderr}`]
  return names.flatMap((name) => {
    const ofStream = differences.filter(({ stream }) => stream === name)
    const remaining = ofStream.filter(({ difference }) => difference === 'too many')
    const isExcused = target.losesFirstDelete && remaining.length <= loads
    const told = isExcused ? ofStream.filter((one) => !remaining.includes(one)) : ofStream
    return told.slice(0, TOLD).map((one) => `protime verify: ${JSON.stringify(one)}`)
  })
}

/** The query of docs/singer.md: what a later complete reading did not send again is gone. */
function ofNewestGeneration(rows: readonly Row[]): readonly Row[] {
  const newest = rows.reduce((highest, row) => Math.max(highest, generation(row)), 0)
  return rows.filter((row) => generation(row) === newest)
}

function generation(row: Row): number {
  return Number(row['_generation'])
}

function withoutAdded(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ADDED.test(name)))
}
