import { ConnectorError } from '../ground/errors.ts'
import type { Column } from './column.ts'
import { freeName, takenNames } from './column-names.ts'
import { fits } from './fit.ts'
import type { Dialect, Limits } from './landing.ts'

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
  readonly #sql: Dialect
  readonly #others: Iterable<string>

  constructor(sql: Dialect, ofTable: readonly Column[], others: Iterable<string>) {
    this.#sql = sql
    this.ofTable = [...ofTable]
    this.#others = others
  }

  /** Whether a column can store a JSON value without loss: from `start` to `end`, quotes included, and not null. */
  canStore(index: number, lines: Buffer, start: number, end: number): boolean {
    const { type } = this.ofRows[index] as Column
    return fits(type, lines, start, end) && this.#sql.storable(type, lines, start, end)
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
    return known ?? columnOfNewMember(property, this.ofTable, this.#others, this.#sql.limits)
  }

  /** The column that the rows need for values that do not fit the column with this index. */
  variantOf(index: number): Column {
    const column = this.ofRows[index] as Column
    const known = this.ofTable.find((one) => one.variantOf === column.name)
    return known ?? variantOf(column, takenNames(this.ofTable, this.#others), this.#sql.limits)
  }
}

/** The column of a member that the table does not have; `others` are as for `takenNames`. */
function columnOfNewMember(
  property: string,
  columns: readonly Column[],
  others: Iterable<string>,
  limits: Limits,
): Column {
  if (columns.length >= limits.columns)
    throw new ConnectorError(
      'system',
      'too-many-members',
      `The records have more than ${limits.columns} different members, more than a table can have. Tell the operator of the service. When its records have fewer, sync once with --rewrite, or in PostgreSQL into another schema: the table still has the columns of earlier ones.`,
    )
  return { property, name: freeName(property, takenNames(columns, others), limits), type: 'JSON' }
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string
}

/** The second column of a typed one, for values that do not fit it. */
function variantOf({ property, name }: Column, taken: Set<string>, limits: Limits): Column {
  const own = freeName(`${name}_json`, taken, limits)
  return { property, name: own, type: 'JSON', variantOf: name }
}
