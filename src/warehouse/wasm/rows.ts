// Rows of plain records (see ../plain-rows.ts), from the lines in one window of memory into another one. Lines are valid
// JSON, and end in the window. Whatever is not plain is left to the host, with the whole line.

/** Of each column: its type, the column that came after it last, its value, its name and how long that is. */
const COLUMN_BYTES: u32 = 96
const TYPE: usize = 0
const NEXT: usize = 4
const START: usize = 8
const END: usize = 12
const NAME_LENGTH: usize = 16
const NAME: u32 = 32
/** What comes before the first member of a record is in the place of a column. */
const BEFORE: u32 = 512
const COLUMNS: u32 = BEFORE + COLUMN_BYTES

/** Where the host writes lines; where rows are. Vectors are read and written behind them. */
export const linesAt: u32 = 150000
export const linesEnd: u32 = 270000
export const rowsAt: u32 = 270032
const ROWS_LIMIT: u32 = 524256

// The types of columns, as the host numbers them. No value of another one is plain.
const ANY: u32 = 0
const VARCHAR: u32 = 1
const BIGINT: u32 = 2
const DOUBLE: u32 = 3
const BOOLEAN: u32 = 4
const DATE: u32 = 5

const NONE: u32 = 0
const PRESENT: u32 = 0x30
const SEPARATOR: u32 = 0x1f
const NULL: u32 = 0x01
const ROW_END: u32 = 0x0a

let columns: u32 = COLUMNS
let behindLine: u32 = 0

/** What `encode` made: up to where, how many, and how long the longest one is. */
export let rowsEnd: u32 = rowsAt
export let count: u32 = 0
export let longest: u32 = 0

/** Adds a column; answers where the host writes its name, or 0: with a long one its values are never plain. */
export function addColumn(type: u32, nameLength: u32): u32 {
  const column = columns
  columns += COLUMN_BYTES
  if (columns > linesAt) unreachable()
  store<u32>(column, type, TYPE)
  store<u32>(column, nameLength, NAME_LENGTH)
  return nameLength <= COLUMN_BYTES - NAME ? column + NAME : NONE
}

/** Makes rows of lines until one is not plain or has no room, and answers where that begins; else `end`. */
export function encode(at: u32, end: u32): u32 {
  rowsEnd = rowsAt
  count = 0
  longest = 0
  while (at < end) {
    if (!readLine(at, end) || rowsEnd + (behindLine - at) + (columns - COLUMNS) > ROWS_LIMIT) {
      for (let column = COLUMNS; column < columns; column += COLUMN_BYTES)
        store<u32>(column, NONE, START)
      return at
    }
    at = behindLine
    const row = rowsEnd
    writeRow()
    longest = max<u32>(longest, rowsEnd - row)
    count++
  }
  return at
}

/** Writes the values of the columns, and forgets them. */
function writeRow(): void {
  let to = rowsEnd
  store<u8>(to++, PRESENT)
  for (let column = COLUMNS; column < columns; column += COLUMN_BYTES) {
    store<u8>(to++, SEPARATOR)
    const start = load<u32>(column, START)
    if (start == NONE) store<u8>(to++, NULL)
    else to = copy(to, start, load<u32>(column, END) - start)
    store<u32>(column, NONE, START)
  }
  store<u8>(to++, ROW_END)
  rowsEnd = to
}

function copy(to: u32, from: u32, length: u32): u32 {
  const end = to + length
  for (; to < end; to += 16, from += 16) v128.store(to, v128.load(from))
  return end
}

/** Finds the value of each column. */
function readLine(at: u32, end: u32): bool {
  let column = BEFORE
  do {
    const name = at + 2
    if (load<u8>(at + 1) != 0x22) return false
    const nameEnd = textEnd(name, end)
    if (nameEnd == NONE || load<u8>(nameEnd + 1) != 0x3a) return false
    const found = columnOf(name, nameEnd - name, column)
    const start = nameEnd + 2
    const isNull = load<u32>(start) == 0x6c6c756e
    if (found == NONE && !isNull) return false
    at = isNull ? start + 4 : valueEnd(start, end, load<u32>(found, TYPE))
    if (at == NONE) return false
    if (found != NONE) {
      const isQuoted = load<u8>(start) == 0x22 && load<u32>(found, TYPE) != ANY
      store<u32>(found, isNull ? NONE : start + <u32>isQuoted, START)
      store<u32>(found, at - <u32>isQuoted, END)
      store<u32>(column, found, NEXT)
      column = found
    }
  } while (load<u8>(at) == 0x2c)
  behindLine = at + 2
  return load<u16>(at) == 0x0a7d && behindLine <= end
}

