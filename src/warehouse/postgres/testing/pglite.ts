import { readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import type { Answer, Connection } from '../connection.ts'
import { postgresDialect } from '../dialect.ts'
import { beginFence, fenceTable } from '../fence.ts'
import { createLanding } from '../landing.ts'

/** The types of all values in these tests: see `AS_TEXT` in `connection.ts`. */
const TYPES = [16, 18, 19, 20, 21, 23, 25, 26, 114, 700, 701, 1043, 1082, 1114, 1184, 1700, 3802]
const parsers = Object.fromEntries(TYPES.map((type) => [type, (value: string) => value]))

/** The files of a new server, which `build-once.mjs` has made: to make them takes seconds. */
const NEW = new URL('../../../../dist/tests/postgresql.tar', import.meta.url)

/** A connection to PostgreSQL in this process, in memory. */
export async function inProcess(): Promise<Connection & { readonly end: () => Promise<void> }> {
  const database = await PGlite.create({ loadDataDir: new Blob([readFileSync(NEW)]) })
  const options = { rowMode: 'array', parsers } as const
  return {
    async query(sql, values) {
      if (values !== undefined) return answerOf(await database.query(sql, [...values], options))
      return answerOf((await database.exec(sql, options)).at(-1))
    },
    queryOne: async (sql) => answerOf(await database.query(sql, [], options)),
    async copy(sql, path) {
      const blob = new Blob([readFileSync(path)])
      await database.query(sql.replace(' FROM STDIN ', " FROM '/dev/blob' "), [], { blob })
    },
    close: async () => {},
    end: () => database.close(),
  }
}

/** A landing with its schemas in such a server, and others. */
export async function landingInProcess(others: readonly string[] = []) {
  const server = await inProcess()
  const { schemas } = postgresDialect('protime')
  const all = [...Object.values(schemas), ...others].map((name) => `CREATE SCHEMA ${name}`)
  await server.query([...all, ...fenceTable(schemas.account)].join(';'))
  const fence = await beginFence(server, schemas.account, async () => server)
  return { landing: createLanding(server, 'protime', fence), end: server.end }
}

function answerOf(answer: unknown): Answer {
  return answer as Answer
}
