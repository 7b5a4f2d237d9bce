import { KNOWN, KNOWN_ENTRIES, LENGTHS, NAME_ROOM, NAMES } from './memory'

export const NONE: u32 = 0
export const KEY: u32 = 1
export const VERSION: u32 = 2
export const DELETED: u32 = 3
export const ARRAY: u32 = 4
export const DATE: u32 = 5
export const DATA: u32 = 6
export const CHANGE_TYPE: u32 = 7
export const ITEMS: u32 = 8
export const NEXT_LINK: u32 = 9
export const DELTA_LINK: u32 = 10
/** The texts that values are compared with. */
export const DELETED_VALUE: u32 = 11
export const DELETE: u32 = 12
/** The kinds of changes that delete nothing. */
export const INSERT_OR_UPDATE: u32 = 13
export const INSERT: u32 = 14
export const UPDATE: u32 = 15

let candidates: u64 = 0

/** Registers a text of `length` ASCII bytes that the host has written to its slot. */
export function name(which: u32, length: u32): void {
  store<u32>(LENGTHS + which * 4, length)
  if (which <= CHANGE_TYPE) candidates |= (<u64>1) << (<u64>min<u32>(length, 63))
}

/** The address to which the host writes the text. */
export function nameAt(which: u32): u32 {
  return NAMES + which * NAME_ROOM
}

/** Which wanted name of a record the string between the quotes is. */
export function recordName(at: u32, end: u32, escaped: bool): u32 {
  if (escaped) {
    for (let which = KEY; which <= CHANGE_TYPE; which++)
      if (equals(which, at, end, true)) return which
    return NONE
  }
  const length = end - at
  if (((candidates >> <u64>min<u32>(length, 63)) & 1) == 0) return NONE
  for (let which = KEY; which <= CHANGE_TYPE; which++)
    if (load<u32>(LENGTHS + which * 4) == length && equals(which, at, end, false)) return which
  return NONE
}

/** Which wanted name of the page the string is; case is ignored. */
export function pageName(at: u32, end: u32): u32 {
  for (let which = ITEMS; which <= DELTA_LINK; which++)
    if (matches(which, at, end, 0x20)) return which
  return NONE
}

/** Whether the string between the quotes equals the text. */
export function equals(which: u32, at: u32, end: u32, escaped: bool): bool {
  if (escaped) return matches(which, at, end, 0)
  let left = load<u32>(LENGTHS + which * 4)
  if (end - at != left) return false
  let text = NAMES + which * NAME_ROOM
  while (left > 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(text))) != 0xffff) return false
    at += 16
    text += 16
    left -= 16
  }
  const same = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(text)))
  return ((same | (0xffff << left)) & 0xffff) == 0xffff
}

/** Whether the string between the quotes is one of the texts from `first` to `last`; case is ignored. */
export function isOneOf(first: u32, last: u32, at: u32, end: u32): bool {
  for (let which = first; which <= last; which++) if (matches(which, at, end, 0x20)) return true
  return false
}

/**
 * The slow comparison: escapes are decoded, and the bits of `fold` are set in every character (0x20 ignores case).
 */
function matches(which: u32, at: u32, end: u32, fold: u32): bool {
  let text = NAMES + which * NAME_ROOM
  const textEnd = text + load<u32>(LENGTHS + which * 4)
  while (at < end) {
    if (text == textEnd) return false
    let c: u32 = load<u8>(at++)
    if (c == 0x5c) {
      c = load<u8>(at++)
      if (c == 0x75) {
        c = 0
        for (let i = 0; i < 4; i++) c = (c << 4) | hexValue(load<u8>(at++))
      } else c = unescaped(c)
    }
    if ((c | fold) != (<u32>load<u8>(text++) | fold)) return false
  }
  return text == textEnd
}

function hexValue(c: u32): u32 {
  return c <= 0x39 ? c - 0x30 : (c | 0x20) - 0x57
}

function unescaped(c: u32): u32 {
  if (c == 0x62) return 8
  if (c == 0x66) return 12
  if (c == 0x6e) return 10
  if (c == 0x72) return 13
  if (c == 0x74) return 9
  return c
}

// The records of a stream have the same names in nearly the same order. Each name is therefore stored with the one
// that followed it, and the next name is first compared with that one. If it matches, its end is known without
// scanning it.

const ENTRY_BYTES: u32 = 64
/** The text of a name from its quote to the following colon: at most TEXT_BYTES. */
const TEXT_BYTES: u32 = 32
const IGNORED: usize = 32
const LENGTH: usize = 36
const WANTED: usize = 40
const INSIDE: usize = 44
const NEXT: u32 = 48

/** The address of the link to the first name of an element. */
export const FIRST_LINK: u32 = KNOWN + KNOWN_ENTRIES * ENTRY_BYTES

/** Whether the text at `at` is the known name, in a container of the same kind. */
export function isKnown(known: u32, at: u32, inside: u32): bool {
  const low = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(known)))
  const high = i8x16.bitmask(i8x16.eq(v128.load(at, 16), v128.load(known, 16)))
  return (
    (low | (high << 16) | load<i32>(known, IGNORED)) == -1 && load<u32>(known, INSIDE) == inside
  )
}

/** The length of a known name in bytes, from its quote to the following colon. */
export function knownLength(known: u32): u32 {
  return load<u32>(known, LENGTH)
}

/** Which of the wanted names the known name is. */
export function knownWanted(known: u32): u32 {
  return load<u32>(known, WANTED)
}

/** The address of the link to the name that followed the known one. */
export function linkOf(known: u32): u32 {
  return known + NEXT
}

/**
 * Stores a name without escapes, between its quotes `at` and `end`, as the one expected at `link`; returns its own
 * link. A name that is too long or is followed by white space is not stored.
 */
export function remember(at: u32, end: u32, inside: u32, wanted: u32, link: u32): u32 {
  const length = end + 2 - at
  if (length > TEXT_BYTES || load<u8>(end + 1) != 0x3a) return link
  const known = KNOWN + slot(at + 1, end - at - 1, inside) * ENTRY_BYTES
  const ignored: i32 = length == TEXT_BYTES ? 0 : -1 << length
  v128.store(known, v128.load(at))
  v128.store(known, v128.load(at, 16), 16)
  store<i32>(known, ignored, IGNORED)
  store<u32>(known, length, LENGTH)
  store<u32>(known, wanted, WANTED)
  store<u32>(known, inside, INSIDE)
  store<u32>(link, known)
  return known + NEXT
}

function slot(at: u32, length: u32, inside: u32): u32 {
  let start = load<u64>(at)
  if (length < 8) start &= ((<u64>1) << (<u64>length * 8)) - 1
  const mixed = (start ^ ((<u64>(length * 8 + inside)) << 56)) * 0x9e3779b97f4a7c15
  return <u32>(mixed >> 32) % KNOWN_ENTRIES
}
