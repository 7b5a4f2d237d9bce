import type { Row } from '../tenant.ts'
import type { PostgreSql } from './postgresql.ts'
import type { Target } from './target.ts'

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
    asStored: (record) => record,
  }
}
