import { type Column, KNOWN_FROM } from './column.ts'
import type { Dialect } from './landing.ts'

/** Quotes a name for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** What statements need to know about a table with rows of a stream. */
export interface Table {
  /** The name of the stream. */
  readonly name: string
  /** Its name in SQL, with the schema. */
  readonly place: string
  readonly columns: readonly Column[]
  /** The members of the primary key. */
  readonly keys: readonly string[]
  /** See `StreamSpec.version`. */
  readonly version?: string | undefined
  /** Undefined if only what is true now is kept. */
  readonly history: History | undefined
  /** The columns in lower case that others have added. */
  readonly others: ReadonlySet<string>
}

/** Where the rows of a table are kept as they were before, as closed versions. */
export interface History {
  /** The name of the table of closed versions in SQL. */
  readonly place: string
  /** Whether the stream has been read to its end: before, a row that is replaced is not a version. */
  readonly hasBegun: boolean
  /** The members of records that a complete read has had. See `settle`. */
  readonly members: ReadonlySet<string>
}

/** The columns of the primary key, without variants. */
export function keyColumns({ columns, keys }: Table): Column[] {
  return columns.filter(
    ({ property, variantOf }) => variantOf === undefined && keys.includes(property),
  )
}

/** The name of the table in the schema of the account where rows of a stream wait: the next table. */
export function nextName(stream: string): string {
  return `next_${stream}`
}

/** The next table, whose rows will be those of the table when a read is complete. */
export function nextOf({ schemas: { account } }: Dialect, table: Table): Table {
  return {
    ...table,
    place: `${account}.${quoted(nextName(table.name))}`,
    history: undefined,
    others: new Set(),
  }
}

/** The name of the table of a stream's closed versions in the schema of the account. */
export function closedName(stream: string): string {
  return `closed_${stream}`
}

/** The name of that table in SQL. */
export function closedPlace({ schemas: { account } }: Dialect, stream: string): string {
  return `${account}.${quoted(closedName(stream))}`
}

/** Creates a table if it does not exist. */
export function createTable(
  sql: Dialect,
  { place, columns }: Pick<Table, 'place' | 'columns'>,
  kind = 'TABLE',
  own: readonly string[] = [KNOWN_FROM],
): string {
  const all = [
    ...columns.map(({ name, type }) => `${quoted(name)} ${sql.type(type)}`),
    ...own.map((name) => `${name} TIMESTAMPTZ`),
  ]
  return `CREATE ${kind} IF NOT EXISTS ${place} (${all.join(', ')})`
}

/** Updates the columns of a table: new ones are added at the end, and variants may be dropped. */
export function alterTable(
  sql: Dialect,
  place: string,
  before: readonly Column[],
  now: readonly Column[],
): string[] {
  const missing = (from: readonly Column[], those: readonly Column[]) => {
    const names = new Set(those.map((column) => column.name))
    return from.filter((column) => !names.has(column.name))
  }
  return [
    ...missing(before, now).map(
      (column) => `ALTER TABLE ${place} DROP COLUMN ${quoted(column.name)}`,
    ),
    ...missing(now, before).map(
      (column) => `ALTER TABLE ${place} ADD COLUMN ${quoted(column.name)} ${sql.type(column.type)}`,
    ),
  ]
}
