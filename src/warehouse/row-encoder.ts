import type { Column, ColumnType } from './column.ts'
import type { Dialect } from './landing.ts'
import { PlainRows } from './plain-rows.ts'
import { RowColumns } from './row-columns.ts'
import { GONE, NULL, PRESENT, QUOTING, ROW_END, SEPARATOR } from './row-file.ts'

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

  /** Adds a value other than null; `hasEscape` says whether a text in it contains a backslash. */
  value(type: ColumnType, start: number, end: number, hasEscape: boolean): void {
    if (type === 'JSON') this.json(start, end, hasEscape)
    else if (this.#from[start] !== QUOTE) this.plain(start, end)
    else if (hasEscape) this.escaped(start, end)
    else this.plain(start + 1, end - 1)
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
    if (hasControls(text)) this.#quoted(text)
    else this.#text(text)
  }

  #quoted(text: string): void {
    this.#imitatesRows ||= text.includes(SEPARATOR_TEXT) || text.includes(QUOTE_TEXT)
    this.#text(`${QUOTE_TEXT}${text.replaceAll(QUOTE_TEXT, QUOTE_TEXT + QUOTE_TEXT)}${QUOTE_TEXT}`)
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
    this.#reserve(Buffer.byteLength(text) + 1)
    this.#to[this.#size++] = SEPARATOR
    this.#size += this.#to.write(text, this.#size)
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

/** The rows of records, up to the first record that needs another column, or to the end. */
export interface Encoded {
  /** Valid until the next call. */
  readonly rows: Buffer
  readonly count: number
  /** The length of the longest row, in bytes. */
  readonly longest: number
  /**
   * Whether a text contains separators or quotes like rows: read from its middle, it could be mistaken for
   * rows.
   */
  readonly imitatesRows: boolean
  /** The start of the next line that is not encoded yet. */
  readonly end: number
  /** The column that the next row needs and the rows so far do not have; it may be new to the table. */
  readonly added: Column | undefined
}

/**
 * Converts records to the rows of a file that an engine reads without parsing JSON. Records are JSON objects, one per line,
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

/** Finds the ends of JSON values, as positions after them. */
class ValueEnds {
  /** Whether a text since the last time that this was set to false contains a backslash. */
  hasEscape = false

  ofValue(bytes: Buffer, start: number): number {
    const first = bytes[start] as number
    if (first === QUOTE) return this.ofText(bytes, start)
    if (first !== OPEN_OBJECT && first !== OPEN_LIST) return scalarEnd(bytes, start)
    let depth = 0
    for (let at = start; ; ) {
      const byte = bytes[at] as number
      if (byte === QUOTE) {
        at = this.ofText(bytes, at)
        continue
      }
      at++
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at
    }
  }

  ofText(bytes: Buffer, start: number): number {
    for (let at = start + 1; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte !== BACKSLASH) continue
      this.hasEscape = true
      at++
    }
  }
}

/** Where the values of a record are in the lines, by the indexes of their columns. */
class RecordValues {
  /** 0 for null. */
  starts = new Int32Array(0)
  ends = new Int32Array(0)
  /** Whether a text in the value contains a backslash. */
  isEscaped = new Uint8Array(0)
  /** Whether a value does not fit its column. */
  hasMisfit = false
  readonly #columns: RowColumns
  readonly #ends = new ValueEnds()

  constructor(columns: RowColumns) {
    this.#columns = columns
  }

  /** Makes room for the values of this many columns. */
  resize(columns: number): void {
    this.starts = new Int32Array(columns)
    this.ends = new Int32Array(columns)
    this.isEscaped = new Uint8Array(columns)
  }

