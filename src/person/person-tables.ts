import type { DuckDBConnection } from '@duckdb/node-api'
import { isJsonObject } from '../ground/json.ts'
import { privacyClassOf } from '../privacy/privacy-settings.ts'
import { PEOPLE, personStreams, REFERENCES } from '../streams/person-paths.ts'
import { keyOf, readStreamSchema, streams } from '../streams/streams.ts'
import { type Column, GENERATION } from '../warehouse/column.ts'
import { texts } from '../warehouse/duckdb.ts'
import { jsonRows } from '../warehouse/query.ts'
import { literal, NEXT, quoted } from '../warehouse/sql.ts'
import { storedColumns } from '../warehouse/tables.ts'
import { leadsTo, valueAt } from './conditions.ts'

/** A table of a stream, or the one of its rows that wait for the end of a read. */
export interface StreamTable {
  readonly stream: string
  /** Its name in the schema `main`. */
  readonly table: string
  readonly columns: readonly Column[]
  /** Why rows of `source` are the person's: the path of the id, and a condition. */
  readonly reasons: readonly { readonly path: string; readonly condition: string }[]
}

/** The tables of all streams, with the conditions of the rows of a person. */
export async function streamTables(
  connection: DuckDBConnection,
  id: string,
): Promise<StreamTable[]> {
  const present = new Map<string, Set<string>>()
  for (const [table = '', column = ''] of await texts(connection, COLUMNS))
    present.set(table, (present.get(table) ?? new Set()).add(column))
  const paths = personStreams()
  return [...(await storedColumns(connection))].flatMap(([stream, stored]) =>
    [stream, `${NEXT}${stream}`].flatMap((table) => {
      const columns = stored.filter(({ name }) => present.get(table)?.has(name))
      if (!streams.has(stream) || columns.length === 0) return []
      const reasons = (paths.get(stream) ?? []).flatMap((one) => {
        const names = columns.filter(({ property }) => property === one.path[0])
        if (names.length === 0) return []
        const condition = leadsTo(
          id,
          one,
          'duckdb',
          names.map(({ name }) => name),
        )
        return [{ path: one.path.join('.'), condition }]
      })
      return [{ stream, table, columns, reasons }]
    }),
  )
}

const COLUMNS = `SELECT table_name, column_name FROM duckdb_columns()
  WHERE database_name = current_database() AND schema_name = 'main'`

/** Whether a row of `source` is the person's. */
export function isPersons({ reasons }: StreamTable): string {
  return reasons.length === 0
    ? 'false'
    : reasons.map(({ condition }) => `(${condition})`).join(' OR ')
}

/** A row of a file. */
export interface FoundRow {
  readonly stream: string
  /** The values of the primary key. */
  readonly key: readonly unknown[]
  /** The path of the person's id, or what else has led to the row. */
  readonly why: string
  /** JSON text, without the connector's own generation. */
  readonly row: string
}

/** Finds the rows of a person. */
export async function personRows(
  connection: DuckDBConnection,
  tables: readonly StreamTable[],
): Promise<FoundRow[]> {
  const found: FoundRow[] = []
  for (const table of tables)
    for (const { path, condition } of table.reasons)
      found.push(...(await rowsOf(connection, table, condition, path)))
  return found
}

async function rowsOf(
  connection: DuckDBConnection,
  { stream, table }: StreamTable,
  condition: string,
  why: string,
): Promise<FoundRow[]> {
  const rows = await jsonRows(
    connection,
    `SELECT source.* EXCLUDE (${GENERATION}) FROM main.${quoted(table)} AS source WHERE ${condition}`,
  )
  const spec = streams.get(stream)
  const columns = spec === undefined ? [] : keyOf(spec)
  return rows.map((row) => {
    const values = JSON.parse(row) as Readonly<Record<string, unknown>>
    return { stream, key: columns.map((column) => values[column]), why, row }
  })
}

