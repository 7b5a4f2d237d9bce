import { isJsonObject } from '../ground/json.ts'
import { privacyClassOf } from '../privacy/privacy-settings.ts'
import { PEOPLE, personPathsOf, REFERENCES } from '../streams/person-paths.ts'
import { keyOf, readStreamSchema, streams } from '../streams/streams.ts'
import { type Column, KNOWN_FROM } from '../warehouse/column.ts'
import type { Landing } from '../warehouse/landing.ts'
import { closedName, nextName, quoted } from '../warehouse/sql.ts'
import { storedColumns } from '../warehouse/tables.ts'
import { leadsTo } from './conditions.ts'

/** A table of a stream, or the one of rows that wait for the end of a read, or that of closed versions. */
interface StreamTable {
  readonly stream: string
  /** Its name in SQL, with the schema. */
  readonly table: string
  readonly has: 'rows' | 'rows that wait' | 'closed versions'
  readonly columns: readonly Column[]
  /** Whether a row of `source` is the person's, as SQL. */
  readonly isPersons: string
}

/** A row of a file. */
export interface FoundRow {
  readonly stream: string
  /** The value of the primary key; a list for a key of several columns. */
  readonly key: unknown
  /** The paths of the person's id, or what else has led to the row. */
  readonly why: string
  /** JSON text, without the moment from which the row is known. */
  readonly row: string
  /** Whether the row was only so before. */
  readonly isClosed: boolean
}

/** What a file has about a person. */
export interface PersonData {
  readonly tables: readonly StreamTable[]
  readonly rows: readonly FoundRow[]
  /** Rows of others with texts that may be about the person. */
  readonly toJudge: readonly FoundRow[]
  /** Names and numbers that only the person has. */
  readonly ownNames: readonly string[]
}

/** Finds everything that an open file has about a person: rows, what they were before, and those that wait. */
export async function readPerson(landing: Landing, id: string): Promise<PersonData> {
  const tables = await streamTables(landing, id)
  const rows: FoundRow[] = []
  for (const table of tables) {
    const why = personPathsOf(table.stream).map((path) => path.join('.'))
    rows.push(...(await rowsOf(landing, table, table.isPersons, why.join(', '))))
  }
  const { names, ownNames } = await namesOf(landing, tables, rows)
  const toJudge: FoundRow[] = []
  for (const table of tables)
    for (const { property, condition } of namedIn(landing, table, names)) {
      const why = `to be judged: ${property}${table.has === 'closed versions' ? ' of an earlier version' : ''}`
      toJudge.push(...(await rowsOf(landing, table, condition, why)))
    }
  return { tables, rows, ownNames, toJudge }
}

async function streamTables(landing: Landing, id: string): Promise<StreamTable[]> {
  const present = new Set((await landing.query(COLUMNS)).map(([name]) => name))
  return [...(await storedColumns(landing))].flatMap(([stream, stored]) =>
    (
      [
        [`"main".${quoted(stream)}`, 'rows'],
        [`"_protime".${quoted(nextName(stream))}`, 'rows that wait'],
        [`"_protime".${quoted(closedName(stream))}`, 'closed versions'],
      ] as const
    ).flatMap(([table, has]) => {
      const columns = stored.filter(({ name }) => present.has(`${table}.${quoted(name)}`))
      if (!streams.has(stream) || columns.length === 0) return []
      const conditions = personPathsOf(stream).flatMap((path) =>
        columns
          .filter(({ property }) => property === path[0])
          .map(({ name }) => `coalesce(${leadsTo(id, stream, path, 'duckdb', name)}, false)`),
      )
      return [{ stream, table, has, columns, isPersons: conditions.join(' OR ') || 'false' }]
    }),
  )
}

const COLUMNS = `SELECT format('"{}"."{}"."{}"', schema_name, replace(table_name, '"', '""'), replace(column_name, '"', '""'))
  FROM duckdb_columns() WHERE database_name = current_database() AND schema_name IN ('main', '_protime')`

