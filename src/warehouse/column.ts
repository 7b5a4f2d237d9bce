import { ConnectorError } from '../ground/errors.ts'
import type { JsonSchema } from '../records/stream-spec.ts'

/** The DuckDB types of columns. JSON accepts every value unchanged. */
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
  /** Its name in SQL, which ignores the case of names. */
  readonly name: string
  readonly type: ColumnType
  /** The name of the column whose unfitting values this one has. */
  readonly variantOf?: string | undefined
}

/** The connector's own columns in each table. */
export const GENERATION = '_generation'
export const DELETED_AT = '_deleted_at'
/** The connector's own columns until rows are in a table. */
export const HELPER = {
  op: '_protime_op',
  row: '_protime_row',
  content: '_protime_content',
  isGone: '_protime_is_gone',
} as const
/** Names that no member gets. */
const OWN = [GENERATION, DELETED_AT, ...Object.values(HELPER)]
/** Names of the service are cut to this many characters. */
const LONGEST_NAME = 200
/** Records with more members than this are a fault of the service. */
const MAX_COLUMNS = 500

/** The columns of a schema, one per property and in its order. */
export function columnsOf({ properties = {} }: JsonSchema): Column[] {
  const taken = takenNames([])
  return Object.entries(properties).map(([property, schema]) => ({
    property,
    name: freeName(property, taken),
    type: columnType(schema),
  }))
}

/** The type that can store every value of a schema; mixtures, objects and lists are JSON. */
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

/** The second column of a typed one, for values that do not fit it. */
function variantOf({ property, name }: Column, taken: Set<string>): Column {
  const own = freeName(`${name}_json`, taken)
  return { property, name: own, type: 'JSON', variantOf: name }
}

/** The names that another column of the table cannot have, in lower case; `others` are those of columns of other people. */
export function takenNames(columns: readonly Column[], others: Iterable<string> = []): Set<string> {
  return new Set([...OWN, ...columns.map(({ name }) => name.toLowerCase()), ...others])
}

/**
 * The name as SQL can have it, with a number where one is taken that differs by case only. The service may
 * choose any name: SQL has none without a character or with a NUL, and nobody can see control characters.
 */
export function freeName(wanted: string, taken: Set<string>): string {
  const shown = wanted.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '_')
  const base = [...shown].slice(0, LONGEST_NAME).join('') || 'column'
  let name = base
  for (let n = 1; taken.has(name.toLowerCase()); n += 1) name = `${base}_${n}`
  taken.add(name.toLowerCase())
  return name
}

/** The name for a variant, which no member can have: its values are found by the member of its column. */
const NO_NAME = Buffer.from('"')

/** The columns of a table, and those of its rows; the values of a row have the indexes of the latter. */
export class RowColumns {
  readonly ofTable: Column[]
  /** Without the columns for which no record so far had a value. */
  readonly ofRows: Column[] = []
  /** The index of each column's variant; -1 if the rows have none. */
  readonly variants: number[] = []
  /** The index of each member's column, by the bytes of its name. */
  readonly #indexes = new Map<string, number>()
  readonly #others: Iterable<string>

  constructor(ofTable: readonly Column[], others: Iterable<string>) {
    this.ofTable = [...ofTable]
    this.#others = others
  }

  /** Adds a column to the rows, and to the table if that lacks it. Returns the name of its member. */
  add(column: Column): Buffer {
    if (!this.ofTable.includes(column)) this.ofTable.push(column)
    const index = this.ofRows.push(column) - 1
    this.variants.push(-1)
    const base = this.ofRows.findIndex(({ name }) => name === column.variantOf)
    if (base >= 0) {
      this.variants[base] = index
      return NO_NAME
    }
    const name = Buffer.from(column.property)
    this.#indexes.set(name.toString('latin1'), index)
    return name
  }

  /** The index of a member's column by its name, which is between these positions; -1 if the rows have none. */
  indexOf(lines: Buffer, start: number, end: number): number {
    const name = lines.toString('latin1', start, end)
    const index = this.#indexes.get(name) ?? -1
    if (index >= 0 || !name.includes('\\')) return index
    const property = nameOf(lines, start, end)
    return this.ofRows.findIndex((column) => column.property === property)
  }

  /** The column that the rows need for a member, by its name. */
  columnOf(lines: Buffer, start: number, end: number): Column {
    const property = nameOf(lines, start, end)
    const known = this.ofTable.find((column) => column.property === property)
    return known ?? columnOfNewMember(property, this.ofTable, this.#others)
  }

  /** The column that the rows need for values that do not fit the column with this index. */
  variantOf(index: number): Column {
    const column = this.ofRows[index] as Column
    const known = this.ofTable.find((one) => one.variantOf === column.name)
    return known ?? variantOf(column, takenNames(this.ofTable, this.#others))
  }
}

/** The column of a member that the table does not have; `others` are as for `takenNames`. */
function columnOfNewMember(
  property: string,
  columns: readonly Column[],
  others: Iterable<string>,
): Column {
  if (columns.length >= MAX_COLUMNS)
    throw new ConnectorError(
      'system',
      'too-many-members',
      `The records have more than ${MAX_COLUMNS} different members, more than a table can have. Tell the operator of the service. When its records have fewer, sync once with --rewrite: the table still has the columns of earlier ones.`,
    )
  return { property, name: freeName(property, takenNames(columns, others)), type: 'JSON' }
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string
}
