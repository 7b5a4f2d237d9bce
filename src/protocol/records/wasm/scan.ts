import { layOutColumns } from './batch'
import {
  beginElement,
  beginRows,
  elementStart,
  ensure,
  finishElement,
  forgetElements,
  forgetLevel,
  KEYLESS,
  limit,
  take,
} from './elements'
import { INPUT, MAX_DEPTH, PADDING, PARTS, STACK, WINDOW } from './layout'
import { DATA, DELTA_LINK, ITEMS, NEXT_LINK, NONE, pageName, recordName } from './names'
import {
  beginNumber,
  escaped,
  literalEnd,
  numberEnd,
  resumeAt,
  setEscaped,
  space,
  stringEnd,
  wrongAt,
} from './tokens'

export { fill, filled, highestVersion, keysAt, kindsAt, lineBytes } from './batch'
export { count, elements, rowsAt } from './elements'
export { name, nameAt } from './names'

/** Where the host writes head and tails, and reads lines. */
export const partsAt: u32 = PARTS
export const windowAt: u32 = WINDOW

// What comes next. The order matters: everything up to COLON belongs to the name of a member.
const FIRST_NAME: u32 = 0
const NAME: u32 = 1
const NAME_TEXT: u32 = 2
const COLON: u32 = 3
const FIRST_VALUE: u32 = 4
const VALUE: u32 = 5
const VALUE_TEXT: u32 = 6
const NUMBER: u32 = 7
const AFTER: u32 = 8
const START: u32 = 9
const DONE: u32 = 10

// Which container the scanner is in.
const PAGE: u32 = 1
const LIST: u32 = 2
const ELEMENT: u32 = 3
const CHANGE_DATA: u32 = 4
const OTHER: u32 = 0

// What `scan` answers.
const FINE: u32 = 0
const NOT_JSON: u32 = 1
const TOO_DEEP: u32 = 2
const NOT_AN_OBJECT: u32 = 3
const ITEMS_NOT_A_LIST: u32 = 4
const ITEMS_TWICE: u32 = 5
const ELEMENT_NOT_AN_OBJECT: u32 = 6
const ELEMENT_WITHOUT_KEY: u32 = 7
const ELEMENT_TOO_LARGE: u32 = 8
const LINK_NOT_TEXT: u32 = 9
const TRAILING: u32 = 10
const TEXT_TOO_LARGE: u32 = 11

let state: u32 = START
let depth: u32 = 0
let inside: u32 = OTHER
let listOpen: bool = false
let dataOpen: bool = false
let wanted: u32 = NONE
let valueStart: u32 = 0
let elementWanted: u32 = NONE
let elementValueStart: u32 = 0
let dataWanted: u32 = NONE
let dataValueStart: u32 = 0
let nameStart: u32 = 0
let cursor: u32 = INPUT
let keepFrom: u32 = INPUT
let inputEnd: u32 = INPUT

/** Whether `value` was seen. */
export let itemsSeen: bool = false
/** The links seen last in this chunk: 0 none, 1 null, else the position of the opening quote. */
export let nextLinkAt: u32 = 0
export let nextLinkEnd: u32 = 0
export let deltaLinkAt: u32 = 0
export let deltaLinkEnd: u32 = 0
/** The byte at which `scan` found the problem it answers with. */
export let problemAt: u32 = 0

/** Forgets the previous page. */
export function begin(maxRecordBytes: u32): void {
  state = START
  depth = 0
  inside = OTHER
  listOpen = false
  dataOpen = false
  wanted = NONE
  cursor = INPUT
  keepFrom = INPUT
  inputEnd = INPUT
  itemsSeen = false
  forgetElements(maxRecordBytes)
}

/** Makes room for a chunk behind what is kept, and says where to write it. */
export function prepare(chunkBytes: u32): u32 {
  const kept = inputEnd - keepFrom
  const by = keepFrom - INPUT
  if (by != 0) {
    memory.copy(INPUT, keepFrom, kept)
    cursor -= by
    nameStart -= by
    valueStart -= by
    elementValueStart -= by
    dataValueStart -= by
  }
  const at = INPUT + kept
  inputEnd = at + chunkBytes
  keepFrom = INPUT
  const rows = (inputEnd + PADDING + 15) & ~15
  ensure(rows)
  beginRows(rows, by)
  nextLinkAt = 0
  deltaLinkAt = 0
  return at
}

