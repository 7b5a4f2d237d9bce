import type { OwnTables, PresentTables, ViewDigests } from './landing.ts'

/** What an engine selects of what exists. */
interface Selects {
  /** Table, column and type of the columns in the schema of the streams' tables. */
  readonly columns: string
  /** Schema and name of what is in the place of a table or a view of ours, with a dot between. */
  readonly others: string
  /** A name of a table or a view as the engine distinguishes it. */
  readonly nameOf: (name: string) => string
}

type Query = (sql: string) => Promise<readonly (readonly (string | null)[])[]>

/** The name of an object where names that differ only in case are one: an engine's own `lower` gives a few letters another one. */
export const lowerCase = (name: string) => name.toLowerCase()

/**
 * Reads what exists in a landing. Names of columns are compared in lower case, so the last of two that differ only in case
 * counts.
 */
export async function presentTables(
  query: Query,
  { nameOf, ...selects }: Selects,
): Promise<PresentTables> {
  const columns = new Map<string, Map<string, string>>()
  for (const [name, column, type] of await query(selects.columns)) {
    const table = nameOf(String(name))
    const types = columns.get(table) ?? new Map<string, string>()
    columns.set(table, types.set(lowerCase(String(column)), String(type).toUpperCase()))
  }
  const others = new Set((await query(selects.others)).map(([name]) => nameOf(String(name))))
  return {
    columnsOf: (name) => columns.get(nameOf(name)),
    inTheWayOf: (schema, name) => [nameOf(`${schema}.${name}`)].find((one) => others.has(one)),
  }
}

/** Reads the digests of views, of which an engine renders the text. Selects schema and name as `others`, and the digest. */
export async function presentViews(query: Query, select: string): Promise<ViewDigests> {
  const views = new Map(
    (await lowerCased(query, select)).map(([name = '', digest = '']) => [name, digest]),
  )
  return (schema, name) => views.get(placeOf(schema, name)) ?? ''
}

/** Reads which tables the schema of the account has, whose names are selected. */
export async function presentOwn(query: Query, select: string): Promise<OwnTables> {
  const own = new Set((await lowerCased(query, select)).map(([name]) => name))
  return (name) => own.has(lowerCase(name))
}

function placeOf(schema: string, name: string): string {
  return lowerCase(`${schema}.${name}`)
}

async function lowerCased(query: Query, sql: string): Promise<string[][]> {
  return (await query(sql)).map((row) => row.map((name) => lowerCase(String(name))))
}
