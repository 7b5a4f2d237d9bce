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
export { highestVersion } from './version'

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
/** Whether all keys are integers, each higher than the one before. */
export let isRising: bool = true
/** The size of all records in bytes, each without its final brace. */
export let recordBytes: f64 = 0

/** Writes the keys and kinds of all rows. */
function layOutColumns(): void {
  const rowsEnd = rowsAt + count * ROW_BYTES
  keysAt = allocate(count * 9)
  kindsAt = keysAt + count * 8
  let at = keysAt
  let kind = kindsAt
  let last: f64 = -1
  let rising = true
  let bytes: u64 = 0
  for (let row = rowsAt; row < rowsEnd; row += ROW_BYTES) {
    const start = load<u32>(row)
    // The rules were not applied to this record, so nothing of the chunk may be passed on.
    if (start == 0) unreachable()
    const brackets: u32 = load<u32>(row, ROW_LONE) == 0 ? 0 : 2
    bytes += load<u32>(row, 4) - start - 1 + brackets
    const key = integer(load<u32>(row, 8), load<u32>(row, 12))
    // NaN is not higher than anything.
    rising = rising && key > last
    last = key
    store<f64>(at, key)
    store<u8>(kind, <u8>(load<u32>(row, ROW_FLAGS) & KIND_MASK))
    at += 8
    kind++
  }
  isRising = rising
  recordBytes = <f64>bytes
}

function integer(at: u32, end: u32): f64 {
  const length = end - at
  if (length > 16) return NaN
  if (length <= 8) return eightDigits(at, length)
  const high = eightDigits(at, length - 8)
  const value = high * 100000000 + eightDigits(end - 8, 8)
  return value <= 9007199254740991 ? value : NaN
}

/** The number of at most eight digits; NaN if there is something else among them. */
function eightDigits(at: u32, length: u32): f64 {
  // Zeros in front fill the eight bytes; the first digit is in the lowest one.
  const zeros: u64 = 0x3030303030303030
  let digits = (load<u64>(at) << (64 - 8 * length)) | ((zeros >> (8 * (length - 1))) >> 8)
  const isOther =
    (digits & 0xf0f0f0f0f0f0f0f0) | (((digits + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)
  if (isOther != 0x3333333333333333) return NaN
  // Neighbours are combined to numbers of two, four and eight digits.
  digits = ((digits & 0x0f0f0f0f0f0f0f0f) * 2561) >> 8
  digits = ((digits & 0x00ff00ff00ff00ff) * 6553601) >> 16
  return <f64>(((digits & 0x0000ffff0000ffff) * 42949672960001) >> 32)
}

const SKIP: u32 = 3

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