/** Whether the page is complete, or where its bytes stop: 1 done, 2 nothing yet, 3 in an element, 4 elsewhere. */
export function place(): u32 {
  if (state == DONE) return 1
  if (state == START) return 2
  return inElement() ? 3 : 4
}

function inElement(): bool {
  return listOpen && depth > 2
}

/** Reads the chunk that was written, and lays out what it completed. */
export function scan(): u32 {
  v128.store(inputEnd, i64x2.splat(0))
  v128.store(inputEnd + 16, i64x2.splat(0))
  const problem = run(cursor, inputEnd)
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

function run(from: u32, end: u32): u32 {
  let p = from
  let st = state
  let c: u32 = 0
  if (st == START) {
    p = space(p)
    c = load<u8>(p)
    if (c != 0x7b) return startsValue(c) ? fail(p, NOT_AN_OBJECT) : stop(p, end, st)
    open(p, c)
    p++
    st = FIRST_NAME
  }
  let inObject: bool = load<u8>(STACK + depth) == 1
  while (true) {
    if (st <= COLON) {
      if (st <= NAME) {
        c = load<u8>(p)
        if (c <= 0x20) {
          p = space(p)
          c = load<u8>(p)
        }
        if (c == 0x22) {
          nameStart = p++
          setEscaped(false)
          st = NAME_TEXT
        } else if (c == 0x7d && st == FIRST_NAME) st = AFTER
        else return stop(p, end, st)
      }
      if (st == NAME_TEXT) {
        const stops = textStops(v128.load(p))
        let close = p + ctz(stops)
        if (stops == 0 || load<u8>(close) != 0x22) {
          close = stringEnd(p, end)
          if (close == 0) return cut(st)
        }
        p = close + 1
        st = COLON
        if (inside == PAGE) {
          if (p - nameStart > limit) return fail(nameStart, TEXT_TOO_LARGE)
          wanted = pageName(nameStart + 1, close)
        } else if (inside != OTHER) wanted = recordName(nameStart + 1, close, escaped)
      }
      if (st == COLON) {
        c = load<u8>(p)
        if (c <= 0x20) {
          p = space(p)
          c = load<u8>(p)
        }
        if (c != 0x3a) return stop(p, end, st)
        p++
        st = VALUE
      }
    }
    if (st <= VALUE) {
      c = load<u8>(p)
      if (c <= 0x20) {
        p = space(p)
        c = load<u8>(p)
      }
      if (c == 0x5d && st == FIRST_VALUE) st = AFTER
      else {
        if (inside == PAGE || inside == LIST) {
          const problem = misplaced(c)
          if (problem != FINE) return fail(p, problem)
        }
        valueStart = p
        if (c == 0x22) {
          p++
          setEscaped(false)
          st = VALUE_TEXT
        } else if (c - 0x30 < 10 || c == 0x2d) {
          let q = p
          if (c == 0x2d) c = load<u8>(++q)
          if (c - 0x31 < 9) {
            do c = load<u8>(++q)
            while (c - 0x30 < 10)
          } else if (c == 0x30) c = load<u8>(++q)
          else q = end
          if (q >= end || c == 0x2e || (c | 0x20) == 0x65) {
            beginNumber()
            st = NUMBER
          } else {
            p = q
            st = AFTER
            if (wanted != NONE) settle(p)
          }
        } else if (c == 0x7b || c == 0x5b) {
          if (depth == MAX_DEPTH) return fail(p, TOO_DEEP)
          open(p++, c)
          inObject = c == 0x7b
          st = inObject ? FIRST_NAME : FIRST_VALUE
          continue
        } else {
          const after = literalEnd(p, end)
          if (after == 0) return cut(st)
          p = after
          st = AFTER
          if (wanted != NONE) settle(p)
        }
      }
    }
    if (st == VALUE_TEXT) {
      const stops = textStops(v128.load(p))
      let close = p + ctz(stops)
      if (stops == 0 || load<u8>(close) != 0x22) {
        close = stringEnd(p, end)
        if (close == 0) return cut(st)
      }
      p = close + 1
      st = AFTER
      if (wanted != NONE) {
        if (inside == PAGE && p - valueStart > limit) return fail(valueStart, TEXT_TOO_LARGE)
        settle(p)
      }
    } else if (st == NUMBER) {
      p = numberEnd(p, end)
      if (p == 0) return cut(st)
      st = AFTER
      if (wanted != NONE) settle(p)
    }
    if (st == AFTER) {
      c = load<u8>(p)
      if (c <= 0x20) {
        p = space(p)
        c = load<u8>(p)
      }
      if (c == 0x2c) {
        p++
        st = inObject ? NAME : VALUE
      } else if (c == (inObject ? 0x7d : 0x5d)) {
        p++
        const problem = close(p)
        if (problem != FINE) return fail(p, problem)
        if (depth == 0) st = DONE
        inObject = load<u8>(STACK + depth) == 1
      } else return stop(p, end, st)
    } else if (st == DONE) {
      p = space(p)
      return p < end ? fail(p, TRAILING) : stop(p, end, st)
    }
  }
}

function textStops(bytes: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
      i8x16.lt_u(bytes, i8x16.splat(0x20)),
    ),
  )
}

