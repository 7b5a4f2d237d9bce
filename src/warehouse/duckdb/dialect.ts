import type { Dialect } from '../landing.ts'

/** Names of the service are cut to this many characters. */
const LONGEST_NAME = 200

/** Writes a text as an expression in SQL. A statement would end at a NUL, so no literal contains one. */
export function literal(text: string): string {
  const parts = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`)
  return parts.length === 1 ? String(parts[0]) : `(${parts.join(' || chr(0) || ')})`
}

/** The words of DuckDB's SQL. */
export const duckDbDialect: Dialect = {
  schemas: { tables: 'main', flat: 'flat', history: 'history', account: '_protime' },
  limits: {
    columns: 500,
    nameOf: (wanted, suffix) => [...wanted].slice(0, LONGEST_NAME).join('') + suffix,
    reserved: [],
  },
  waiting: 'TABLE',
  // DuckDB has updated values in memory until it writes the file.
  updates: false,
  // Somebody may have added a column `rowid`.
  rowAt: undefined,
  type: (type) => type,
  storable: () => true,
  literal,
  retyped: (value, type) => `TRY_CAST(${value} AS ${type})`,
  same: (value) => value,
  textOf(value, type) {
    if (type === 'VARCHAR' || type === 'JSON') return value
    return type === 'TIMESTAMP_NS'
      ? `strftime(${value}, '%Y-%m-%dT%H:%M:%S.%n')`
      : `CAST(${value} AS VARCHAR)`
  },
  momentText: (value) => `strftime(${value} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`,
  readable: (value) => value,
  jsonAt: (value, pointer) => `(${value}->${literal(pointer)})`,
  textAt,
  numberAt(value, pointer) {
    // DuckDB rounds numbers that it takes out of an object.
    const name = JSON.stringify(pointer.split('/').at(-1)).replace(/\W/g, '\\$&')
    const number = `regexp_extract(${value}, ${literal(`${name}\\s*:\\s*(-?\\d[-+.eE\\d]*)`)}, 1)`
    return `coalesce(nullif(${number}, ''), ${textAt(value, pointer)})`
  },
  tryCast(text, type, form, written) {
    const cast = `TRY_CAST(${text} AS ${type})`
    const isSame = `${digits(written)} = ${digits(`CAST(${cast} AS VARCHAR)`)}`
    const exact = type === 'DOUBLE' ? ` AND ${isSame}` : ''
    return `CASE WHEN regexp_full_match(${text}, '${form}')${exact} THEN ${cast} END`
  },
  members(column, pointer, rows, limit) {
    const value = `added.${column}`
    const keys = pointer === '' ? 'one.value' : `one.value, ${literal(pointer)}`
    const last = pointer.split('/').at(-1) ?? ''
    // A name may be written with escapes.
    const mayHave = [last, '\\'].map((text) => `contains(${value}, ${literal(text)})`)
    return `SELECT DISTINCT unnest(json_keys(${keys})) AS member
      FROM (SELECT DISTINCT ${value} AS value FROM ${rows} AND (${mayHave.join(' OR ')})) AS one
      ORDER BY member LIMIT ${limit}`
  },
}

function textAt(value: string, pointer: string): string {
  return `${value}->>${literal(pointer === '' ? '$' : pointer)}`
}

/** The digits of a number between its first and last zeros: a double has the value of a text if these are equal. */
function digits(text: string): string {
  return `trim(regexp_replace(${text}, '[eE].*|[-.]', '', 'g'), '0')`
}
