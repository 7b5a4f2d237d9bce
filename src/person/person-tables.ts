import { isJsonObject } from '../ground/json.ts'
import { spelling } from '../ground/text.ts'
import { type PrivacySettings, privacyClassOf } from '../privacy/privacy-settings.ts'
import { redactionOfStream } from '../privacy/redaction.ts'
import {
  type OwnedIds,
  ownedCollections,
  PEOPLE,
  type PersonPath,
  personPathsOf,
  REFERENCES,
} from '../streams/person-paths.ts'
import { keyOf, readStreamSchema, streams } from '../streams/streams.ts'
import { type Column, KNOWN_FROM, KNOWN_UNTIL } from '../warehouse/column.ts'
import type { Dialect, Landing } from '../warehouse/landing.ts'
import { closedName, nextName, quoted } from '../warehouse/sql.ts'
import { storedColumns } from '../warehouse/tables.ts'

/** A table of a stream, or the one of rows that wait for the end of a read, or that of closed versions. */
interface StreamTable {
  readonly stream: string
  /** Its name in SQL, with the schema. */
  readonly table: string
  readonly has: 'rows' | 'rows that wait' | 'closed versions'
  readonly columns: readonly Column[]
  /** The members of the objects in the columns that lead to a person, by column. */
  readonly members: ReadonlyMap<string, readonly string[]>
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
  readonly owned: OwnedIds
  readonly rows: readonly FoundRow[]
  /** Rows of others with texts that may be about the person. */
  readonly toJudge: readonly FoundRow[]
  /** Names and numbers that only the person has. */
  readonly ownNames: readonly string[]
  /** False if none is given, and the file has no row in people, or one without readable names. */
  readonly areNamesKnown: boolean
}

/** Finds everything that an open file has about a person: rows, what they were before, and those that wait. */
export async function readPerson(
  landing: Landing,
  id: string,
  privacy: PrivacySettings,
  given: readonly string[] = [],
): Promise<PersonData> {
  const { tables, owned } = await personTables(landing, id)
  const rows: FoundRow[] = []
  for (const table of tables) {
    const why = personPathsOf(table.stream).map((path) => path.join('.'))
    rows.push(...(await rowsOf(landing, table, table.isPersons, why.join(', '))))
  }
  const { names, ownNames } = await namesOf(landing, tables, rows, given)
  const toJudge: FoundRow[] = []
  for (const table of tables)
    for (const { property, condition } of namedIn(landing, table, names)) {
      const why = `to be judged: ${property}${table.has === 'closed versions' ? ' of an earlier version' : ''}`
      toJudge.push(...(await rowsOf(landing, table, condition, why)))
    }
  const isInPeople = rows.some(({ stream }) => stream === PEOPLE)
  const areNamesKnown = given.length > 0 || (isInPeople && areNamesKept(privacy))
  return { tables, owned, rows, ownNames, areNamesKnown, toJudge }
}

/** The tables in a file or a schema with the rows of streams, and whose rows are the person's. */
export async function personTables(
  landing: Landing,
  id: string,
): Promise<{ readonly tables: readonly StreamTable[]; readonly owned: OwnedIds }> {
  const { sql } = landing
  const found: Omit<StreamTable, 'isPersons'>[] = []
  for (const table of await streamTables(landing))
    found.push({ ...table, members: await membersIn(landing, table) })
  const owned = new Map([[PEOPLE, new Set([id])]])
  for (const { collection, stream } of ownedCollections()) {
    const own = found.filter((table) => table.stream === stream)
    const ids = await ownedIds(landing, own, owned)
    if (ids.size > 0) owned.set(collection, ids)
  }
  const tables = found.map((table) => ({ ...table, isPersons: isOwned(sql, table, owned) }))
  return { tables, owned }
}

/** From what was known first to what is known last. */
const ORDER = ['closed versions', 'rows', 'rows that wait'] as const

/** The ids of the records in these tables that are the person's, by the last row of each: it may have been somebody else's before. */
async function ownedIds(
  landing: Landing,
  tables: readonly Omit<StreamTable, 'isPersons'>[],
  owned: OwnedIds,
): Promise<Set<string>> {
  const { sql } = landing
  const ids = new Set<string>()
  for (const part of ORDER)
    for (const table of tables.filter(({ has }) => has === part)) {
      const order = part === 'closed versions' ? ` ORDER BY source.${KNOWN_UNTIL}` : ''
      const isOwn = `CASE WHEN ${isOwned(sql, table, owned)} THEN 1 ELSE 0 END`
      for (const text of textsAt(sql, table, ['id'])) {
        const rows = `SELECT ${text}, ${isOwn} FROM ${table.table} AS source WHERE ${text} IS NOT NULL${order}`
        for (const [id, is] of await landing.query(rows))
          if (is === '1') ids.add(String(id))
          else ids.delete(String(id))
      }
    }
  return ids
}

async function streamTables(
  landing: Landing,
): Promise<Omit<StreamTable, 'isPersons' | 'members'>[]> {
  const { tables, account } = landing.sql.schemas
  const rows = await landing.query(`SELECT table_schema, table_name, column_name
    FROM information_schema.columns WHERE table_catalog = current_database()`)
  const present = new Set(rows.map((names) => names.map((name) => quoted(String(name))).join('.')))
  return [...(await storedColumns(landing))].flatMap(([stream, stored]) =>
    (
      [
        [tables, stream, 'rows'],
        [account, nextName(stream), 'rows that wait'],
        [account, closedName(stream), 'closed versions'],
      ] as const
    ).flatMap(([schema, name, has]) => {
      const table = `${quoted(schema)}.${quoted(name)}`
      const columns = stored.filter((column) => present.has(`${table}.${quoted(column.name)}`))
      if (!streams.has(stream) || columns.length === 0) return []
      return [{ stream, table, has, columns }]
    }),
  )
}

