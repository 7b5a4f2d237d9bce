import { addRow, dateIn, leaveAs, limit } from './elements'
import { ESCAPED_VERSION, MAX_TEXT, SHAPE_COUNT } from './memory'
import {
  CHANGE_TYPE,
  DATE,
  DELETE,
  DELETED,
  DELETED_VALUE,
  equals,
  INSERT_OR_UPDATE,
  KEY,
  NONE,
  VERSION,
} from './names'
import {
  beginRecord,
  endRecord,
  isInside,
  isReplaced,
  leave,
  leftEnd,
  list,
  replace,
  resume,
} from './rewrite'
import {
  CUT,
  CUT_BYTES,
  CUTS,
  CUTS_AT,
  DATA_BEGINS,
  DATA_ENDS,
  IGNORED,
  known,
  LAST,
  LENGTH,
  learn,
  RESUME,
  RULE,
  RULED,
  STEP_BYTES,
  stepsOf,
  TEXT,
  WANTED,
} from './shape'
import { arrayEnd, beginText, digits, escaped, stringEnd, textStops } from './tokens'

const REMOVED: u32 = 1
const MARKED: u32 = 2

// Learning a shape takes time, and so does comparing in vain. The credit limits both to what comparing has saved.
const FIRST_CREDIT: i32 = 64
const MOST_CREDIT: i32 = 512
const FIRST_COST: i32 = 3
const COST: i32 = 16
/** Without credit, this many elements are read by the general scanner, and each time twice as many. */
const FIRST_REST: u32 = 256
const LONGEST_REST: u32 = 8192

let credit: i32 = FIRST_CREDIT
let rest: u32 = 0
let nextRest: u32 = FIRST_REST
/** The shape of the previous element. */
let likely: u32 = 0

/**
 * Reads elements from `at` on as long as they have a known shape. Returns the end of the last one, or 0 if there is
 * none. The bytes from `end` on are zero, which no shape contains.
 */
export function matchElements(at: u32, end: u32): u32 {
  if (rest > 0) {
    rest--
    return 0
  }
  let done: u32 = 0
  for (let tried: u32 = 0; tried < known; ) {
    const shape = (likely + tried) % known
    const steps = stepsOf(shape)
    const isRuled = load<u32>(steps, RULED) != 0
    const after = isRuled
      ? matchShape<Rewritten>(at, end, steps)
      : matchShape<Whole>(at, end, steps)
    if (after == 0) {
      tried++
      continue
    }
    likely = shape
    done = after
    if (!isFollowed(after)) break
    at = after + 1
    // This shape did not match the next element, so the others are tried.
    tried = 1
  }
  if (credit > MOST_CREDIT) {
    credit = MOST_CREDIT
    nextRest = FIRST_REST
  }
  return done
}

/** Learns the shape of an element that matched no known one. */
export function learnElement(start: u32, end: u32, isChange: bool): void {
  if (rest > 0) return
  credit -= known < SHAPE_COUNT ? FIRST_COST : COST
  if (credit < 0) {
    credit = FIRST_CREDIT
    rest = nextRest
    nextRest = min<u32>(nextRest * 2, LONGEST_REST)
  } else if (learn(start, end, isChange)) likely = 0
}

/** Whether a comma and another element follow. */
function isFollowed(at: u32): bool {
  return load<u16>(at) == 0x7b2c
}

// `matchShape` is compiled twice, so that records that the rules leave as they are take no time for rules.
type Whole = u8
type Rewritten = u16

/**
 * Reads elements of one shape. It is one long function on purpose, like `run`. White space, numbers with an exponent
 * or very many digits, unusual kinds of changes, and elements with a problem are left to the general scanner.
 */
