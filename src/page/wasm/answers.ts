import { ensure, INPUT } from './memory'

// The host answers which rule applies to a name, and what replaces a value. Every record has the same names, and many
// have the same values, so answers are cached by the bytes of their question.

/** Longer questions and answers are not cached. */
export const LONGEST: u32 = 255
/** The most places that are tried for a question. */
const MOST_TRIES: u32 = 64

/** An entry: the subject of the question, the lengths of question and answer, and both texts. */
const LENGTH: usize = 4
const ANSWER_LENGTH: usize = 6
const TEXTS: u32 = 8

/**
 * The size of the cache in bytes. Most streams have few names, and each stream has its own memory, so the cache
 * starts small and doubles at the next page if it was too small.
 */
const LEAST_ROOM: u32 = 131072
const MOST_ROOM: u32 = 8388608

// The hash table comes before the entries: one place of 4 bytes for 64 bytes of entries. It is at most half full.
const PLACES: u32 = INPUT
let room: u32 = LEAST_ROOM
let isFull: bool = false
let entryAt: u32 = entries()
let count: u32 = 0
/** The free place for the question of the last `find`; 0 if there is none. */
let place: u32 = 0

function entries(): u32 {
  return PLACES + (room >>> 4)
}

/** Begins a page; returns the address after the cache. */
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

/** Returns the entry of a question about a subject, the text between `start` and `end`; 0 if it is not cached. */
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

/** The address of an entry's answer. */
export function answerOf(entry: u32): u32 {
  return entry + TEXTS + load<u16>(entry, LENGTH)
}

export function answerLength(entry: u32): u32 {
  return load<u16>(entry, ANSWER_LENGTH)
}

/** Caches the answer to the question of the last `find`. */
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

/** Hashes four bytes at a time. */
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
