import { ConnectorError } from '../ground/errors.ts'
import { type Column, type ColumnType, fits, freeName, takenNames } from './column.ts'

/**
 * The file of rows that DuckDB reads as CSV. JSON has no raw control characters, so that they can
 * separate values: only texts with escapes have to be quoted.
 */
export const SEPARATOR = 0x1f
const ROW_END = 0x0a
export const NULL = 0x01
export const QUOTING = 0x02

/** What the first column of a row says of it: the row as it is, */
export const PRESENT = 0x30
/** the key of a row that is gone, */
export const GONE = 0x31
/** or a row that is gone, with its last content. */
const CONTENT = 0x32

/** What makes a line of a record: one that is deleted has a mark behind its brace. */
export const LINE_PARTS = {
  prefix: Buffer.alloc(0),
  suffix: Buffer.from('}\n'),
  deleteSuffix: Buffer.from('}d\n'),
} as const

/** Shorter ones are copied faster byte by byte. */
const SHORT = 48
const QUOTE_TEXT = String.fromCharCode(QUOTING)
/** Half of a surrogate pair without the other: valid JSON, but no text. */
const LONE_SURROGATE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}/g

/** The rows of a file, of values in the bytes of records. Its memory is used again by `reset`. */
class RowText {
  #from: Buffer = Buffer.alloc(0)
  #generation: Buffer = Buffer.alloc(0)
  #to: Buffer = Buffer.alloc(0)
  #size = 0
  #rowStart = 0
  #count = 0
  #longest = 0

  reset(from: Buffer, generation: number): void {
    this.#from = from
    this.#generation = Buffer.from(String(generation))
    this.#size = 0
    this.#count = 0
    this.#longest = 0
  }

  begin(op: number): void {
    this.#rowStart = this.#size
    this.#reserve(1)
    this.#to[this.#size++] = op
  }

  null(): void {
    this.#reserve(2)
    this.#to[this.#size++] = SEPARATOR
    this.#to[this.#size++] = NULL
  }

