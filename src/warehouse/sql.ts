import { type Column, DELETED_AT, KNOWN_FROM } from './column.ts'
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
  /** Keeps deleted rows, with the time in `_deleted_at`. */
  readonly keepsDeleted: boolean
  /** The columns in lower case that others have added. */
  readonly others: ReadonlySet<string>
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
  return { ...table, place: `${account}.${quoted(nextName(table.name))}`, others: new Set() }
}

/** Creates a table if it does not exist. */
export function createTable(
  sql: Dialect,
  { place, columns, keepsDeleted }: Table,
  kind = 'TABLE',
): string {
  const own = [`${KNOWN_FROM} TIMESTAMPTZ`, ...(keepsDeleted ? [`${DELETED_AT} TIMESTAMPTZ`] : [])]
  const all = [...columns.map(({ name, type }) => `${quoted(name)} ${sql.type(type)}`), ...own]
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