async function rowsOf(
  landing: Landing,
  { stream, table, has }: Pick<StreamTable, 'stream' | 'table' | 'has'>,
  condition: string,
  why: string,
): Promise<FoundRow[]> {
  const rows = await landing.jsonRows(
    `SELECT source.* EXCLUDE (${KNOWN_FROM}) FROM ${table} AS source WHERE ${condition}`,
  )
  const spec = streams.get(stream)
  const columns = spec === undefined ? [] : keyOf(spec)
  return rows.map((row) => {
    const key = columns.map((column) => membersOf(row)[column])
    const isClosed = has === 'closed versions'
    return { stream, key: key.length === 1 ? key[0] : key, why, row, isClosed }
  })
}

const membersOf = (row: string) => JSON.parse(row) as Readonly<Record<string, unknown>>

/** Shorter texts are in many rows. */
const LEAST_NAME = 3
/** Names that say something although others have them, too. */
const NAMES: readonly string[] = ['firstName', 'lastName']

/**
 * The names and numbers of a person: texts that the schema calls identifying or secret, and values of references. What others
 * have, too, such as a town, is left out unless it is a name.
 */
async function namesOf(
  landing: Landing,
  tables: readonly StreamTable[],
  rows: readonly FoundRow[],
) {
  const own = Object.entries(readStreamSchema(PEOPLE).properties)
    .filter(([, field]) => ['identifying', 'secret'].includes(privacyClassOf(field)))
    .map(([name]) => name)
  const [names, ownNames] = [new Set<string>(), new Set<string>()]
  const people = tables.find(({ stream, has }) => stream === PEOPLE && has === 'rows')
  for (const { stream, row } of rows)
    for (const member of stream === PEOPLE ? own : stream === REFERENCES ? ['value'] : []) {
      const value = membersOf(row)[member]
      for (const text of isJsonObject(value) ? Object.values(value) : [value]) {
        if (typeof text !== 'string' || text.length < LEAST_NAME) continue
        const isOwn = people === undefined || !(await othersHave(people, text))
        if (isOwn) ownNames.add(text)
        if (isOwn || NAMES.includes(member)) names.add(text)
      }
    }
  return { names: [...names], ownNames: [...ownNames] }

  async function othersHave({ isPersons }: StreamTable, text: string): Promise<boolean> {
    const query = `SELECT 1 FROM main.people AS source
      WHERE NOT (${isPersons}) AND contains(CAST(to_json(source) AS VARCHAR), ${landing.sql.literal(JSON.stringify(text))}) LIMIT 1`
    return (await landing.query(query)).length > 0
  }
}

/** Rows of others with a text that has one of the names or numbers as a word, as SQL by members. */
function namedIn(
  { sql }: Landing,
  table: StreamTable,
  names: readonly string[],
): { readonly property: string; readonly condition: string }[] {
  return table.columns
    .filter((column) => mayName(column, table))
    .flatMap(({ name, property, type }) => {
      // A number in JSON may be any id.
      const wanted = type === 'JSON' ? names.filter((text) => /\p{L}/u.test(text)) : names
      if (wanted.length === 0) return []
      const words = wanted.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
      const form = sql.literal(`(^|[^\\pL\\pN])(${words})([^\\pL\\pN]|$)`)
      const isNamed = `regexp_matches(CAST(source.${quoted(name)} AS VARCHAR), ${form}, 'i')`
      return [{ property, condition: `NOT (${table.isPersons}) AND ${isNamed}` }]
    })
}

/** Whether a column has texts that can name somebody else than its row is about. */
function mayName({ property, type }: Column, { stream }: StreamTable): boolean {
  if (type !== 'JSON' && type !== 'VARCHAR') return false
  const isUnknown = readStreamSchema(stream).properties[property] === undefined
  return isUnknown || (stream !== PEOPLE && stream !== REFERENCES && property !== 'changeVersion')
}
