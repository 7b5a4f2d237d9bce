import {
  allocate,
  clearHeap,
  copy,
  ESCAPED_VERSION,
  FACTS,
  MAX_TEXT,
  ROW_BYTES,
  ROW_CAME,
  ROW_DATE,
  ROW_FLAGS,
  ROW_LONE,
  top,
} from './memory'
import {
  ARRAY,
  CHANGE_TYPE,
  DATA,
  DATE,
  DELETE,
  DELETED,
  DELETED_VALUE,
  equals,
  INSERT_OR_UPDATE,
  isOneOf,
  KEY,
  UPDATE,
  VERSION,
} from './names'
import { KEEP, leftEnd, rewriteRecord, root } from './rewrite'
import { spoilScript } from './shape'
import { beginVersions, noteVersion } from './version'

// The facts about the current element (level 0) and its `data` object (level 1).
const LEVEL_BYTES: u32 = 32
const KEY_START: usize = 0
const KEY_END: usize = 4
const VERSION_START: usize = 8
const VERSION_END: usize = 12
const LONE_START: usize = 16
const LONE_END: usize = 20
const DATE_START: usize = 24
const FLAGS: usize = 28

const MARKED: u32 = 2
const REMOVED: u32 = 1

let changeStart: u32 = 0
let changeEnd: u32 = 0
let dataStart: u32 = 0
let dataEnd: u32 = 0

/** The start of the current element. */
export let elementStart: u32 = 0
/** Whether the last complete element is a change. */
export let isChange: bool = false
/** The number of complete elements: of the page, and of the rows of this chunk. */
export let elements: f64 = 0
export let count: u32 = 0
export let rowsAt: u32 = 0
let rowEnd: u32 = 0
let rowsLimit: u32 = 0
export let limit: u32 = 0

export function forgetElements(maxRecordBytes: u32): void {
  elements = 0
  count = 0
  limit = maxRecordBytes
}

/** Starts the rows of a new chunk at `at`; the kept positions have moved down by `by` bytes. */
export function beginRows(at: u32, by: u32): void {
  clearHeap(at)
  rowsAt = at
  rowEnd = at
  rowsLimit = at
  count = 0
  beginVersions()
  elementStart -= by
  if (changeStart) {
    changeStart -= by
    changeEnd -= by
  }
  if (dataStart) {
    dataStart -= by
    dataEnd -= by
  }
  for (let pointer = FACTS; pointer < FACTS + 2 * LEVEL_BYTES; pointer += LEVEL_BYTES) {
    for (let i: u32 = 0; i < <u32>FLAGS; i += 4) {
      const value = load<u32>(pointer + i)
      if (value) store<u32>(pointer + i, value - by)
    }
  }
}

export function beginElement(at: u32): void {
  elementStart = at
  changeStart = 0
  dataStart = 0
  forgetLevel(0)
}

/** Clears the facts of a level: the element itself, or its `data`. */
export function forgetLevel(level: u32): void {
  const facts = FACTS + level * LEVEL_BYTES
  v128.store(facts, i64x2.splat(0))
  v128.store(facts, i64x2.splat(0), LONE_START)
}

/** Stores the facts about a value, from `start` (the quote of a string) to `end`. */
export function take(level: u32, name: u32, start: u32, end: u32, escaped: bool): void {
  const facts = FACTS + level * LEVEL_BYTES
  const c: u32 = load<u8>(start)
  const isText = c == 0x22
  if (name == KEY) {
    store<u32>(facts, c == 0x6e ? 0 : start, KEY_START)
    store<u32>(facts, end, KEY_END)
  } else if (name == VERSION) {
    const flags = load<u32>(facts, FLAGS) & ~ESCAPED_VERSION
    store<u32>(facts, isText ? start + 1 : 0, VERSION_START)
    store<u32>(facts, end - 1, VERSION_END)
    store<u32>(facts, escaped && isText ? flags | ESCAPED_VERSION : flags, FLAGS)
  } else if (name == DELETED) {
    const isMark = isText && equals(DELETED_VALUE, start + 1, end - 1, escaped)
    const flags = load<u32>(facts, FLAGS) & ~MARKED
    store<u32>(facts, isMark ? flags | MARKED : flags, FLAGS)
  } else if (name == ARRAY) {
    store<u32>(facts, c == 0x7b ? start : 0, LONE_START)
    store<u32>(facts, end, LONE_END)
  } else if (name == DATE) {
    store<u32>(facts, dateIn(start, end, escaped), DATE_START)
  } else if (name == DATA && level == 0) {
    dataStart = c == 0x7b ? start : 0
    dataEnd = end
  } else if (name == CHANGE_TYPE && level == 0) {
    changeStart = isText ? start : 0
    changeEnd = end
  }
}

