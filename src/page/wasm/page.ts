import {
  beginElement,
  elementStart,
  finishElement,
  forgetLevel,
  isChange,
  KEYLESS,
  LONG_KEY,
  LONG_VERSION,
  STRANGE,
  take,
} from './elements'
import { learnElement } from './match'
import {
  CHANGE_DATA,
  ELEMENT,
  ELEMENT_NOT_AN_OBJECT,
  ELEMENT_TOO_LARGE,
  ELEMENT_WITHOUT_KEY,
  FINE,
  ITEMS_NOT_A_LIST,
  ITEMS_TWICE,
  KEY_TOO_LONG,
  LINK_NOT_TEXT,
  LIST,
  OTHER,
  PAGE,
  STACK,
  UNKNOWN_CHANGE,
  VERSION_TOO_LONG,
} from './memory'
import { DATA, DELTA_LINK, ITEMS, NEXT_LINK, NONE } from './names'

/** The number of open containers, and the kind of the innermost one. */
export let depth: u32 = 0
export let inside: u32 = OTHER
let listOpen: bool = false
let dataOpen: bool = false

// The member whose value the current container is, in an element and in its data.
let elementWanted: u32 = NONE
let elementValueStart: u32 = 0
let dataWanted: u32 = NONE
let dataValueStart: u32 = 0

/** Whether `value` has been found. */
export let itemsSeen: bool = false
/** The last links in this chunk: the position of the opening quote, 0 for none. */
export let nextLinkAt: u32 = 0
export let nextLinkEnd: u32 = 0
export let deltaLinkAt: u32 = 0
export let deltaLinkEnd: u32 = 0

/** Begins a new page. */
export function beginPage(): void {
  depth = 0
  inside = OTHER
  listOpen = false
  dataOpen = false
  itemsSeen = false
}

/** Begins a new chunk; the kept positions have moved down by `by` bytes. */
export function moveDown(by: u32): void {
  elementValueStart -= by
  dataValueStart -= by
  nextLinkAt = 0
  deltaLinkAt = 0
}

/** Whether an element has begun but not ended. */
export function inElement(): bool {
  return listOpen && depth > 2
}

/** Whether a value may begin with the byte. */
export function startsValue(c: u32): bool {
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

/** The problem of a value that begins with `c`, as a member of the page or an element of its list. */
export function misplaced(c: u32, wanted: u32): u32 {
  if (!startsValue(c)) return FINE
  if (inside == LIST) return c == 0x7b ? FINE : ELEMENT_NOT_AN_OBJECT
  if (wanted == ITEMS) {
    if (itemsSeen) return ITEMS_TWICE
    return c == 0x5b ? FINE : ITEMS_NOT_A_LIST
  }
  if (wanted == NONE || c == 0x22 || c == 0x6e) return FINE
  return LINK_NOT_TEXT
}

/** Enters the container that begins at `at` with the byte `c`. */
export function open(at: u32, c: u32, wanted: u32): void {
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
  depth++
  store<u8>(STACK + depth, c == 0x7b ? 1 : 0)
}

/** Leaves the innermost container, which ends before `at`. */
export function close(at: u32): u32 {
  depth--
  if (inside == ELEMENT) {
    inside = LIST
    const problem = finishElement(at)
    if (problem == FINE) {
      learnElement(elementStart, at, isChange)
      return FINE
    }
    if (problem == KEYLESS) return ELEMENT_WITHOUT_KEY
    if (problem == LONG_KEY) return KEY_TOO_LONG
    if (problem == STRANGE) return UNKNOWN_CHANGE
    return problem == LONG_VERSION ? VERSION_TOO_LONG : ELEMENT_TOO_LARGE
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

/** Stores the value between `start` and `end`, which belongs to the name `wanted`. */
export function settle(wanted: u32, start: u32, end: u32, escaped: bool): void {
  if (inside == ELEMENT) take(0, wanted, start, end, escaped)
  else if (inside == CHANGE_DATA) take(1, wanted, start, end, escaped)
  else if (load<u8>(start) != 0x22 || end - start == 2) return
  // A page has a link if it has one in any spelling of its name: null and an empty text in another one end nothing.
  else if (wanted == NEXT_LINK) {
    nextLinkAt = start
    nextLinkEnd = end
  } else if (wanted == DELTA_LINK) {
    deltaLinkAt = start
    deltaLinkEnd = end
  }
}
