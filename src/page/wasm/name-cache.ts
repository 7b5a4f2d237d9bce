import { KNOWN, KNOWN_ENTRIES } from './layout'

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
