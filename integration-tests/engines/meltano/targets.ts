import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyOf, streams } from '../../../src/streams/streams.ts'
import { protime, verifiedDifferences } from '../../testing/protime.ts'
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
}

/** A program of Python that prints each row of each table of the schema protime as a line of JSON, and each table once. */
const DUCKDB_ROWS = `import sys

import duckdb

with duckdb.connect(sys.argv[1], read_only=True) as connection:
    tables = connection.execute(
        "select table_name from information_schema.tables where table_schema = 'protime'"
    ).fetchall()
    for (table,) in tables:
        print(f'{{"table":"{table}","row":null}}')
        for (row,) in connection.execute(f'select to_json(t) from protime."{table}" t').fetchall():
            print(f'{{"table":"{table}","row":{row}}}')
`

/**
 * DuckDB, which the target's own environment has to read: the file is of a newer version than others
 * know.
 */
export function duckdbTarget(): Target {
  return {
    plugin: 'target-duckdb',
    activatesVersions: false,
    losesFirstDelete: true,
    environment: {},
    async tables(project) {
      const interpreter = '.meltano/loaders/target-duckdb/venv/bin/python'
      const lines = await output({
        program: join(project.folder, interpreter),
        args: ['-c', DUCKDB_ROWS, join(project.folder, 'warehouse.duckdb')],
        folder: project.folder,
      })
      const tables = new Map<string, Row[]>()
      for (const line of lines.split('\n').filter(Boolean)) {
        const { table, row } = JSON.parse(line) as { table: string; row: Row | null }
        const rows = tables.get(table) ?? []
        tables.set(table, row === null ? rows : [...rows, row])
      }
      return tables
    },
  }
}

/** Files with a line for each record: what came last of a key is its row. */
export function jsonlTarget(): Target {
  return {
    plugin: 'target-jsonl',
    activatesVersions: false,
    losesFirstDelete: false,
    environment: {},
    async tables({ folder }) {
      const path = join(folder, 'meltano-output')
      return new Map(
        readdirSync(path).map((file) => {
          const name = file.replace(/\.jsonl$/, '')
          return [name, lastRows(name, readFileSync(join(path, file), 'utf8'))]
        }),
      )
    },
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
  }
}

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
  const names = tenant.streams.filter((name) => !except.includes(name))
  const missing = names.filter((name) => !tables.has(name))
  const faults = [
    ...unknown.map((name) => `there is a table ${name}, which is no stream`),
    ...missing.map((name) => `${name} has no table`),
  ]
  const words = ['--streams', names.join(',')]
  const lines = names.flatMap((stream) => {
    const table = tables.get(stream) ?? []
    const rows = isWithoutGhosts ? ofNewestGeneration(table) : table
    return rows.map((row) => JSON.stringify({ stream, row }))
  })
  const file = join(project.folder, 'rows.jsonl')
  const config = join(project.folder, 'verify.json')
  writeFileSync(config, JSON.stringify(tenant.config), { mode: 0o600 })
  const { stdout: queries } = await protime(
    ...['verify', '--sql', 'postgres', '--config', config, ...words],
  )
  writeFileSync(file, (await target.printed?.(queries)) ?? lines.join('\n'))
  const differences = await verifiedDifferences(tenant.config, ...words, '--rows', file)
  for (const name of [...names, '']) {
    const ofStream = differences.filter((text) => streamOf(text) === name)
    const remaining = ofStream.filter((text) => text.includes('"difference":"too many"'))
    const isExcused = target.losesFirstDelete && remaining.length <= loads
    const told = isExcused ? ofStream.filter((text) => !remaining.includes(text)) : ofStream
    faults.push(...told.slice(0, TOLD))
  }
  return faults
}

/** The stream that a difference is told of; empty for a failure. */
function streamOf(text: string): string {
  return /^\{"stream":"(\w+)"/.exec(text)?.[1] ?? ''
}

/** The query of docs/how-a-sync-works.md: what a later complete reading did not send again is gone. */
function ofNewestGeneration(rows: readonly Row[]): readonly Row[] {
  const newest = rows.reduce((highest, row) => Math.max(highest, generation(row)), 0)
  return rows.filter((row) => generation(row) === newest)
}

function generation(row: Row): number {
  return Number(row['_generation'])
}