function matchShape<Records>(at: u32, end: u32, steps: u32): u32 {
  const isRewritten = sizeof<Records>() == sizeof<Rewritten>()
  let done: u32 = 0
  let p = at
  while (true) {
    const start = p
    let record = p
    let recordEnd: u32 = 0
    let key: u32 = 0
    let keyEnd: u32 = 0
    let version: u32 = 0
    let versionEnd: u32 = 0
    let date: u32 = 0
    let flags: u32 = 0
    let isDelete = false
    let step = steps
    let cutAt: u32 = 0
    if (isRewritten) beginRecord(p)
    while (true) {
      const textAt = p
      let text = load<u32>(step, TEXT)
      let left = load<u32>(step, LENGTH)
      const wanted = load<u32>(step, WANTED)
      while (left > 16) {
        if (v128.any_true(v128.xor(v128.load(p), v128.load(text)))) return done
        p += 16
        text += 16
        left -= 16
      }
      const same = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(text)))
      if ((same | load<i32>(step, IGNORED)) != 0xffff) return done
      p += left
      let cuts: u32 = isRewritten ? load<u32>(step, CUTS) : 0
      const rule: u32 = isRewritten ? load<u32>(step, RULE) : 0
      if (cuts != 0) {
        let at = load<u32>(step, CUTS_AT)
        for (; cuts != 0; cuts--) {
          const position = textAt + load<u32>(at)
          const action = load<u32>(at, 4)
          if (action == CUT) {
            cutAt = position
            leave(position)
          } else if (action == RESUME) resume(position)
          else replace(action, cutAt, position)
          at += CUT_BYTES
        }
      }
      step += STEP_BYTES
      if (wanted >= LAST) {
        if (wanted == DATA_BEGINS) {
          record = p
          beginRecord(p)
        } else if (wanted == DATA_ENDS) recordEnd = p
        else break
        continue
      }
      const begun = p
      const c: u32 = load<u8>(p)
      let isEscaped = false
      if (c == 0x22) {
        p++
        let stops = textStops(p)
        while (stops == 0) stops = textStops((p += 16))
        p += ctz(stops)
        if (load<u8>(p) != 0x22) {
          p = stringEnd(p, end)
          isEscaped = escaped
          if (isEscaped) beginText()
          if (p == 0) return done
        }
        p++
      } else if (c - 0x30 < 10 || c == 0x2d) {
        if (c == 0x2d) p++
        const length = digits(p)
        if (length == 0 || length > 15 || (length > 1 && load<u8>(p) == 0x30)) return done
        p += length
        if (load<u8>(p) == 0x2e) {
          const fraction = digits(++p)
          if (fraction == 0 || fraction > 15) return done
          p += fraction
        }
      } else if (c == 0x5b) {
        if (!isRewritten && load<u32>(step - STEP_BYTES, RULE) != 0) return done
        p = arrayEnd(p, end)
        if (p == 0) return done
      } else {
        const word = load<u32>(p)
        if (word == 0x65757274 || word == 0x6c6c756e) p += 4
        else if (word == 0x736c6166 && load<u8>(p, 4) == 0x65) p += 5
        else return done
      }
      if (rule != 0) {
        if (c == 0x5b && isInside(rule)) list(begun, rule, 0)
        else if (isReplaced(rule, c, isEscaped)) replace(rule, begun, p)
      }
      if (wanted == NONE) continue
      const isText = c == 0x22
      if (wanted == KEY) {
        key = c == 0x6e ? 0 : begun
        keyEnd = p
      } else if (wanted == VERSION) {
        version = isText ? begun + 1 : 0
        versionEnd = p - 1
        flags = isText && isEscaped ? flags | ESCAPED_VERSION : flags & ~ESCAPED_VERSION
      } else if (wanted == DATE) date = dateIn(begun, p, isEscaped)
      else if (wanted == DELETED) {
        const isMark = isText && equals(DELETED_VALUE, begun + 1, p - 1, isEscaped)
        flags = isMark ? flags | MARKED : flags & ~MARKED
      } else if (wanted == CHANGE_TYPE) {
        if (!isText) return done
        isDelete = equals(DELETE, begun + 1, p - 1, isEscaped)
        if (!isDelete && !equals(INSERT_OR_UPDATE, begun + 1, p - 1, isEscaped)) return done
      }
    }
    if (key == 0 || keyEnd - key > MAX_TEXT || p - start > limit) return done
    if (version != 0 && versionEnd - version > MAX_TEXT) return done
    if (isDelete) flags = (flags & ESCAPED_VERSION) | REMOVED
    if (recordEnd == 0) recordEnd = p
    const left = isRewritten ? endRecord(record, recordEnd) : record
    const row = addRow(record, recordEnd, key, keyEnd, version, versionEnd, date, flags)
    leaveAs(row, left, isRewritten ? leftEnd : recordEnd)
    credit++
    done = p
    if (!isFollowed(p)) return done
    p++
  }
}