  /** Finds the values of a record. Returns the position after the record, or the column that the rows lack. */
  read(lines: Buffer, start: number): number | Column {
    const columns = this.#columns
    const ends = this.#ends
    this.starts.fill(0)
    this.hasMisfit = false
    let at = skipSpace(lines, start + 1)
    while (lines[at] === QUOTE) {
      const nameStart = at + 1
      const nameEnd = ends.ofText(lines, at) - 1
      const valueStart = skipSpace(lines, skipSpace(lines, nameEnd + 1) + 1)
      ends.hasEscape = false
      const valueEnd = ends.ofValue(lines, valueStart)
      const index = columns.indexOf(lines, nameStart, nameEnd)
      const isNull = lines[valueStart] === LOWER_N
      if (index >= 0) {
        const lacking = this.put(index, lines, isNull ? 0 : valueStart, valueEnd)
        if (lacking !== undefined) return lacking
      } else if (!isNull) return columns.columnOf(lines, nameStart, nameEnd)
      at = skipSpace(lines, valueEnd)
      if (lines[at] === COMMA) at = skipSpace(lines, at + 1)
    }
    return at + 1
  }

  /**
   * Stores the value of a column in the place of an earlier one: if a record has a member twice, the last one counts.
   * Returns the variant if the value needs it and the rows lack it.
   */
  put(index: number, lines: Buffer, start: number, end: number): Column | undefined {
    const columns = this.#columns
    const variant = columns.variants[index] as number
    const isFitting = start === 0 || columns.canStore(index, lines, start, end)
    if (!isFitting && variant < 0) return columns.variantOf(index)
    const place = isFitting ? index : variant
    this.starts[index] = 0
    if (variant >= 0) this.starts[variant] = 0
    this.starts[place] = start
    this.ends[place] = end
    this.isEscaped[place] = this.#ends.hasEscape ? 1 : 0
    if (!isFitting) this.hasMisfit = true
    return undefined
  }
}

/**
 * Creates an encoder for a table with these columns. `others` are the names of columns that somebody else has added to the
 * table, in lower case.
 */
export function createRowEncoder(
  sql: Dialect,
  given: readonly Column[],
  others: Iterable<string> = [],
): RowEncoder {
  const columns = new RowColumns(sql, given, others)
  const values = new RecordValues(columns)
  const misfits = new Map<Column, number>()
  const text = new RowText()
  const plain = new PlainRows()
  const appendRows = text.append.bind(text)
  return { columns: columns.ofTable, present: columns.ofRows, misfits, encode }

  function encode(lines: Buffer, from: number): Encoded {
    text.reset(lines)
    plain.begin(lines)
    let at = plain.encode(from, appendRows)
    while (at < lines.length) {
      const end = values.read(lines, at)
      if (typeof end !== 'number') {
        addColumn(end)
        return { ...text.finish(), end: at, added: end }
      }
      if (values.hasMisfit) countMisfits()
      const isGone = lines[end] !== NEWLINE
      writeRow(isGone ? GONE : PRESENT)
      const { deleteSuffix, suffix } = LINE_PARTS
      at = plain.encode(end + (isGone ? deleteSuffix : suffix).length - 1, appendRows)
    }
    return { ...text.finish(), end: at, added: undefined }
  }

  function addColumn(column: Column): void {
    plain.addColumn(column.type, columns.add(column))
    values.resize(columns.ofRows.length)
  }

  function countMisfits(): void {
    columns.variants.forEach((variant, index) => {
      if (variant < 0 || values.starts[variant] === 0) return
      const column = columns.ofRows[index] as Column
      misfits.set(column, (misfits.get(column) ?? 0) + 1)
    })
  }

  function writeRow(op: number): void {
    const { starts, ends, isEscaped } = values
    const { ofRows } = columns
    text.begin(op)
    for (let index = 0; index < starts.length; index++) {
      const start = starts[index] as number
      const end = ends[index] as number
      if (start === 0) text.null()
      else text.value((ofRows[index] as Column).type, start, end, isEscaped[index] === 1)
    }
    text.end()
  }
}

function scalarEnd(bytes: Buffer, start: number): number {
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
