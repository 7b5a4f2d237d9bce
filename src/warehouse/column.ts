import type { JsonSchema } from '../protocol/stream-spec.ts'

/** DuckDB's types, as far as columns have them. JSON takes every value as it came. */
export type ColumnType =
  | 'BIGINT'
  | 'DOUBLE'
  | 'BOOLEAN'
  | 'DATE'
  | 'TIMESTAMP_NS'
  | 'VARCHAR'
  | 'JSON'

/** A column of a stream's table. */
export interface Column {
  /** The member of the records. */
  readonly property: string
  /** Its name in SQL, which does not tell names apart by case. */
  readonly name: string
  readonly type: ColumnType
}

/** Names of ours, which no member takes. */
export const GENERATION = '_generation'
export const DELETED_AT = '_deleted_at'

/** The columns of a schema, one per property and in its order. */
export function columnsOf({ properties = {} }: JsonSchema): Column[] {
  const taken = takenNames([])
  return Object.entries(properties).map(([property, schema]) => ({
    property,
    name: freeName(property, taken),
    type: columnType(schema),
  }))
}

/** The type that holds every value of a schema; mixtures, objects and lists stay JSON. */
export function columnType({ type = [], format }: JsonSchema): ColumnType {
  const [first, ...others] = [type].flat().filter((one) => one !== 'null')
  if (others.length > 0) return 'JSON'
  if (first === 'integer') return 'BIGINT'
  if (first === 'number') return 'DOUBLE'
  if (first === 'boolean') return 'BOOLEAN'
  if (first !== 'string') return 'JSON'
  if (format === 'date') return 'DATE'
  return format === 'date-time' ? 'TIMESTAMP_NS' : 'VARCHAR'
}

/** The names that another column of the table cannot have, in lower case. */
export function takenNames(columns: readonly Column[]): Set<string> {
  return new Set([GENERATION, DELETED_AT, ...columns.map(({ name }) => name.toLowerCase())])
}

/** The name itself, or with a number where another one is taken that differs by case only. */
export function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let n = 1; taken.has(name.toLowerCase()); n += 1) name = `${wanted}_${n}`
  taken.add(name.toLowerCase())
  return name
}