/** The length of a date in quotes, which may be the beginning of a longer text. */
const QUOTED_DATE: u32 = 12

/** The start of the date in a value; 0 if the value is no text of that length without escapes. */
export function dateIn(start: u32, end: u32, escaped: bool): u32 {
  return load<u8>(start) == 0x22 && !escaped && end - start >= QUOTED_DATE ? start + 1 : 0
}

/** The problems of an element. */
export const KEYLESS: u32 = 1
export const TOO_LARGE: u32 = 2
export const LONG_KEY: u32 = 3
export const LONG_VERSION: u32 = 4
export const STRANGE: u32 = 5

/** Writes the row of the element that ends before `end`; returns 0, or its problem. */
export function finishElement(end: u32): u32 {
  isChange = changeStart != 0 && dataStart != 0
  const facts = isChange ? FACTS + LEVEL_BYTES : FACTS
  if (end - elementStart > limit) return TOO_LARGE
  const key = load<u32>(facts, KEY_START)
  if (key == 0) return KEYLESS
  if (load<u32>(facts, KEY_END) - key > MAX_TEXT) return LONG_KEY
  const version = load<u32>(facts, VERSION_START)
  if (version != 0 && load<u32>(facts, VERSION_END) - version > MAX_TEXT) return LONG_VERSION
  let flags = load<u32>(facts, FLAGS)
  if (isChange) {
    if (isOneOf(DELETE, DELETE, changeStart + 1, changeEnd - 1))
      flags = (flags & ESCAPED_VERSION) | REMOVED
    else if (!isOneOf(INSERT_OR_UPDATE, UPDATE, changeStart + 1, changeEnd - 1)) return STRANGE
  }
  const loneStart = load<u32>(facts, LONE_START)
  const isLone = loneStart != 0 && root != KEEP
  let start = isChange ? dataStart : elementStart
  let recordEnd = isChange ? dataEnd : end
  if (isLone) {
    start = withArray(start, loneStart, load<u32>(facts, LONE_END), recordEnd)
    recordEnd = top
  }
  const row = addRow(
    start,
    recordEnd,
    key,
    load<u32>(facts, KEY_END),
    version,
    load<u32>(facts, VERSION_END),
    load<u32>(facts, DATE_START),
    flags,
  )
  if (root == KEEP) {
    leaveAs(row, start, recordEnd)
    store<u64>(row, load<u64>(facts, LONE_START), ROW_LONE)
  } else leaveAs(row, rewriteRecord(start, recordEnd), leftEnd)
  // The positions in the script are those of a copy.
  if (isLone) spoilScript()
  return 0
}

/** Copies a record with the single object in an array; the copy ends at `top`. */
function withArray(start: u32, loneStart: u32, loneEnd: u32, end: u32): u32 {
  const copied = allocate(end - start + 2)
  let to = copy(copied, start, loneStart - start)
  store<u8>(to, 0x5b)
  to = copy(to + 1, loneStart, loneEnd - loneStart)
  store<u8>(to, 0x5d)
  copy(to + 1, loneEnd, end - loneEnd)
  return copied
}

/** Writes the row of a record, without its final position: `leaveAs` must follow. */
export function addRow(
  start: u32,
  end: u32,
  key: u32,
  keyEnd: u32,
  version: u32,
  versionEnd: u32,
  date: u32,
  flags: u32,
): u32 {
  if (rowEnd == rowsLimit) growRows()
  const row = rowEnd
  store<u32>(row, 0)
  store<u32>(row, 0, 4)
  store<u32>(row, key, 8)
  store<u32>(row, keyEnd, 12)
  store<u32>(row, version, 16)
  store<u32>(row, versionEnd, 20)
  store<u64>(row, 0, ROW_LONE)
  store<u32>(row, flags, ROW_FLAGS)
  store<u32>(row, date, ROW_DATE)
  store<u32>(row, start, ROW_CAME)
  store<u32>(row, end, ROW_CAME + 4)
  noteVersion(count, version, versionEnd, flags)
  rowEnd += ROW_BYTES
  count++
  elements += 1
  return row
}

/** Sets the position of a row's record after the rules. */
export function leaveAs(row: u32, start: u32, end: u32): void {
  store<u32>(row, start)
  store<u32>(row, end, 4)
}

const ROWS_AT_ONCE: u32 = 64 * ROW_BYTES

/** Makes room for more rows: after the present ones, or, if records of the chunk are there, by moving all rows. */
function growRows(): void {
  if (rowsLimit == top) allocate(ROWS_AT_ONCE)
  else {
    const bytes = rowEnd - rowsAt
    const moved = allocate(bytes * 2 + ROWS_AT_ONCE)
    memory.copy(moved, rowsAt, bytes)
    rowsAt = moved
    rowEnd = moved + bytes
  }
  rowsLimit = top
}
