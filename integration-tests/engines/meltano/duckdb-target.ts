import { join } from 'node:path'
import { readStreamSchema, streams } from '../../../src/streams/streams.ts'
import type { Row } from '../tenant.ts'
import { output } from './command.ts'
import type { Target } from './target.ts'

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