/** Whether a row of `source` has one of these ids at a path that leads to them, as SQL. */
function isOwned(sql: Dialect, table: Columns, owned: OwnedIds): string {
  const conditions = personPathsOf(table.stream)
    .flatMap((path) => textsAt(sql, table, path))
    .flatMap((text) =>
      [...owned].flatMap(([collection, ids]) => {
        const isHere = `${text} IN (${[...ids].map(sql.literal).join(', ')})`
        if (table.stream === REFERENCES)
          return `coalesce(source."collection" = ${sql.literal(collection)} AND ${isHere}, false)`
        return collection === PEOPLE ? `coalesce(${isHere}, false)` : []
      }),
    )
  return conditions.join(' OR ') || 'false'
}

/**
 * The texts at a path in the rows of `source`, as SQL, whatever the spelling of its names: a value that does not fit into its column
 * is in a variant of it.
 */
function textsAt(sql: Dialect, table: Columns, [member, ...rest]: PersonPath): string[] {
  return table.columns
    .filter(({ property }) => spelling(property) === spelling(member))
    .flatMap(({ name, type, variantOf }) => {
      const given = `source.${quoted(name)}`
      const value = variantOf === undefined ? given : sql.readable(given)
      if (type !== 'JSON') return `CAST(${value} AS ${sql.type('VARCHAR')})`
      return pointersOf(name, rest, table).map((pointer) => `(${sql.textAt(value, pointer)})`)
    })
}

/** The JSON pointers in a column to a path. */
function pointersOf(column: string, [first, ...rest]: readonly string[], { members }: Columns) {
  if (first === undefined) return ['']
  const same = members.get(column)?.filter((name) => spelling(name) === spelling(first)) ?? []
  return [...new Set([first, ...same])].map((name) => `/${[name, ...rest].join('/')}`)
}

/** More members have no objects that lead to a person. */
const MOST_MEMBERS = 1000

/** See `StreamTable.members`. */
async function membersIn(
  { sql, query }: Landing,
  { stream, table, columns }: Pick<StreamTable, 'stream' | 'table' | 'columns'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const members = new Map<string, readonly string[]>()
  const objects = personPathsOf(stream).filter(({ length }) => length > 1)
  for (const { name, property, type, variantOf } of columns) {
    if (type !== 'JSON') continue
    if (!objects.some(([member]) => spelling(member) === spelling(property))) continue
    const value = variantOf === undefined ? quoted(name) : sql.readable(quoted(name))
    const rows = `(SELECT ${value} AS value FROM ${table}) AS added WHERE true`
    const found = await query(sql.members('value', '', rows, MOST_MEMBERS))
    members.set(
      name,
      found.map(([member]) => String(member)),
    )
  }
  return members
}

type Columns = Pick<StreamTable, 'stream' | 'columns' | 'members'>

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

/** The values of a row, by its columns. */
export const membersOf = (row: string) => JSON.parse(row) as Readonly<Record<string, unknown>>

/** Shorter texts are in many rows, but for names. */
const LEAST_TEXT = 3
const LEAST_NAME = 2
/** Names that say something although others have them, too. */
const NAMES: readonly string[] = ['firstName', 'lastName']

/** Whether the warehouse has the names of people as the service has them. */
function areNamesKept(privacy: PrivacySettings): boolean {
  const people = streams.get(PEOPLE)
  const outcomes = people && redactionOfStream(people, privacy).outcomes
  return NAMES.every((name) => outcomes?.has(name) === false)
}

/**
 * The names and numbers of a person: texts that the schema calls identifying or secret, and values of references, and those
 * that are given. What others have, too, such as a town, is left out unless it is a name or given.
 */
async function namesOf(
  landing: Landing,
  tables: readonly StreamTable[],
  rows: readonly FoundRow[],
  given: readonly string[],
) {
  const own = Object.entries(readStreamSchema(PEOPLE).properties)
    .filter(([, field]) => ['identifying', 'secret'].includes(privacyClassOf(field)))
    .map(([name]) => name)
  const [names, ownNames] = [new Set<string>(), new Set<string>()]
  const people = tables.find(({ stream, has }) => stream === PEOPLE && has === 'rows')
  for (const { stream, row } of rows)
    for (const member of stream === PEOPLE ? own : stream === REFERENCES ? ['value'] : []) {
      const value = membersOf(row)[member]
      const isName = NAMES.includes(member)
      for (const text of isJsonObject(value) ? Object.values(value) : [value])
        if (typeof text === 'string' && text.length >= (isName ? LEAST_NAME : LEAST_TEXT))
          await note(text, isName)
    }
  for (const text of given) await note(text, true)
  return { names: [...names], ownNames: [...ownNames] }

  async function note(text: string, isName: boolean): Promise<void> {
    const isOwn = people === undefined || !(await othersHave(people, text))
    // Two bytes are in any file.
    if (isOwn && text.length >= LEAST_TEXT) ownNames.add(text)
    if (isOwn || isName) names.add(text)
  }

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