/** Leaves at a byte that does not fit; behind the end it is only not there yet. */
function stop(at: u32, end: u32, next: u32): u32 {
  cursor = at
  state = next
  return at < end ? fail(at, NOT_JSON) : FINE
}

/** Leaves inside a token. */
function cut(next: u32): u32 {
  cursor = resumeAt
  state = next
  return wrongAt == 0 ? FINE : fail(wrongAt, NOT_JSON)
}

function fail(at: u32, problem: u32): u32 {
  problemAt = at
  return problem
}

function startsValue(c: u32): bool {
  return (
    c == 0x22 ||
    c == 0x5b ||
    c == 0x7b ||
    c == 0x2d ||
    c - 0x30 < 10 ||
    c == 0x74 ||
    c == 0x66 ||
    c == 0x6e
  )
}

/** Whether a value that begins with `c` has no place here. */
function misplaced(c: u32): u32 {
  if (!startsValue(c)) return FINE
  if (inside == LIST) return c == 0x7b ? FINE : ELEMENT_NOT_AN_OBJECT
  if (wanted == ITEMS) {
    if (itemsSeen) return ITEMS_TWICE
    return c == 0x5b ? FINE : ITEMS_NOT_A_LIST
  }
  if (wanted == NONE || c == 0x22 || c == 0x6e) return FINE
  return LINK_NOT_TEXT
}

/** Enters the container that begins at `at`. */
function open(at: u32, c: u32): void {
  let entered = OTHER
  if (inside == ELEMENT) {
    elementWanted = wanted
    elementValueStart = at
    if (wanted == DATA && c == 0x7b) {
      entered = CHANGE_DATA
      dataOpen = true
      forgetLevel(1)
    }
  } else if (inside == CHANGE_DATA) {
    dataWanted = wanted
    dataValueStart = at
  } else if (inside == LIST) {
    entered = ELEMENT
    beginElement(at)
  } else if (depth == 0) entered = PAGE
  else if (inside == PAGE && wanted == ITEMS) {
    entered = LIST
    listOpen = true
    itemsSeen = true
  }
  inside = entered
  wanted = NONE
  depth++
  store<u8>(STACK + depth, c == 0x7b ? 1 : 0)
}

/** Leaves the container that ends before `at`. */
function close(at: u32): u32 {
  depth--
  if (inside == ELEMENT) {
    inside = LIST
    const problem = finishElement(at)
    if (problem == FINE) return FINE
    return problem == KEYLESS ? ELEMENT_WITHOUT_KEY : ELEMENT_TOO_LARGE
  }
  if (inside == CHANGE_DATA) dataOpen = false
  if (depth == 1) {
    inside = PAGE
    listOpen = false
  } else if (listOpen && depth == 3) {
    inside = ELEMENT
    if (elementWanted != NONE) take(0, elementWanted, elementValueStart, at, false)
  } else if (dataOpen && depth == 4) {
    inside = CHANGE_DATA
    if (dataWanted != NONE) take(1, dataWanted, dataValueStart, at, false)
  }
  return FINE
}

/** Takes down the wanted value that ends before `at`. */
function settle(at: u32): void {
  if (inside == ELEMENT) take(0, wanted, valueStart, at, escaped)
  else if (inside == CHANGE_DATA) take(1, wanted, valueStart, at, escaped)
  else {
    const link: u32 = load<u8>(valueStart) == 0x22 ? valueStart : 1
    if (wanted == NEXT_LINK) {
      nextLinkAt = link
      nextLinkEnd = at
    } else if (wanted == DELTA_LINK) {
      deltaLinkAt = link
      deltaLinkEnd = at
    }
  }
  wanted = NONE
}
