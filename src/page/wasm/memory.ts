// Fixed addresses in linear memory. The input consists of the kept bytes of an unfinished part, the chunk, and a few
// zero bytes, which make bounds checks unnecessary because zero bytes are not allowed in JSON. It is followed by the
// rows, and among them the records that rules changed (`allocate`).

/** The facts about the current element, and the lengths of the names. */
export const FACTS: u32 = 768
export const LENGTHS: u32 = 896
/** The host's answer about a name. */
export const ANSWER: u32 = 1008
/** The names and values to look for, each in a slot of NAME_ROOM bytes. */
export const NAMES: u32 = 1024
export const NAME_ROOM: u32 = 288
/** One byte per open container: 1 for an object, 0 for an array. */
export const STACK: u32 = 5632
export const MAX_DEPTH: u32 = 256
/** The prefix and the two suffixes of a line, one after the other. */
export const PARTS: u32 = 8192
export const PARTS_ROOM: u32 = 65536
/** Where lines are assembled, a few at a time; copies may exceed the end by one vector. */
export const WINDOW: u32 = 73728
export const WINDOW_ROOM: u32 = 262144
/** The names in records so far. */
export const KNOWN: u32 = 336128
export const KNOWN_ENTRIES: u32 = 256
/** The shapes of elements (shape.ts), and room for the one being written. */
export const SHAPES: u32 = 352784
export const SHAPE_COUNT: u32 = 4
export const SHAPE_ROOM: u32 = 20480
export const MAX_STEPS: u32 = 256
/** What the rules did to a record, to be repeated for records of the same shape (`note` in shape.ts). */
export const SCRIPT: u32 = 455184
export const MAX_NOTES: u32 = 512
/** The input; if there are rules, it comes after the cache of their answers (answers.ts). */
export const INPUT: u32 = 459280

/** The number of zero bytes after the input; more than any look-ahead needs. */
export const PADDING: u32 = 32

/**
 * The row of a record. It contains start and end of the record after the rules, of its key, of its version, and of
 * the single object that replaces an array (0 if there is none), then flags, the start of its date (0 if there is
 * none), and start and end of the record as it was received.
 */
export const ROW_BYTES: u32 = 48
/** The offsets of the single object, the flags, the date, and the received record. */
export const ROW_LONE: usize = 24
export const ROW_FLAGS: usize = 32
export const ROW_DATE: usize = 36
export const ROW_CAME: usize = 40
export const KIND_MASK: u32 = 3
export const ESCAPED_VERSION: u32 = 4

// The kinds of containers: those of the page first, those with wanted names last.
export const PAGE: u32 = 0
export const LIST: u32 = 1
export const OTHER: u32 = 2
export const ELEMENT: u32 = 3
export const CHANGE_DATA: u32 = 4

// The results of a scan; the host knows these numbers.
export const FINE: u32 = 0
export const NOT_JSON: u32 = 1
export const TOO_DEEP: u32 = 2
export const NOT_AN_OBJECT: u32 = 3
export const ITEMS_NOT_A_LIST: u32 = 4
export const ITEMS_TWICE: u32 = 5
export const ELEMENT_NOT_AN_OBJECT: u32 = 6
export const ELEMENT_WITHOUT_KEY: u32 = 7
export const ELEMENT_TOO_LARGE: u32 = 8
export const LINK_NOT_TEXT: u32 = 9
export const TRAILING: u32 = 10
export const TEXT_TOO_LARGE: u32 = 11
export const NAME_TOO_LONG: u32 = 12
export const KEY_TOO_LONG: u32 = 13
export const VERSION_TOO_LONG: u32 = 14
export const UNKNOWN_CHANGE: u32 = 15

/**
 * The maximum length of a member name, a key and a version, with escapes: the state and a warehouse have to store
 * them.
 */
export const MAX_TEXT: u32 = 1024

// Everything that is created for a chunk is stored after it, until the next chunk comes.

/** The address of the next allocation. */
export let top: u32 = 0

/** Frees everything; allocations continue at `at`. */
export function clearHeap(at: u32): void {
  top = at
}

/** Allocates bytes at an aligned address. */
export function allocate(bytes: u32): u32 {
  const at = (top + 15) & ~15
  allocateUpTo(at + bytes)
  return at
}

/** Allocates from `top` to `end`; vectors may be read and written beyond the end. */
export function allocateUpTo(end: u32): void {
  top = end
  ensure(end + PADDING)
}

/** Grows the memory to at least this many bytes. */
export function ensure(bytes: u32): void {
  const have = <u32>memory.size()
  const need = (bytes + 0xffff) >>> 16
  if (need > have && memory.grow(<i32>(need - have)) < 0) unreachable()
}

/** Copies bytes. For short pieces, whole vectors that write beyond the end are faster than the copy routine. */
export function copy(to: u32, from: u32, length: u32): u32 {
  const end = to + length
  if (length > 2048) memory.copy(to, from, length)
  else
    while (to < end) {
      v128.store(to, v128.load(from))
      to += 16
      from += 16
    }
  return end
}