  /** A value whose bytes are those of its text. */
  plain(start: number, end: number): void {
    this.#reserve(end - start + 1)
    const to = this.#to
    to[this.#size++] = SEPARATOR
    if (end - start < SHORT) {
      const from = this.#from
      let size = this.#size
      for (let at = start; at < end; at++) to[size++] = from[at] as number
      this.#size = size
    } else {
      this.#size += this.#from.copy(to, this.#size, start, end)
    }
  }

  /** A JSON text with escapes, quotes included. */
  escaped(start: number, end: number): void {
    const text = JSON.parse(this.#from.toString('utf8', start, end)) as string
    this.#text(
      hasControls(text)
        ? `${QUOTE_TEXT}${text.replaceAll(QUOTE_TEXT, QUOTE_TEXT + QUOTE_TEXT)}${QUOTE_TEXT}`
        : text,
    )
  }

  /** A JSON value as it came. */
  json(start: number, end: number, hasEscape: boolean): void {
    const lone = hasEscape ? this.#from.toString('latin1', start, end).search(LONE_SURROGATE) : -1
    if (lone < 0) this.plain(start, end)
    else this.#text(this.#from.toString('utf8', start, end).replace(LONE_SURROGATE, '\\ufffd'))
  }

  end(): void {
    const generation = this.#generation
    this.#reserve(generation.length + 2)
    this.#to[this.#size++] = SEPARATOR
    this.#to.set(generation, this.#size)
    this.#size += generation.length
    this.#to[this.#size++] = ROW_END
    this.#count++
    this.#longest = Math.max(this.#longest, this.#size - this.#rowStart)
  }

  /** Valid until `reset`. */
  finish(): { readonly rows: Buffer; readonly count: number; readonly longest: number } {
    const rows = this.#to.subarray(0, this.#size)
    return { rows, count: this.#count, longest: this.#longest }
  }

  #text(text: string): void {
    const bytes = Buffer.from(text)
    this.#reserve(bytes.length + 1)
    this.#to[this.#size++] = SEPARATOR
    this.#to.set(bytes, this.#size)
    this.#size += bytes.length
  }

  #reserve(size: number): void {
    if (this.#size + size <= this.#to.length) return
    const larger = Buffer.allocUnsafe(
      Math.max(this.#to.length * 2, this.#from.length, this.#size + size),
    )
    this.#to.copy(larger, 0, 0, this.#size)
    this.#to = larger
  }
}

function hasControls(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20) return true
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const SPACE = 0x20
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const LOWER_N = 0x6e
const NEWLINE = 0x0a
/** More members than any record of a service has: what is beyond is a fault of it. */
const MAX_COLUMNS = 500

/** A column that the table gets, or gets another type: rows from then on have it. */
export interface ColumnChange {
  readonly column: Column
  /** Undefined for a new column. */
  readonly before: ColumnType | undefined
}

/** Rows up to where the columns change, or to the end. */
export interface Encoded {
  /** Valid until the next call. */
  readonly rows: Buffer
  readonly count: number
  /** How long the longest row is. */
  readonly longest: number
  /** Where the next line begins that is not encoded yet. */
  readonly end: number
  /** Why it ended before the last line. */
  readonly change: ColumnChange | undefined
}

/**
 * Turns records, one JSON object per line with the parts of `LINE_PARTS`, into the rows of a file that
 * DuckDB reads without parsing JSON: the bytes of each value, by column. What a column does not hold
 * without loss makes it JSON; a member without a column gets one.
 */
export interface RowEncoder {
  readonly columns: readonly Column[]
  encode(lines: Buffer, from: number, generation: number): Encoded
}

export function createRowEncoder(given: readonly Column[], keys: readonly string[]): RowEncoder {
  const columns = [...given]
  let names: Buffer[] = []
  let starts = new Int32Array(0)
  let ends = new Int32Array(0)
  let isEscaped = new Uint8Array(0)
  /** What the last call of `skipValue` met: a backslash within a text. */
  let hasEscape = false
  const text = new RowText()
  columns.forEach(learn)
  return { columns, encode }

  function learn({ property }: Column): void {
    names = [...names, Buffer.from(property)]
    starts = new Int32Array(columns.length)
    ends = new Int32Array(columns.length)
    isEscaped = new Uint8Array(columns.length)
  }

  function encode(lines: Buffer, from: number, generation: number): Encoded {
    text.reset(lines, generation)
    let at = from
    let change: ColumnChange | undefined
    while (at < lines.length) {
      starts.fill(0)
      const behind = readRecord(lines, at)
      if (typeof behind !== 'number') {
        change = behind
        break
      }
      const isGone = lines[behind] !== NEWLINE
      at = behind + (isGone ? LINE_PARTS.deleteSuffix.length : LINE_PARTS.suffix.length) - 1
      text.begin(isGone ? (hasContent() ? CONTENT : GONE) : PRESENT)
      for (let index = 0; index < columns.length; index++) {
        const start = starts[index] as number
        const end = ends[index] as number
        if (start === 0) text.null()
        else if ((columns[index] as Column).type === 'JSON')
          text.json(start, end, isEscaped[index] === 1)
        else if (lines[start] !== QUOTE) text.plain(start, end)
        else if (isEscaped[index] === 1) text.escaped(start, end)
        else text.plain(start + 1, end - 1)
      }
      text.end()
    }
    if (change !== undefined) apply(change)
    return { ...text.finish(), end: at, change }
  }

  /** Finds the value of each column; answers with the position behind the record, or why it cannot. */
  function readRecord(lines: Buffer, start: number): number | ColumnChange {
    let index = -1
    let at = skipSpace(lines, start + 1)
    while (lines[at] === QUOTE) {
      const nameStart = at + 1
      const nameEnd = skipText(lines, at) - 1
      index = placeOf(lines, nameStart, nameEnd, index + 1)
      const valueStart = skipSpace(lines, skipSpace(lines, nameEnd + 1) + 1)
      hasEscape = false
      const valueEnd = skipValue(lines, valueStart)
      if (lines[valueStart] === LOWER_N) {
        if (index >= 0) starts[index] = 0
      } else if (index < 0) {
        return added(nameOf(lines, nameStart, nameEnd))
      } else {
        const column = columns[index] as Column
        if (!fits(column.type, lines, valueStart, valueEnd))
          return { column: { ...column, type: 'JSON' }, before: column.type }
        starts[index] = valueStart
        ends[index] = valueEnd
        isEscaped[index] = hasEscape ? 1 : 0
      }
      at = skipSpace(lines, valueEnd)
      if (lines[at] === COMMA) at = skipSpace(lines, at + 1)
    }
    return at + 1
  }

  /** The column of a member; members mostly come in one order, so the next ones are tried first. */
  function placeOf(lines: Buffer, start: number, end: number, next: number): number {
    const size = end - start
    for (let tried = 0; tried < names.length; tried++) {
      const index = next + tried < names.length ? next + tried : next + tried - names.length
      const name = names[index] as Buffer
      if (name.length !== size) continue
      let at = 0
      while (at < size && name[at] === lines[start + at]) at++
      if (at === size) return index
    }
    if (!lines.subarray(start, end).includes(BACKSLASH)) return -1
    const property = nameOf(lines, start, end)
    return columns.findIndex((column) => column.property === property)
  }

  function added(property: string): ColumnChange {
    if (columns.length >= MAX_COLUMNS)
      throw new ConnectorError(
        'system',
        `The records have more than ${MAX_COLUMNS} different members, which is more than a table takes. Tell the operator of the service.`,
      )
    const name = freeName(property, takenNames(columns))
    return { column: { property, name, type: 'JSON' }, before: undefined }
  }

  function apply({ column, before }: ColumnChange): void {
    const index =
      before === undefined ? columns.length : columns.findIndex((one) => one.name === column.name)
    columns[index] = column
    if (before === undefined) learn(column)
  }

  /** Whether a record says more of its row than which one it is, and its version. */
  function hasContent(): boolean {
    let members = 0
    for (const start of starts) if (start !== 0) members++
    return members > keys.length + 1
  }

  /** The position behind a value; notes whether a text in it has a backslash. */
  function skipValue(bytes: Buffer, start: number): number {
    const first = bytes[start] as number
    if (first === QUOTE) return skipText(bytes, start)
    if (first !== OPEN_OBJECT && first !== OPEN_LIST) return skipScalar(bytes, start)
    let depth = 0
    for (let at = start; ; ) {
      const byte = bytes[at] as number
      if (byte === QUOTE) {
        at = skipText(bytes, at)
        continue
      }
      at++
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at
    }
  }

  function skipText(bytes: Buffer, start: number): number {
    for (let at = start + 1; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte !== BACKSLASH) continue
      hasEscape = true
      at++
    }
  }
}

function skipScalar(bytes: Buffer, start: number): number {
  for (let at = start; ; at++) {
    const byte = bytes[at] as number
    if (byte === COMMA || byte === CLOSE_OBJECT || byte <= SPACE) return at
  }
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while ((bytes[at] as number) <= SPACE) at++
  return at
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string
}