/** The column of a name: members mostly come in the order of the record before. */
function columnOf(name: u32, length: u32, last: u32): u32 {
  const next = load<u32>(last, NEXT)
  if (next != NONE && isName(next, name, length)) return next
  for (let column = COLUMNS; column < columns; column += COLUMN_BYTES)
    if (isName(column, name, length)) return column
  return NONE
}

function isName(column: u32, name: u32, length: u32): bool {
  if (load<u32>(column, NAME_LENGTH) != length || length > COLUMN_BYTES - NAME) return false
  for (let i: u32 = 0; i < length; i += 16) {
    const others =
      ~i8x16.bitmask(i8x16.eq(v128.load(name + i), v128.load(column + NAME + i))) & 0xffff
    if (others != 0 && i + ctz(others) < length) return false
  }
  return true
}

/** Behind a value that a column of this type holds as it is written; 0 for any other, and what is not plain. */
function valueEnd(at: u32, end: u32, type: u32): u32 {
  const c: u32 = load<u8>(at)
  if (c == 0x22) {
    const close = textEnd(at + 1, end)
    if (close == NONE) return NONE
    const holds = type <= VARCHAR || (type == DATE && close - at == 11 && isDay(at + 1))
    return holds ? close + 1 : NONE
  }
  if (c - 0x30 < 10 || c == 0x2d) return numberEnd(at, type)
  if (c == 0x7b || c == 0x5b) return type == ANY ? bracketEnd(at, end) : NONE
  if (type != BOOLEAN && type != ANY) return NONE
  return at + (c == 0x74 ? 4 : 5)
}

/** The quote behind a text without escapes. */
function textEnd(at: u32, end: u32): u32 {
  for (; at < end; at += 16) {
    const bytes = v128.load(at)
    const stops = i8x16.bitmask(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
    )
    if (stops == 0) continue
    at += ctz(stops)
    return load<u8>(at) == 0x22 ? at : NONE
  }
  return NONE
}

function bracketEnd(at: u32, end: u32): u32 {
  let depth: u32 = 0
  while (at < end) {
    const bytes = v128.load(at)
    // Braces differ from square brackets by this bit.
    const folded = v128.or(bytes, i8x16.splat(0x20))
    const isBracket = v128.or(
      i8x16.eq(folded, i8x16.splat(0x7b)),
      i8x16.eq(folded, i8x16.splat(0x7d)),
    )
    const stops = i8x16.bitmask(v128.or(isBracket, i8x16.eq(bytes, i8x16.splat(0x22))))
    at += stops == 0 ? 16 : ctz(stops) + 1
    if (stops == 0) continue
    const c: u32 = load<u8>(at - 1)
    if (c == 0x22) {
      const close = textEnd(at, end)
      if (close == NONE) return NONE
      at = close + 1
    } else if ((c | 0x20) == 0x7b) depth++
    else if (--depth == 0) return at
  }
  return NONE
}

/** Which bytes of the vector are no digits. */
function others(at: u32): u32 {
  return i8x16.bitmask(i8x16.gt_u(i8x16.sub(v128.load(at), i8x16.splat(0x30)), i8x16.splat(9)))
}

/** A number of at most 15 digits without an exponent, as a BIGINT and a DOUBLE hold it. */
function numberEnd(at: u32, type: u32): u32 {
  if (type != ANY && type != BIGINT && type != DOUBLE) return NONE
  const start = at
  if (load<u8>(at) == 0x2d) at++
  at += ctz(others(at) | 0x10000)
  if (load<u8>(at) == 0x2e) {
    if (type == BIGINT) return NONE
    at++
    at += ctz(others(at) | 0x10000)
  }
  const c: u32 = load<u8>(at)
  return at - start <= 15 && (c == 0x2c || c == 0x7d) ? at : NONE
}

function twoDigits(at: u32): u32 {
  return (load<u8>(at) - 0x30) * 10 + (load<u8>(at + 1) - 0x30)
}

/** The months of 31 days, one bit each. */
const LONG_MONTHS: u32 = 0b1010110101010

/** A day as 2026-03-31; the 29th of February may be none. */
function isDay(at: u32): bool {
  if ((others(at) & 0x3ff) != 0b10010000 || load<u8>(at + 4) != 0x2d || load<u8>(at + 7) != 0x2d)
    return false
  const isYearZero = load<u32>(at) == 0x30303030
  const month = twoDigits(at + 5)
  const day = twoDigits(at + 8)
  if (isYearZero || month - 1 > 11 || day - 1 > 30) return false
  return day <= 28 || (month != 2 && (day <= 30 || ((LONG_MONTHS >> month) & 1) != 0))
}
