import { limit } from './elements'
import { matchElements } from './match'
import {
  ELEMENT,
  FINE,
  INPUT,
  LIST,
  MAX_DEPTH,
  MAX_TEXT,
  NAME_TOO_LONG,
  NOT_AN_OBJECT,
  NOT_JSON,
  OTHER,
  PAGE,
  STACK,
  TEXT_TOO_LARGE,
  TOO_DEEP,
  TRAILING,
} from './memory'
import {
  FIRST_LINK,
  isKnown,
  knownLength,
  knownWanted,
  linkOf,
  NONE,
  pageName,
  recordName,
  remember,
} from './names'
import { close, depth, inside, misplaced, open, settle, startsValue } from './page'
import {
  beginNumber,
  beginText,
  escaped,
  literalEnd,
  numberEnd,
  resumeAt,
  space,
  stringEnd,
  textStops,
  wrongAt,
} from './tokens'

// What is expected next. The order matters: everything up to COLON belongs to the name of a member.
const FIRST_NAME: u32 = 0
const NAME: u32 = 1
export const NAME_TEXT: u32 = 2
const COLON: u32 = 3
const FIRST_VALUE: u32 = 4
const VALUE: u32 = 5
export const VALUE_TEXT: u32 = 6
const NUMBER: u32 = 7
const AFTER: u32 = 8
export const START: u32 = 9
export const DONE: u32 = 10

// Where the scan continues when there are more bytes.
export let state: u32 = START
export let cursor: u32 = INPUT
export let wanted: u32 = NONE
export let nameStart: u32 = 0
export let valueStart: u32 = 0
export let nameLink: u32 = FIRST_LINK

/** The position of the problem that `run` returned. */
export let problemAt: u32 = 0

/** Resets the state for a page that will begin at `at`. */
export function rewind(at: u32): void {
  state = START
  cursor = at
  beginText()
}

/** The kept bytes have moved down by `by` bytes. */
export function moveCursor(by: u32): void {
  cursor -= by
  nameStart -= by
  valueStart -= by
}

/**
 * Scans up to `end`. It is one long function on purpose: its state stays in local variables, and V8 does not inline
 * calls between WebAssembly functions.
 */
export function run(end: u32): u32 {
  let p = cursor
  let st = state
  let want = wanted
  let named = nameStart
  let begun = valueStart
  let link = nameLink
  let c: u32 = 0
  if (st == START) {
    p = space(p)
    c = load<u8>(p)
    if (c != 0x7b) {
      return startsValue(c) ? fail(p, NOT_AN_OBJECT) : stop(p, end, st, want, named, begun, link)
    }
    open(p++, c, NONE)
    want = NONE
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
          const known = load<u32>(link)
          if (isKnown(known, p, inside)) {
            p += knownLength(known)
            want = knownWanted(known)
            link = linkOf(known)
            st = VALUE
          } else {
            named = p++
            st = NAME_TEXT
          }
        } else if (c == 0x7d && st == FIRST_NAME) st = AFTER
        else return stop(p, end, st, want, named, begun, link)
      }
      if (st == NAME_TEXT) {
        let stops = textStops(p)
        while (stops == 0) stops = textStops((p += 16))
        p += ctz(stops)
        if (load<u8>(p) != 0x22) {
          p = stringEnd(p, end)
          if (p == 0) return cut(st, want, named, begun, link)
        }
        if (p - named - 1 > MAX_TEXT) return fail(named, NAME_TOO_LONG)
        if (inside >= ELEMENT) want = recordName(named + 1, p, escaped)
        else if (inside == PAGE) want = pageName(named + 1, p)
        if (escaped) beginText()
        else if (inside >= OTHER) link = remember(named, p, inside, want, link)
        p++
        st = COLON
      }
      if (st == COLON) {
        c = load<u8>(p)
        if (c <= 0x20) {
          p = space(p)
          c = load<u8>(p)
        }
        if (c != 0x3a) return stop(p, end, st, want, named, begun, link)
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
        if (inside <= LIST) {
          const problem = misplaced(c, want)
          if (problem != FINE) return fail(p, problem)
        }
        begun = p
        if (c == 0x22) {
          p++
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
            if (want != NONE) settle(want, begun, p, false)
          }
        } else if (c == 0x7b || c == 0x5b) {
          if (depth == MAX_DEPTH) return fail(p, TOO_DEEP)
          if (inside == LIST) {
            link = FIRST_LINK
            const after = matchElements(p, end)
            if (after != 0) {
              p = after
              st = AFTER
              continue
            }
          }
          open(p++, c, want)
          want = NONE
          inObject = c == 0x7b
          st = inObject ? FIRST_NAME : FIRST_VALUE
          continue
        } else {
          p = literalEnd(p, end)
          if (p == 0) return cut(st, want, named, begun, link)
          st = AFTER
          if (want != NONE) settle(want, begun, p, false)
        }
      }
    }
    if (st == VALUE_TEXT) {
      let stops = textStops(p)
      while (stops == 0) stops = textStops((p += 16))
      p += ctz(stops)
      if (load<u8>(p) != 0x22) {
        p = stringEnd(p, end)
        if (p == 0) return cut(st, want, named, begun, link)
      }
      p++
      st = AFTER
      if (want != NONE) {
        if (inside == PAGE && p - begun > limit) return fail(begun, TEXT_TOO_LARGE)
        settle(want, begun, p, escaped)
      }
      if (escaped) beginText()
    } else if (st == NUMBER) {
      p = numberEnd(p, end)
      if (p == 0) return cut(st, want, named, begun, link)
      st = AFTER
      if (want != NONE) settle(want, begun, p, false)
    }
    if (st == AFTER) {
      want = NONE
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
      } else return stop(p, end, st, want, named, begun, link)
    } else if (st == DONE) {
      p = space(p)
      return p < end ? fail(p, TRAILING) : stop(p, end, st, want, named, begun, link)
    }
  }
}

/** Stops at an unexpected byte: an error, unless it is the end of the chunk. */
function stop(at: u32, end: u32, next: u32, want: u32, named: u32, begun: u32, link: u32): u32 {
  if (at < end) return fail(at, NOT_JSON)
  return pause(at, next, want, named, begun, link)
}

/** Stops inside a token. */
function cut(next: u32, want: u32, named: u32, begun: u32, link: u32): u32 {
  if (wrongAt != 0) return fail(wrongAt, NOT_JSON)
  return pause(resumeAt, next, want, named, begun, link)
}

function pause(at: u32, next: u32, want: u32, named: u32, begun: u32, link: u32): u32 {
  cursor = at
  state = next
  wanted = want
  nameStart = named
  valueStart = begun
  nameLink = link
  return FINE
}

/** Stops with a problem. */
export function fail(at: u32, problem: u32): u32 {
  problemAt = at
  return problem
}
