import { deletionOf } from '../protocol/sync-columns.ts'
import { JsonDigest, roundedNumber, scalarEnd, skipSpace } from '../records/json-digest.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import { type Column, type ColumnType, columnType } from '../warehouse/column.ts'
import { fits, unescaped } from '../warehouse/fit.ts'
import {
  createFieldList,
  dayNumber,
  digitsAt,
  type FieldList,
  keyOf,
  RowDigest,
  wholeKeyAt,
} from './digests.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LOWER_N = 0x6e
const HYPHEN = 0x2d

/** The parts of a stream that rows are compared by. */
export interface RowShape extends Pick<StreamSpec, 'schema' | 'key' | 'version'> {
  /** The member by which the service filters records by date. */
  readonly dateField: string | undefined
}

/** Reads records of the service, or rows of a warehouse, into digests. */
export interface RecordReader {
  readonly fields: FieldList
  /** The last record; valid until the next one is read. */
  readonly row: RowDigest
  /** The version of the last record. */
  version(): string | undefined
  /** Reads a record, a valid JSON object that begins at `at`; returns the position after it. */
  read(bytes: Buffer, at: number): number
}

/**
 * Creates the reader of records, or of their rows, for a landing of `protime sync`, which stores every value exactly. The
 * places of the fields of these columns are the same in both.
 */
export function createExactReader(
  shape: RowShape,
  columns: readonly Column[],
  of: 'records' | 'rows' = 'records',
): RecordReader {
  const digest = new JsonDigest()
  const fields = createFieldList(digest)
  const times = new Set<number>()
  for (const { property, type, variantOf } of columns) {
    const place = fields.addedPlaceOf(property)
    // Rows have their times in this form already.
    if (type === 'TIMESTAMP_NS' && variantOf === undefined && of === 'records') times.add(place)
  }
  return createReader(shape, digest, fields, {
    areNamesFolded: false,
    placeOf: (name) => fields.addedPlaceOf(name),
    value(place, bytes, at) {
      const end = digest.value(bytes, at)
      if (times.has(place) && fits('TIMESTAMP_NS', bytes, at, end))
        digest.text(instant(unescaped(bytes, at, end).slice(1, -1)))
      return end
    },
    keyText: (text) => text,
  })
}

/** A time in the form that DuckDB prints: UTC, with nanoseconds. */
export function instant(text: string): string {
  const [, day = '', time = '00:00', seconds = ':00', , fraction = '', zone = 'Z'] =
    /^(.{10})[T ](\d\d:\d\d)(:\d\d)?(\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  const whole = new Date(`${day}T${time}${seconds}${zone}`).toISOString().slice(0, 19)
  return `${whole}.${fraction.padEnd(9, '0')}`
}

/**
 * Creates the reader of records for rows that another warehouse prints. Only fields that are in the schema and in
 * some row are compared. Names are compared without case and underscores, values in the form in which databases store
 * them.
 */
export function createLooseReader(
  shape: RowShape,
  isCompared: (place: number) => boolean = () => true,
): RecordReader {
  const digest = new JsonDigest(roundedNumber)
  const properties = Object.entries(shape.schema.properties ?? {})
  const fields = createFieldList(digest, foldName)
  const types: ColumnType[] = []
  for (const [name, schema] of properties) types[fields.addedPlaceOf(name)] ??= columnType(schema)
  return createReader(shape, digest, fields, {
    areNamesFolded: true,
    placeOf(name) {
      const place = fields.placeOf(name)
      return place >= 0 && isCompared(place) ? place : -1
    },
    value: (place, bytes, at) => looseValue(types[place] as ColumnType, bytes, at, digest),
    keyText: looseKey,
  })
}

/** Normalizes a name that a warehouse may have changed. */
function foldName(name: string): string {
  return name.toLowerCase().replaceAll('_', '')
}

/** Normalizes a column of the key: some warehouses store integers as strings or decimals. */
function looseKey(text: string): string {
  if (!text.startsWith('"')) return text.replace(/\.0+$/, '')
  const content = JSON.parse(text) as string
  return /^\d{1,15}$/.test(content) ? String(Number(content)) : text
}

/** Digests a value in a form that every warehouse can store. */
function looseValue(type: ColumnType, bytes: Buffer, at: number, digest: JsonDigest): number {
  const isText = bytes[at] === QUOTE
  const isEmpty = isText && bytes[at + 1] === QUOTE
  const isPlain = !isEmpty && isText === (type === 'VARCHAR')
  if (isPlain) return digest.value(bytes, at)
  const end = digest.value(bytes, at)
  if (!isText) {
    const isScalar = bytes[at] !== LOWER_N && scalarEnd(bytes, at) === end
    if (isScalar) digest.text(bytes.toString('latin1', at, end))
    return end
  }
  const text = JSON.parse(bytes.toString('utf8', at, end)) as string
  switch (type) {
    case 'BIGINT':
    case 'DOUBLE':
      if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) digest.json(text)
      break
    case 'BOOLEAN':
      if (/^(t|true|f|false)$/i.test(text)) digest.json(/^t/i.test(text) ? 'true' : 'false')
      break
    case 'DATE':
      if (/^\d{4}-\d\d-\d\d[T ]/.test(text)) digest.text(text.slice(0, 10))
      break
    case 'TIMESTAMP_NS':
      if (!Number.isNaN(Date.parse(text))) digest.text(new Date(text).toISOString())
      break
    default:
      // Some loaders store null for an empty string.
      if (text === '') digest.json('null')
      else if (isJson(text)) digest.json(text)
  }
  return end
}

