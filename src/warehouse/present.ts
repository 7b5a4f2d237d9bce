import type { OwnTables, PresentTables, ViewDigests } from './landing.ts'

/** What an engine selects of what exists. */
interface Selects {
  /** Table, column and type of the columns in the schema of the streams' tables. */
  readonly columns: string
  /** Schema and name of what is in the place of a table or a view of ours, with a dot between. */
  readonly others: string
}

type Query = (sql: string) => Promise<readonly (readonly (string | null)[])[]>

/**
 * Reads what exists in a landing. Names are compared in lower case, but not by an engine's own `lower`: DuckDB gives a few
 * letters another one. The last of two names that differ only in case counts.
 */
export async function presentTables(query: Query, selects: Selects): Promise<PresentTables> {
  const columns = new Map<string, Map<string, string>>()
  for (const [table = '', column = '', type = ''] of await lowerCased(query, selects.columns))
    columns.set(table, (columns.get(table) ?? new Map()).set(column, type.toUpperCase()))
  const others = new Set((await lowerCased(query, selects.others)).map(([name]) => name))
  return {
    columnsOf: (name) => columns.get(name.toLowerCase()),
    inTheWayOf: (schema, name) => [placeOf(schema, name)].find((one) => others.has(one)),
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
  return (name) => own.has(name.toLowerCase())
}

function placeOf(schema: string, name: string): string {
  return `${schema}.${name}`.toLowerCase()
}

async function lowerCased(query: Query, sql: string): Promise<string[][]> {
  return (await query(sql)).map((row) => row.map((name) => String(name).toLowerCase()))
}
