import type { ColumnType } from '../column.ts'
import { unescaped } from '../fit.ts'
import type { Dialect } from '../landing.ts'

/** As PostgreSQL shows them. JSON is `json`: `jsonb` loses the order of members and the form of numbers. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  BIGINT: 'BIGINT',
  DOUBLE: 'DOUBLE PRECISION',
  BOOLEAN: 'BOOLEAN',
  DATE: 'DATE',
  TIMESTAMP_NS: 'TIMESTAMP WITH TIME ZONE',
  VARCHAR: 'TEXT',
  JSON: 'JSON',
}

/** Rows of more columns may not fit into a page of 8,160 bytes: values of up to 24 bytes are never stored elsewhere. */
const MOST_COLUMNS = 320
/** In bytes. */
const LONGEST_NAME = 63
/** The columns that each table has anyway. */
const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']

/** The words of PostgreSQL for a warehouse in this schema. */
export function postgresDialect(schema: string): Dialect {
  return {
    schemas: {
      ...{ tables: schema, flat: `${schema}_flat` },
      ...{ history: `${schema}_history`, account: `${schema}_meta` },
    },
    limits: { columns: MOST_COLUMNS, nameOf, reserved: SYSTEM_COLUMNS },
    // After a crash it is empty, and has written nothing to the log.
    waiting: 'UNLOGGED TABLE',
    updates: true,
    // A partition has rows at the same places as others.
    rowAt: (alias) => `concat(${alias}.tableoid, ${alias}.ctid)`,
    type: (type) => TYPES[type],
    storable,
    literal,
    // No cast of PostgreSQL returns null; and the stream is read again anyway.
    retyped: (_value, type) => `CAST(NULL AS ${type})`,
    same: (value, type) => (type === 'JSON' ? `CAST(${value} AS TEXT)` : value),
    textOf,
    momentText: (value) => `to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
    readable: (value) =>
      `CAST(replace(CAST(${value} AS TEXT), ${literal('\\u0000')}, ${literal('\\ufffd')}) AS JSON)`,
    jsonAt: (value, pointer) => `(${value} #> ${pathOf(pointer)})`,
    textAt,
    // In `json`, a number has its digits.
    numberAt: textAt,
    tryCast,
    members,
  }
}

/** A name as SQL has it that is written without quotes: then one query serves every engine. */
function nameOf(wanted: string, suffix: string): string {
  const name = wanted.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const most = LONGEST_NAME - Buffer.byteLength(suffix)
  let bytes = 0
  const characters = [...name]
  const end = characters.findIndex((character) => {
    bytes += Buffer.byteLength(character)
    return bytes > most
  })
  return characters.slice(0, end < 0 ? undefined : end).join('') + suffix
}

/** An escape of NUL, which is no part of an escaped backslash. */
const NUL = /(?<!\\)(\\\\)*\\u0000/

function storable(type: ColumnType, bytes: Buffer, start: number, end: number): boolean {
  // `json` stores an escaped NUL, but then no member of the value can be read.
  if (type === 'VARCHAR' || type === 'JSON') {
    const text = bytes.toString('latin1', start, end)
    return !text.includes('\\u0000') || !NUL.test(text)
  }
  if (type !== 'TIMESTAMP_NS') return true
  return !UNSTORABLE_TIME.test(unescaped(bytes, start, end).slice(1, -1))
}

/** A time with more than six digits of a second would be rounded, and an offset of 16 hours or more is refused. */
const UNSTORABLE_TIME = /\.\d{6}\d*[1-9]|[+-](1[6-9]|[2-9]\d):\d\d$/

/** No text of PostgreSQL has a NUL. With `E`, a backslash means the same whatever the server is set to. */
export function literal(text: string): string {
  const inner = text.replaceAll('\0', '\ufffd').replaceAll("'", "''")
  return inner.includes('\\') ? `E'${inner.replaceAll('\\', '\\\\')}'` : `'${inner}'`
}

function textOf(value: string, type: ColumnType): string {
  if (type === 'VARCHAR') return value
  // The same whatever the session is set to. `to_char` has no text for what only somebody else writes: infinite days, and
  // years before Christ, which it gives another sense.
  const asJson = (of: string) => `(to_json(${of}) #>> '{}')`
  if (type === 'DATE') return asJson(value)
  if (type !== 'TIMESTAMP_NS') return `CAST(${value} AS TEXT)`
  const utc = `(${value} AT TIME ZONE 'UTC')`
  return `CASE WHEN ${utc} BETWEEN '0001-01-01' AND '9999-12-31' THEN to_char(${utc}, 'YYYY-MM-DD"T"HH24:MI:SS.US"000"') ELSE ${asJson(utc)} END`
}

/** A JSON pointer as a list of names. */
function pathOf(pointer: string): string {
  const names = pointer
    .split('/')
    .slice(1)
    .map((name) => literal(name.replaceAll('~1', '/').replaceAll('~0', '~')))
  return `CAST(ARRAY[${names.join(', ')}] AS TEXT[])`
}

function textAt(value: string, pointer: string): string {
  return `(${value} #>> ${pathOf(pointer)})`
}

/** No cast of PostgreSQL returns null, so each test is around the next one: only then is it made first. */
function tryCast(text: string, type: ColumnType, form: string, written: string): string {
  const formed = (value: string) =>
    `CASE WHEN ${text} ~ ${literal(`^(${form})$`)} THEN ${value} END`
  const cast = `CAST(${text} AS ${TYPES[type]})`
  switch (type) {
    case 'BIGINT':
      return formed(
        `CASE WHEN length(${text}) <= 20 THEN CASE WHEN CAST(${text} AS NUMERIC) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN ${cast} END END`,
      )
    case 'DOUBLE':
      return formed(
        `CASE WHEN length(${text}) <= 1000 AND ${text} !~ '[eE][+-]?0*[1-9][0-9]{3,}$' THEN
          CASE WHEN CAST(${text} AS NUMERIC) = 0 OR abs(CAST(${text} AS NUMERIC)) BETWEEN 4.95e-324 AND 1.7976931348623158e308 THEN
            CASE WHEN ${digits(written)} = ${digits(`CAST(${cast} AS TEXT)`)} THEN ${cast} END END END`,
      )
    case 'DATE':
      return formed(ifDayExists(text, dayOf(text)))
    case 'TIMESTAMP_NS': {
      // A time without a zone would be one of the reader's zone.
      const zoned = `CASE WHEN ${text} ~ '(Z|[+-][0-9]{2}:[0-9]{2})$' THEN ${text} ELSE ${text} || 'Z' END`
      return formed(
        `CASE WHEN ${text} !~ ${literal(UNSTORABLE_TIME.source)} AND ${text} !~ ':[6-9][0-9]$' THEN
          ${ifDayExists(text, `CAST(${zoned} AS ${TYPES[type]})`)} END`,
      )
    }
    default:
      return formed(cast)
  }
}

const part = (text: string, from: number, length: number) =>
  `CAST(substr(${text}, ${from}, ${length}) AS INTEGER)`

/** The day at the start of a text. `make_date` knows no other order of its parts. */
function dayOf(text: string): string {
  return `make_date(${part(text, 1, 4)}, ${part(text, 6, 2)}, ${part(text, 9, 2)})`
}

function ifDayExists(text: string, value: string): string {
  const first = `make_date(${part(text, 1, 4)}, ${part(text, 6, 2)}, 1)`
  return `CASE WHEN ${part(text, 9, 2)} <= extract(DAY FROM ${first} + INTERVAL '1 month - 1 day') THEN ${value} END`
}

/** The digits of a number between its first and last zeros: a double has the value of a text if these are equal. */
function digits(text: string): string {
  return `trim(BOTH '0' FROM regexp_replace(${text}, '[eE].*|[-.]', '', 'g'))`
}

function members(column: string, pointer: string, rows: string, limit: number): string {
  const value = `(CAST(one.value AS JSON) #> ${pathOf(pointer)})`
  // Only objects have members; the function fails for all others.
  return `SELECT DISTINCT inner_one.member COLLATE "C" AS member
    FROM (SELECT DISTINCT CAST(added.${column} AS TEXT) AS value FROM ${rows}) AS one,
      LATERAL json_object_keys(CASE WHEN json_typeof(${value}) = 'object' THEN ${value} END) AS inner_one (member)
    ORDER BY member LIMIT ${limit}`
}