/** Whether a string is the JSON of an object or an array, which warehouses without a JSON type store as a string. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface Ways {
  readonly areNamesFolded: boolean
  placeOf(name: string): number
  /** Leaves the digest of the value in the reader's digest; returns the position after the value. */
  value(place: number, bytes: Buffer, at: number): number
  /** Normalizes the JSON text of a key column. */
  keyText(text: string): string
}

function createReader(
  { key, version: versionField, dateField }: RowShape,
  digest: JsonDigest,
  fields: FieldList,
  ways: Ways,
): RecordReader {
  const row = new RowDigest(fields.names.length)
  const keyPlaces = key.map((name) => ways.placeOf(name))
  const versionPlace = versionField === undefined ? -1 : ways.placeOf(versionField)
  const dayPlace = dateField === undefined ? -1 : ways.placeOf(dateField)
  /** The names of the last record in their order, and their places. The next record usually has the same ones. */
  const names: Buffer[] = []
  const places: number[] = []
  const keyTexts: string[] = []
  /** The key if it is an integer: it needs no text. */
  let wholeKey = -1
  /** Where the version of the last record is, which is rarely asked for; at 0 if it has none. */
  let last: Buffer = Buffer.of()
  let [versionStart, versionEnd] = [0, 0]
  const days = new Map<number, number>()
  return { fields, row, version, read }

  function read(bytes: Buffer, start: number): number {
    row.clear()
    keyTexts.fill('null')
    wholeKey = -1
    last = bytes
    versionStart = 0
    let at = skipSpace(bytes, start + 1)
    for (let n = 0; bytes[at] === QUOTE; n++) {
      const nameEnd = nameEndFrom(bytes, at)
      const place = placeAt(n, bytes, at, nameEnd)
      at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
      const valueStart = at
      at = place < 0 ? digest.value(bytes, at) : ways.value(place, bytes, at)
      if (place >= 0) take(place, bytes, valueStart, at)
      at = skipSpace(bytes, at)
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
    }
    row.key = wholeKey >= 0 ? wholeKey : keyOf(keyTexts)
    row.sum(fields, digest)
    return at + 1
  }

  /** The last value of a repeated member is used; of two spellings of a name, the one with a value. */
  function take(place: number, bytes: Buffer, start: number, end: number): void {
    const isNull = digest.high === 0 && digest.low === 0
    if (isNull && ways.areNamesFolded) return
    row.set(place, digest.high, digest.low)
    const column = keyPlaces.indexOf(place)
    if (column >= 0) {
      wholeKey = keyPlaces.length > 1 ? -1 : wholeKeyAt(bytes, start, end)
      if (wholeKey < 0) keyTexts[column] = ways.keyText(bytes.toString('utf8', start, end))
    }
    if (place === versionPlace) [versionStart, versionEnd] = [start, end]
    if (place === dayPlace) row.day = dayOf(bytes, start, end)
  }

  function version(): string | undefined {
    return versionStart === 0 ? undefined : contentOf(last, versionStart, versionEnd)
  }

  /** Few different days are in many rows. */
  function dayOf(bytes: Buffer, start: number, end: number): number {
    const digits = digitsOfDay(bytes, start)
    const known = days.get(digits)
    if (known !== undefined) return known
    const day = dayNumber(contentOf(bytes, start, end))
    if (digits >= 0) days.set(digits, day)
    return day
  }

  function placeAt(n: number, bytes: Buffer, start: number, end: number): number {
    const known = names[n]
    if (known !== undefined && isSameName(known, bytes, start, end)) return places[n] as number
    names[n] = Buffer.from(bytes.subarray(start, end))
    const place = ways.placeOf(JSON.parse(names[n].toString('utf8')) as string)
    places[n] = place
    return place
  }
}

/** The digits of a text that begins with a day, such as `"2026-11-29`, as a number; -1 for anything else. */
function digitsOfDay(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE || bytes[start + 5] !== HYPHEN || bytes[start + 8] !== HYPHEN)
    return -1
  const year = digitsAt(bytes, start + 1, start + 5)
  const month = digitsAt(bytes, start + 6, start + 8)
  const day = digitsAt(bytes, start + 9, start + 11)
  return Math.min(year, month, day) < 0 ? -1 : (year * 100 + month) * 100 + day
}

function contentOf(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('utf8', start, end)
  if (text.startsWith('"') && !text.includes('\\')) return text.slice(1, -1)
  const value: unknown = JSON.parse(text)
  return typeof value === 'string' ? value : undefined
}

function nameEndFrom(bytes: Buffer, start: number): number {
  let at = start + 1
  for (; bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
  return at + 1
}

function isSameName(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let i = 0; i < name.length; i++) if (name[i] !== bytes[start + i]) return false
  return true
}

/** Whether a printed row is marked as deleted, or a fault if its marks are not clear. */
export function markOf(row: Readonly<Record<string, unknown>>): ReturnType<typeof deletionOf> {
  const { _deleted_at: own, ...others } = row
  return deletionOf(own === undefined ? others : { ...others, _deleted: own })
}