/** Shorter texts say nothing: they are in many rows. */
const LEAST_NAME = 3
/** Names that count although others have them, too. */
const NAMES: readonly string[] = ['firstName', 'lastName']

/** A value that can tell who the person is. */
export interface PersonName {
  readonly text: string
  /** Whether another person has it, too. */
  readonly isShared: boolean
}

/**
 * The names and numbers of a person, from the rows that were found: the texts that the schemas call identifying or secret, and
 * the values of references. What others have, too, such as a town, is left out, unless it is a name.
 */
export async function personNames(
  connection: DuckDBConnection,
  tables: readonly StreamTable[],
  rows: readonly FoundRow[],
): Promise<PersonName[]> {
  const { properties } = readStreamSchema(PEOPLE)
  const own = Object.entries(properties)
    .filter(([, field]) => ['identifying', 'secret'].includes(privacyClassOf(field)))
    .map(([name]) => name)
  const people = tables.find(({ table }) => table === PEOPLE)
  const names = new Map<string, PersonName>()
  for (const { stream, row } of rows) {
    const values = JSON.parse(row) as Readonly<Record<string, unknown>>
    const members = stream === PEOPLE ? own : stream === REFERENCES ? ['value'] : []
    for (const member of members)
      for (const { text, steps } of leaves(values[member])) {
        if (text.length < LEAST_NAME || names.has(text)) continue
        const isShared =
          stream === PEOPLE &&
          people !== undefined &&
          (await othersHave(people, member, steps, text))
        if (!isShared || NAMES.includes(member)) names.set(text, { text, isShared })
      }
  }
  return [...names.values()]

  async function othersHave(
    table: StreamTable,
    member: string,
    steps: readonly string[],
    text: string,
  ): Promise<boolean> {
    const column = table.columns.find(({ property }) => property === member)?.name ?? member
    const query = `SELECT 1 FROM main.${PEOPLE} AS source WHERE ${valueAt(column, steps)} = ${literal(text)} AND (${isPersons(table)}) IS NOT TRUE LIMIT 1`
    return (await texts(connection, query)).length > 0
  }
}

interface Leaf {
  readonly text: string
  readonly steps: readonly string[]
}

function leaves(value: unknown): Leaf[] {
  if (typeof value === 'string') return [{ text: value.trim(), steps: [] }]
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    leaves(inner).map(({ text, steps }) => ({ text, steps: [name, ...steps] })),
  )
}

/** Columns whose texts are of one person, or of none: a name there is no sentence about somebody. */
function isFreeText({ property }: Column, stream: string): boolean {
  const { properties } = readStreamSchema(stream)
  if (stream === PEOPLE || stream === REFERENCES) return properties[property] === undefined
  return property !== 'changeVersion' && property !== 'id'
}

/** Finds rows of others with texts that have one of the names or numbers as a word of its own. Somebody has to judge them. */
export async function rowsToJudge(
  connection: DuckDBConnection,
  tables: readonly StreamTable[],
  names: readonly PersonName[],
): Promise<FoundRow[]> {
  const found: FoundRow[] = []
  for (const table of tables)
    for (const column of table.columns.filter((one) => isFreeText(one, table.stream))) {
      const isJson = column.type === 'JSON'
      if (!isJson && column.type !== 'VARCHAR') continue
      // A number in JSON may be any id.
      const wanted = names.filter(({ text }) => !isJson || /\p{L}/u.test(text))
      if (wanted.length === 0) continue
      const matches = `regexp_matches(CAST(source.${quoted(column.name)} AS VARCHAR), ${literal(wordsOf(wanted))}, 'i')`
      const condition = `${matches} AND (${isPersons(table)}) IS NOT TRUE`
      found.push(
        ...(await rowsOf(connection, table, condition, `to be judged: ${column.property}`)),
      )
    }
  return found
}

function wordsOf(names: readonly PersonName[]): string {
  const words = names.map(({ text }) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return `(^|[^\\pL\\pN])(${words.join('|')})([^\\pL\\pN]|$)`
}
