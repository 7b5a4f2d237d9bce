import { beginAnswers } from './answers'
import { layOutColumns } from './batch'
import { beginRows, elementStart, forgetElements, limit } from './elements'
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
  ELEMENT_TOO_LARGE,
  ensure,
  FINE,
  INPUT,
  PADDING,
  PAGE,
  PARTS,
  TEXT_TOO_LARGE,
  WINDOW,
} from './memory'
import { NONE } from './names'
import { beginPage, inElement, inside, moveDown } from './page'
import { KEEP, root } from './rewrite'

export { fill, filled, highestVersion, keysAt, kindsAt, lineBytes } from './batch'
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
