import { ensure } from './heap'
import { INPUT } from './layout'

// The host is asked what the rules say of a name, and what replaces a value. Names come in each record, and the
// values of a few thousand people again and again: what it answered is looked up by the question's own bytes.

/** Longer questions and answers are not remembered. */
export const LONGEST: u32 = 255
/** Other questions at the place of one are passed over so often. */
const MOST_TRIES: u32 = 64

/** An entry: the subject of the question, the lengths of question and answer, and both. */
const LENGTH: usize = 4
const ANSWER_LENGTH: usize = 6
const TEXTS: u32 = 8

/**
 * Bytes for entries. Most streams have few names, and each stream has a memory: it has little room at first, and twice as
 * much from the next page on where that was not enough.
 */
const LEAST_ROOM: u32 = 131072
const MOST_ROOM: u32 = 8388608

// Before the entries are their places, in a table that is at most half full: one of 4 bytes for 64 bytes of entries.
const PLACES: u32 = INPUT
let room: u32 = LEAST_ROOM
let isFull: bool = false
let entryAt: u32 = entries()
let count: u32 = 0
/** Where the question that was looked for last would have its place; 0 if nowhere. */
let place: u32 = 0

function entries(): u32 {
  return PLACES + (room >>> 4)
}

/** A page begins: answers with the place behind all that is remembered. */
export function beginAnswers(): u32 {
  const isGrowing = isFull && room < MOST_ROOM
  if (isGrowing) room <<= 1
  const end = entries() + room
  ensure(end)
  if (isGrowing) forget()
  isFull = false
  return end
}

function forget(): void {
  memory.fill(PLACES, 0, room >>> 4)
  entryAt = entries()
  count = 0
}

/** The entry of a question, the text between `start` and `end`, asked of a subject; 0 when it is not known. */
export function find(subject: u32, start: u32, end: u32): u32 {
  const length = end - start
  place = 0
  if (length > LONGEST) return 0
  const code = hash(subject, start, end)
  for (let tries: u32 = 0; tries < MOST_TRIES; tries++) {
    const at = PLACES + (((code + tries) & ((room >>> 6) - 1)) << 2)
    const entry = load<u32>(at)
    if (entry == 0) {
      place = at
      return 0
    }
    if (
      load<u32>(entry) == subject &&
      load<u16>(entry, LENGTH) == length &&
      isSame(entry + TEXTS, start, length)
    )
      return entry
  }
  return 0
}

/** Where the answer of an entry stands. */
export function answerOf(entry: u32): u32 {
  return entry + TEXTS + load<u16>(entry, LENGTH)
}

export function answerLength(entry: u32): u32 {
  return load<u16>(entry, ANSWER_LENGTH)
}

/** Remembers the answer to the question that was looked for last. */
export function remember(subject: u32, start: u32, end: u32, answer: u32, size: u32): void {
  const length = end - start
  if (place == 0 || size > LONGEST) return
  const bytes = TEXTS + length + size
  if (count == room >>> 7 || entryAt + bytes + 16 > entries() + room) {
    isFull = true
    forget()
    find(subject, start, end)
  }
  store<u32>(place, entryAt)
  store<u32>(entryAt, subject)
  store<u16>(entryAt, <u16>length, LENGTH)
  store<u16>(entryAt, <u16>size, ANSWER_LENGTH)
  memory.copy(entryAt + TEXTS, start, length)
  memory.copy(entryAt + TEXTS + length, answer, size)
  entryAt += bytes
  count++
}

/** Four bytes at a time are multiplied and folded. */
function hash(subject: u32, at: u32, end: u32): u32 {
  let code = folded(subject ^ ((end - at) << 24))
  for (; at + 4 <= end; at += 4) code = folded(code ^ load<u32>(at))
  for (; at < end; at++) code = folded(code ^ load<u8>(at))
  return code
}

function folded(code: u32): u32 {
  const product = code * 0x9e3779b1
  return product ^ (product >>> 15)
}

function isSame(a: u32, b: u32, length: u32): bool {
  while (length > 16) {
    if (v128.any_true(v128.xor(v128.load(a), v128.load(b)))) return false
    a += 16
    b += 16
    length -= 16
  }
  const same = i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)))
  return ((same | (0xffff << length)) & 0xffff) == 0xffff
}
