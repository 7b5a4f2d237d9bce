import { quoted } from '../../src/warehouse/sql.ts'
import { ask } from '../testing/protime.ts'
import type { TestServer } from './server.ts'

/** A warehouse of `protime sync`. */
export interface Queried {
  /** The schemas of its tables and of its account. */
  readonly tables: string
  readonly account: string
  /** The values of expressions, which must be texts; `rest` begins with FROM. */
  select(values: readonly string[], rest: string): Promise<(readonly (string | null)[])[]>
}

export function inFile(file: string): Queried {
  return {
    ...{ tables: 'main', account: '_protime' },
    async select(values, rest) {
      const rows = await ask(file, `SELECT json_array(${values.join(', ')}) AS row ${rest}`)
      return rows.map(({ row }) => JSON.parse(String(row)))
    },
  }
}

export function inSchema(server: TestServer, schema: string): Queried {
  return {
    ...{ tables: schema, account: `${schema}_meta` },
    async select(values, rest) {
      const lines = await server.query(`SELECT json_build_array(${values.join(', ')}) ${rest}`)
      return lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    },
  }
}

/** What a table was at a moment, as far as its history says that. */
export interface Remembered {
  readonly moment: string
  readonly columns: readonly string[]
  readonly rows: readonly string[]
}

/** What is in a table now; undefined before its history begins. */
export async function remember(
  { tables, account, select }: Queried,
  stream: string,
): Promise<Remembered | undefined> {
  const [[moment] = []] = await select(
    ['CAST(moment AS TEXT)'],
    `FROM ${account}.owner, ${account}.streams WHERE stream = '${stream}' AND known_since IS NOT NULL`,
  )
  if (moment === undefined) return undefined
  const names = await select(
    ['own.name'],
    `FROM ${account}.columns AS own JOIN ${account}.fields AS field
      ON field.stream = own.stream AND field.property = own.property WHERE own.stream = '${stream}'`,
  )
  const columns = names.map(([name]) => String(name))
  const rows = await select(columns.map(text), `FROM ${tables}."${stream}"`)
  return { moment: String(moment), columns, rows: linesOf(rows) }
}

/** What the history says of such a moment: rows that it lacks, and rows that were not there. */
export async function forgotten(
  { tables, account, select }: Queried,
  stream: string,
  then: Remembered,
): Promise<{ readonly lacking: string[]; readonly superfluous: string[] }> {
  const names = await select(['name'], `FROM ${account}.columns WHERE stream = '${stream}'`)
  const present = new Set(names.map(([name]) => String(name)))
  const columns = then.columns.filter((name) => present.has(name)).map(quoted)
  const times = ['_known_from', '_known_until']
  const rows = await select(
    // The column of values that did not fit is gone as soon as nothing has any.
    then.columns.map((name) => (present.has(name) ? text(name) : 'NULL')),
    `FROM (SELECT ${[...columns, '_known_from'].join(', ')}, CAST(NULL AS TIMESTAMPTZ) AS _known_until FROM ${tables}."${stream}"
      UNION ALL SELECT ${[...columns, ...times].join(', ')} FROM ${account}."closed_${stream}") AS version
      WHERE _known_from <= CAST('${then.moment}' AS TIMESTAMPTZ)
        AND (_known_until IS NULL OR _known_until > CAST('${then.moment}' AS TIMESTAMPTZ))`,
  )
  const [held, was] = [new Set(linesOf(rows)), new Set(then.rows)]
  return {
    lacking: then.rows.filter((row) => !held.has(row)),
    superfluous: linesOf(rows).filter((row) => !was.has(row)),
  }
}

function text(column: string): string {
  return `CAST(${quoted(column)} AS TEXT)`
}

function linesOf(rows: readonly (readonly unknown[])[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort()
}
