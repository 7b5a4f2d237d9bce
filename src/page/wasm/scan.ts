import { beginAnswers } from './answers'
import { beginRows, count, elementStart, forgetElements, limit, rowsAt } from './elements'
import {
  cursor,
  DONE,
  fail,
  moveCursor,
  NAME_TEXT,
  nameStart,
  rewind,
  run,
  START,
  state,
  VALUE_TEXT,
  valueStart,
  wanted,
} from './json'
import {
  allocate,
  copy,
  ELEMENT_TOO_LARGE,
  ESCAPED_VERSION,
  ensure,
  FINE,
  INPUT,
  KIND_MASK,
  PADDING,
  PAGE,
  PARTS,
  ROW_BYTES,
  ROW_FLAGS,
  ROW_LONE,
  TEXT_TOO_LARGE,
  WINDOW,
  WINDOW_ROOM,
} from './memory'
import { NONE } from './names'
import { beginPage, inElement, inside, moveDown } from './page'
import { KEEP, root } from './rewrite'

export { count, elements, rowsAt } from './elements'
export { problemAt } from './json'
export { name, nameAt } from './names'
export { deltaLinkAt, deltaLinkEnd, itemsSeen, nextLinkAt, nextLinkEnd } from './page'
export { room, useRules } from './rewrite'

/** Where the host writes the parts of lines and reads lines. */
export const partsAt: u32 = PARTS
export const windowAt: u32 = WINDOW

let keepFrom: u32 = INPUT
let inputEnd: u32 = INPUT

/** The start of the input. */
let input: u32 = INPUT

/** Begins a new page. */
export function begin(maxRecordBytes: u32): void {
  input = root == KEEP ? INPUT : beginAnswers()
  rewind(input)
  keepFrom = input
  inputEnd = input
  beginPage()
  forgetElements(maxRecordBytes)
}

/** Makes room for a chunk after the kept bytes, and returns the address to write it to. */
export function prepare(chunkBytes: u32): u32 {
  const kept = inputEnd - keepFrom
  const by = keepFrom - input
  if (by != 0) memory.copy(input, keepFrom, kept)
  moveCursor(by)
  keepFrom = input
  inputEnd = input + kept + chunkBytes
  const rows = (inputEnd + PADDING + 15) & ~15
  ensure(rows)
  moveDown(by)
  beginRows(rows, by)
  return input + kept
}

/** Where the page stops: 1 at its end, 2 before its start, 3 in an element, 4 elsewhere. */
export function place(): u32 {
  if (state == DONE) return 1
  if (state == START) return 2
  return inElement() ? 3 : 4
}

/** Scans the chunk that was written, and writes the columns of its complete records. */
export function scan(): u32 {
  v128.store(inputEnd, i64x2.splat(0))
  v128.store(inputEnd + 16, i64x2.splat(0))
  const problem = run(inputEnd)
  if (problem != FINE) return problem
  keepFrom = cursor
  if (inElement()) keepFrom = elementStart
  else if (inside == PAGE && state == NAME_TEXT) keepFrom = nameStart
  else if (inside == PAGE && state == VALUE_TEXT && wanted != NONE) keepFrom = valueStart
  if (inputEnd - keepFrom > limit)
    return fail(keepFrom, inElement() ? ELEMENT_TOO_LARGE : TEXT_TOO_LARGE)
  layOutColumns()
  return FINE
}

/** One number per record: the key if it is an integer from 0 to 2^53-1, otherwise NaN. */
export let keysAt: u32 = 0
/** One byte per record, which the host reads and may overwrite. */
export let kindsAt: u32 = 0

/** Writes the keys and kinds of all rows. */
function layOutColumns(): void {
  const rowsEnd = rowsAt + count * ROW_BYTES
  keysAt = allocate(count * 9)
  kindsAt = keysAt + count * 8
  let key = keysAt
  let kind = kindsAt
  for (let row = rowsAt; row < rowsEnd; row += ROW_BYTES) {
    // The rules were not applied to this record, so nothing of the chunk may be passed on.
    if (load<u32>(row) == 0) unreachable()
    store<f64>(key, integer(load<u32>(row, 8), load<u32>(row, 12)))
    store<u8>(kind, <u8>(load<u32>(row, ROW_FLAGS) & KIND_MASK))
    key += 8
    kind++
  }
}

