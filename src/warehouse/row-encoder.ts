import { ConnectorError } from '../ground/errors.ts'
import { type Column, fits, freeName, takenNames, variantOf } from './column.ts'
import { PlainRows } from './plain-rows.ts'

/**
 * DuckDB reads the rows as CSV with control characters instead of commas and quotes. A JSON text can contain them only
 * as escapes, so only texts with escapes may have to be quoted.
 */
export const SEPARATOR = 0x1f
const ROW_END = 0x0a
export const NULL = 0x01
export const QUOTING = 0x02

/** The first column says what a row is: an ordinary row, */
export const PRESENT = 0x30
/** the key of a deleted row, */
export const GONE = 0x31
/** or a deleted row with its last content. */
const CONTENT = 0x32

/** How the line of a record begins and ends: if the record is deleted, a `d` follows its last brace. */
export const LINE_PARTS = {
  prefix: Buffer.alloc(0),
  suffix: Buffer.from('}\n'),
  deleteSuffix: Buffer.from('}d\n'),
} as const

const SEPARATOR_TEXT = String.fromCharCode(SEPARATOR)
const QUOTE_TEXT = String.fromCharCode(QUOTING)
/** Finds the escapes of a JSON text: a surrogate pair, half of a pair (captured), or any other. */
const ESCAPES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(\\u[dD][89a-fA-F][\da-fA-F]{2})|\\./g
const SURROGATE = /\\u[dD][89a-fA-F][\da-fA-F]{2}/

/** Writes rows. Their values are named by their positions in the bytes of records. `reset` reuses the memory. */
class RowText {
  #from: Buffer = Buffer.alloc(0)
  #to: Buffer = Buffer.alloc(0)
  #size = 0
  #rowStart = 0
  #count = 0
  #longest = 0
  #imitatesRows = false

