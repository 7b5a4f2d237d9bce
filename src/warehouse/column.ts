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
export function variantOf({ property, name }: Column, taken: Set<string>): Column {
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

const QUOTE = 0x22
/** DuckDB accepts no time zone after a time without seconds. */
const TIME = /^(\d{4})-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?)?$/

/**
 * Whether a column of this type can store a JSON value without loss: from `start` to `end`, quotes included,
 * and not null.
 */
export function fits(type: ColumnType, bytes: Buffer, start: number, end: number): boolean {
  if (type === 'JSON') return true
  if (type === 'VARCHAR') return bytes[start] === QUOTE
  const text = bytes.toString('latin1', start, end)
  switch (type) {
    case 'BIGINT':
      return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
    case 'BOOLEAN':
      return text === 'true' || text === 'false'
    case 'DOUBLE':
      return isExactDouble(text)
    case 'DATE':
      return /^"\d{4}-\d\d-\d\d"$/.test(text) && isDay(text.slice(1, -1))
    case 'TIMESTAMP_NS':
      return isTime(text.slice(1, -1))
  }
}

function isExactDouble(text: string): boolean {
  if (!/^[-\d]/.test(text)) return false
  const value = Number(text)
  return Number.isFinite(value) && normalised(text) === normalised(String(value))
}

/** The digits of a number and its exponent, `12e-1`: the same for all ways to write it. */
export function normalised(text: string): string {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + digits.length - significant.length
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`
}

/** The date does not exist if the resulting time is on another day. DuckDB takes the year 0 as the first one before Christ. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  if (text.startsWith('0000')) return false
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function isTime(text: string): boolean {
  const [, year] = TIME.exec(text) ?? []
  // The range of nanoseconds since 1970.
  const isInRange = Number(year) >= 1678 && Number(year) <= 2261
  return isInRange && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
}