function integer(at: u32, end: u32): f64 {
  if (end - at > 16) return NaN
  let value: u64 = 0
  while (at < end) {
    const digit: u32 = <u32>load<u8>(at++) - 0x30
    if (digit > 9) return NaN
    value = value * 10 + digit
  }
  return value <= 9007199254740991 ? <f64>value : NaN
}

/** No record has a version, or comparing bytes is not enough for one of them. */
const NO_VERSION: i32 = -1
const UNPLAIN_VERSION: i32 = -2

/** The index of the record with the highest version. */
export function highestVersion(): i32 {
  let best: i32 = NO_VERSION
  let bestAt: u32 = 0
  let bestEnd: u32 = 0
  const total = <i32>count
  for (let i: i32 = 0; i < total; i++) {
    const row = rowsAt + i * ROW_BYTES
    const at = load<u32>(row, 16)
    if (at == 0) continue
    if (load<u32>(row, ROW_FLAGS) & ESCAPED_VERSION) return UNPLAIN_VERSION
    const end = load<u32>(row, 20)
    const order = best < 0 ? 1 : compare(at, end, bestAt, bestEnd)
    if (order == 0) continue
    if (order > 0) {
      if (!plain(at, end)) return UNPLAIN_VERSION
      best = i
      bestAt = at
      bestEnd = end
    } else if (!plain(at, end)) return UNPLAIN_VERSION
  }
  return best
}

function plain(at: u32, end: u32): bool {
  while (end - at >= 16) {
    if (i8x16.bitmask(v128.load(at)) != 0) return false
    at += 16
  }
  return (i8x16.bitmask(v128.load(at)) & ((1 << (end - at)) - 1)) == 0
}

function compare(a: u32, aEnd: u32, b: u32, bEnd: u32): i32 {
  const aLength = aEnd - a
  const bLength = bEnd - b
  const shared = min<u32>(aLength, bLength)
  for (let i: u32 = 0; i < shared; i += 16) {
    const differ = ~i8x16.bitmask(i8x16.eq(v128.load(a + i), v128.load(b + i))) & 0xffff
    if (differ) {
      const at = i + ctz(differ)
      if (at >= shared) break
      return <i32>load<u8>(a + at) - <i32>load<u8>(b + at)
    }
  }
  return aLength == bLength ? 0 : aLength > bLength ? 1 : -1
}

const SKIP: u32 = 3

/** The total size of all lines in bytes. */
export function lineBytes(head: u32, tail: u32, removedTail: u32): f64 {
  let total: f64 = 0
  for (let i: u32 = 0; i < count; i++) {
    const kind: u32 = load<u8>(kindsAt + i)
    if (kind == SKIP) continue
    const row = rowsAt + i * ROW_BYTES
    const brackets: u32 = load<u32>(row, ROW_LONE) == 0 ? 0 : 2
    const record = load<u32>(row, 4) - load<u32>(row) - 1 + brackets
    total += <f64>(head + record + (kind == 0 ? tail : removedTail))
  }
  return total
}

/** The number of bytes that `fill` has written to the window. */
export let filled: u32 = 0

/**
 * Writes lines to the window, starting with record `first`, until it is full or all are written; returns the next
 * record. If the first record is too large for the window or has a single object in place of an array, nothing is
 * written: then the host has to write its line.
 */
export function fill(first: u32, head: u32, tail: u32, removedTail: u32): u32 {
  const tails = PARTS + head
  let to = WINDOW
  let i = first
  for (; i < count; i++) {
    const kind: u32 = load<u8>(kindsAt + i)
    if (kind == SKIP) continue
    const row = rowsAt + i * ROW_BYTES
    if (load<u32>(row, ROW_LONE) != 0) break
    const start = load<u32>(row)
    const record = load<u32>(row, 4) - start - 1
    const end = kind == 0 ? tail : removedTail
    if (<u64>(to - WINDOW) + head + record + end > WINDOW_ROOM) break
    to = copy(to, PARTS, head)
    to = copy(to, start, record)
    to = copy(to, kind == 0 ? tails : tails + tail, end)
  }
  filled = to - WINDOW
  return i
}