  reset(from: Buffer): void {
    this.#from = from
    this.#size = 0
    this.#count = 0
    this.#longest = 0
    this.#imitatesRows = false
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

  /** Adds a value that is written in the row as in the record. */
  plain(start: number, end: number): void {
    this.#reserve(end - start + 1)
    this.#to[this.#size++] = SEPARATOR
    this.#size += this.#from.copy(this.#to, this.#size, start, end)
  }

  /** Adds a JSON text with escapes; the positions include its quotes. */
  escaped(start: number, end: number): void {
    const text = JSON.parse(this.#from.toString('utf8', start, end)) as string
    this.#imitatesRows ||= text.includes(SEPARATOR_TEXT) || text.includes(QUOTE_TEXT)
    this.#text(
      hasControls(text)
        ? `${QUOTE_TEXT}${text.replaceAll(QUOTE_TEXT, QUOTE_TEXT + QUOTE_TEXT)}${QUOTE_TEXT}`
        : text,
    )
  }

  /** Adds a JSON value as it is, apart from halves of surrogate pairs. */
  json(start: number, end: number, hasEscape: boolean): void {
    const isText = !hasEscape || !SURROGATE.test(this.#from.toString('latin1', start, end))
    if (isText) this.plain(start, end)
    else this.#text(withoutHalves(this.#from.toString('utf8', start, end)))
  }

  end(): void {
    this.#reserve(1)
    this.#to[this.#size++] = ROW_END
    this.#count++
    this.#longest = Math.max(this.#longest, this.#size - this.#rowStart)
  }

  append(rows: Buffer, count: number, longest: number): void {
    this.#reserve(rows.length)
    this.#to.set(rows, this.#size)
    this.#size += rows.length
    this.#count += count
    this.#longest = Math.max(this.#longest, longest)
  }

  /** The rows since `reset`; valid until the next one. */
  finish(): Omit<Encoded, 'end' | 'added'> {
    const rows = this.#to.subarray(0, this.#size)
    const imitatesRows = this.#imitatesRows
    return { rows, count: this.#count, longest: this.#longest, imitatesRows }
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

/** Replaces halves of surrogate pairs, which are valid in JSON but not in text. */
function withoutHalves(json: string): string {
  return json.replace(ESCAPES, (one, half) => (half === undefined ? one : '\\ufffd'))
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
/** Records with more members than this are a fault of the service. */
const MAX_COLUMNS = 500
/** Used as the end of a value that does not fit its column. */
const MISFIT = -1
/** The name for a variant, which no member can have: its values are found by the member of its column. */
const NO_NAME = Buffer.from('"')

/** A file of rows that have the same columns, and are of the same generation. */
export interface RowFile {
  readonly path: string
  readonly generation: number
  readonly columns: readonly Column[]
  readonly count: number
  /** The length of its longest row, in bytes. */
  readonly longest: number
  /**
   * Whether a text contains separators or quotes like rows: read from its middle, it could be mistaken for
   * rows.
   */
  readonly imitatesRows: boolean
}

/** The rows of records, up to the first record that needs another column, or to the end. */
export interface Encoded {
  /** Valid until the next call. */
  readonly rows: Buffer
  readonly count: number
  /** The length of the longest row, in bytes. */
  readonly longest: number
  /** See `RowFile`. */
  readonly imitatesRows: boolean
  /** The start of the next line that is not encoded yet. */
  readonly end: number
  /** The column that the next row needs and the rows so far do not have; it may be new to the table. */
  readonly added: Column | undefined
}

/**
 * Converts records to the rows of a file that DuckDB reads without parsing JSON. Records are JSON objects, one per line,
 * with the parts of `LINE_PARTS`; a row has the bytes of their values, by column. It has only the columns for which any
 * record so far had a value: records lack many members of their schema, and a null costs DuckDB half as much as a value.
 * A value that its column cannot store without loss is stored in the variant of the column instead. Missing columns and
 * variants are added when a record needs them.
 */
export interface RowEncoder {
  /** The columns of the table. */
  readonly columns: readonly Column[]
  /** The columns of the next rows. */
  readonly present: readonly Column[]
  /** How many values did not fit, by column. */
  readonly misfits: ReadonlyMap<Column, number>
  encode(lines: Buffer, from: number): Encoded
}

/**
 * Creates an encoder for a table with these columns. `keys` are the members of the primary key, and `others` the names of
 * columns that somebody else has added to the table, in lower case.
 */
export function createRowEncoder(
  given: readonly Column[],
  keys: readonly string[],
  others: Iterable<string> = [],
): RowEncoder {
  const columns = [...given]
  const present: Column[] = []
  /** The index in `present` of each member's column, by the bytes of its name. */
  const places = new Map<string, number>()
  let starts = new Int32Array(0)
  let ends = new Int32Array(0)
  let isEscaped = new Uint8Array(0)
  /** The index in `present` of each column's variant; -1 if it has none. */
  const variants: number[] = []
  const misfits = new Map<Column, number>()
  let hasMisfit = false
  /** Whether the last value that `skipValue` has passed contains a backslash in a text. */
  let hasEscape = false
  const text = new RowText()
  const plain = new PlainRows()
  const appendRows = text.append.bind(text)
  return { columns, present, misfits, encode }

  function addColumn(column: Column): void {
    if (!columns.includes(column)) columns.push(column)
    const index = present.push(column) - 1
    const base = present.findIndex(({ name }) => name === column.variantOf)
    variants.push(-1)
    if (base >= 0) variants[base] = index
    const name = base < 0 ? Buffer.from(column.property) : NO_NAME
    plain.addColumn(column.type, name)
    if (base < 0) places.set(name.toString('latin1'), index)
    starts = new Int32Array(present.length)
    ends = new Int32Array(present.length)
    isEscaped = new Uint8Array(present.length)
  }

  function encode(lines: Buffer, from: number): Encoded {
    text.reset(lines)
    plain.begin(lines)
    let at = plain.encode(from, appendRows)
    let added: Column | undefined
    while (at < lines.length) {
      starts.fill(0)
      hasMisfit = false
      const behind = readRecord(lines, at)
      if (typeof behind !== 'number') {
        added = behind
        break
      }
      if (hasMisfit) countMisfits()
      const isGone = lines[behind] !== NEWLINE
      at = behind + (isGone ? LINE_PARTS.deleteSuffix.length : LINE_PARTS.suffix.length) - 1
      text.begin(isGone ? (hasContent() ? CONTENT : GONE) : PRESENT)
      for (let index = 0; index < present.length; index++) {
        const start = starts[index] as number
        const end = ends[index] as number
        if (start === 0) text.null()
        else if ((present[index] as Column).type === 'JSON')
          text.json(start, end, isEscaped[index] === 1)
        else if (lines[start] !== QUOTE) text.plain(start, end)
        else if (isEscaped[index] === 1) text.escaped(start, end)
        else text.plain(start + 1, end - 1)
      }
      text.end()
      at = plain.encode(at, appendRows)
    }
    if (added !== undefined) addColumn(added)
    return { ...text.finish(), end: at, added }
  }

  /** Finds the value of each column. Returns the position after the record, or the column that the record lacks. */
  function readRecord(lines: Buffer, start: number): number | Column {
    let at = skipSpace(lines, start + 1)
    while (lines[at] === QUOTE) {
      const nameStart = at + 1
      const nameEnd = skipText(lines, at) - 1
      const index = placeOf(lines, nameStart, nameEnd)
      const valueStart = skipSpace(lines, skipSpace(lines, nameEnd + 1) + 1)
      hasEscape = false
      const valueEnd = skipValue(lines, valueStart)
      if (lines[valueStart] === LOWER_N) {
        if (index >= 0) put(index, 0, 0)
      } else if (index < 0) {
        return columnOf(nameOf(lines, nameStart, nameEnd))
      } else if (fits((present[index] as Column).type, lines, valueStart, valueEnd)) {
        put(index, valueStart, valueEnd)
      } else {
        const variant = variants[index] as number
        if (variant < 0) return variantFor(present[index] as Column)
        put(index, 0, MISFIT)
        put(variant, valueStart, valueEnd)
        hasMisfit = true
      }
      at = skipSpace(lines, valueEnd)
      if (lines[at] === COMMA) at = skipSpace(lines, at + 1)
    }
    return at + 1
  }

  function put(index: number, start: number, end: number): void {
    starts[index] = start
    ends[index] = end
    isEscaped[index] = hasEscape ? 1 : 0
  }

  /** Counts the values that do not fit their columns. If a record has a member twice, the last one counts. */
  function countMisfits(): void {
    variants.forEach((variant, index) => {
      if (variant < 0 || starts[variant] === 0) return
      if (ends[index] !== MISFIT) starts[variant] = 0
      else misfits.set(present[index] as Column, (misfits.get(present[index] as Column) ?? 0) + 1)
    })
  }

  function placeOf(lines: Buffer, start: number, end: number): number {
    const name = lines.toString('latin1', start, end)
    const index = places.get(name) ?? -1
    if (index >= 0 || !name.includes('\\')) return index
    const property = nameOf(lines, start, end)
    return present.findIndex((column) => column.property === property)
  }

  function columnOf(property: string): Column {
    const known = columns.find((column) => column.property === property)
    if (known !== undefined) return known
    if (columns.length >= MAX_COLUMNS)
      throw new ConnectorError(
        'system',
        'too-many-members',
        `The records have more than ${MAX_COLUMNS} different members, more than a table can have. Tell the operator of the service. When its records have fewer, sync once with --rewrite: the table still has the columns of earlier ones.`,
      )
    return { property, name: freeName(property, takenNames(columns, others)), type: 'JSON' }
  }

  function variantFor(column: Column): Column {
    const known = columns.find(({ variantOf: base }) => base === column.name)
    return known ?? variantOf(column, takenNames(columns, others))
  }

  /** Whether a record has more than its key and its version. */
  function hasContent(): boolean {
    let members = 0
    for (const start of starts) if (start !== 0) members++
    return members > keys.length + 1
  }

  /** The position after a value; sets `hasEscape` if a text in it contains a backslash. */
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
