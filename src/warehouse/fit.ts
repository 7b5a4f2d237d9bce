import { normalised } from '../records/json-digest.ts'
import type { ColumnType } from './column.ts'
import type { Dialect } from './landing.ts'

// The definition of what fits into a column, for the loader and for the views: a value fits if it has the form of its
// type here and the type holds it exactly. What does not fit is null, never rounded and never taken for something else.
// The dbt package has the same forms in its macros.

/** A type whose values are not as they are written. */
type Formed = Exclude<ColumnType, 'VARCHAR' | 'JSON'>

const DAY = '-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])'
const INTEGER = '-?(0|[1-9]\\d*)'

/** The form of the values of each type, in the syntax that JavaScript and the engines share. */
const FORMS: Readonly<Record<Formed, string>> = {
  BIGINT: INTEGER,
  DOUBLE: `${INTEGER}(\\.\\d+)?([eE][+-]?\\d+)?`,
  BOOLEAN: 'true|false',
  // DuckDB takes the year 0 as the first one before Christ.
  DATE: `(000[1-9]|00[1-9]\\d|0[1-9]\\d\\d|[1-9]\\d{3})${DAY}`,
  // The years are the range of nanoseconds since 1970. DuckDB accepts no time zone after a time without seconds.
  TIMESTAMP_NS: `(1678|1679|16[89]\\d|1[7-9]\\d\\d|2[01]\\d\\d|22[0-5]\\d|226[01])${DAY}[T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)?)?`,
}

const WHOLE = new Map(
  Object.entries(FORMS).map(([type, form]) => [type, new RegExp(`^(${form})$`)] as const),
)

const QUOTE = 0x22

/**
 * Whether a column of this type can store a JSON value without loss: from `start` to `end`, quotes included, and not
 * null. Days and times are JSON texts, the others are not.
 */
export function fits(type: ColumnType, bytes: Buffer, start: number, end: number): boolean {
  if (type === 'JSON') return true
  const isText = bytes[start] === QUOTE
  if (type === 'VARCHAR') return isText
  if (isText !== (type === 'DATE' || type === 'TIMESTAMP_NS')) return false
  const json = unescaped(bytes, start, end)
  const text = isText ? json.slice(1, -1) : json
  return WHOLE.get(type)?.test(text) === true && isExact(type, text)
}

/** The text of a JSON value of ASCII, quotes included, without the escapes that JSON allows for any character. */
export function unescaped(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('latin1', start, end)
  return bytes[start] === QUOTE && text.includes('\\') ? `"${JSON.parse(text)}"` : text
}

/** Whether the type has exactly the value of a text of its form. */
function isExact(type: Formed, text: string): boolean {
  if (type === 'BIGINT') return text.length < 19 || isInt64(text)
  if (type === 'BOOLEAN') return true
  if (type === 'DOUBLE') return isExactDouble(text)
  return isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
}

function isInt64(text: string): boolean {
  return text.length <= 20 && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

function isExactDouble(text: string): boolean {
  const value = Number(text)
  return Number.isFinite(value) && normalised(text) === normalised(String(value))
}

/** A day that does not exist would be another one. */
function isDay(text: string): boolean {
  return new Date(Date.parse(text)).toISOString().startsWith(text)
}

/**
 * The value of a text as this type, in SQL; null if it does not fit. `written` is the number as the service wrote it, if
 * `text` may have been rounded.
 */
export function fitting(sql: Dialect, text: string, type: ColumnType, written = text): string {
  if (type === 'VARCHAR' || type === 'JSON') return `(${text})`
  return sql.tryCast(text, type, FORMS[type], written)
}
