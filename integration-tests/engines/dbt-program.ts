import { dirname, join } from 'node:path'
import type { Command } from './command.ts'
import { pythonWith } from './python.ts'

/** dbt-core 1.12 needs a package that downloads from elsewhere when it is installed. */
export const REQUIREMENTS = [
  ...['dbt-core==1.11.16', 'dbt-duckdb==1.11.1', 'dbt-postgres==1.11.0'],
  'duckdb==2.0.0',
]

/** The interpreter of the environment of dbt, which has its DuckDB, too. */
export function dbtPython(): string {
  return pythonWith('dbt', REQUIREMENTS)
}

/** Runs dbt in a folder, which has its profile. */
export function dbtCommand(folder: string, words: readonly string[]): Command {
  const interpreter = dbtPython()
  return {
    program: interpreter,
    args: [join(dirname(interpreter), 'dbt'), ...words],
    folder,
    environment: { DO_NOT_TRACK: '1', DBT_USE_COLORS: 'false', DBT_PROFILES_DIR: folder },
  }
}
