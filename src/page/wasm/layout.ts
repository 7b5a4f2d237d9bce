// Fixed places in linear memory. From the input on: the kept bytes of an unfinished part, the chunk, a
// few zero bytes (no loop needs a bounds check: a zero byte is legal nowhere in JSON), the rows, and among
// them the records that rules changed (heap.ts).

/** What is known of the element under way, and the lengths of the names. */
export const FACTS: u32 = 768
export const LENGTHS: u32 = 960
/** What the host answered about a name. */
export const ANSWER: u32 = 1008
/** The names and the value to look for, each in its own slot of NAME_ROOM bytes. */
export const NAMES: u32 = 1024
export const NAME_ROOM: u32 = 288
/** One byte per open container: 1 object, 0 array. */
export const STACK: u32 = 4608
export const MAX_DEPTH: u32 = 256
/** Head, tail and removed tail of a line, one after the other. */
export const PARTS: u32 = 8192
export const PARTS_ROOM: u32 = 65536
/** Where lines are put together, some at a time; copies may run over the end by a vector. */
export const WINDOW: u32 = 73728
export const WINDOW_ROOM: u32 = 262144
/** Names seen in records. */
export const KNOWN: u32 = 336128
export const KNOWN_ENTRIES: u32 = 256
/** The shapes of elements (shape.ts), and room for the one that is being written. */
export const SHAPES: u32 = 352784
export const SHAPE_COUNT: u32 = 4
export const SHAPE_ROOM: u32 = 20480
export const MAX_STEPS: u32 = 256
/** What the rules did to a record, to be done to the next ones of its shape (script.ts). */
export const SCRIPT: u32 = 455184
export const MAX_NOTES: u32 = 512
/** The input; where there are rules, behind what the host answered about them (answers.ts). */
export const INPUT: u32 = 459280

/** Zero bytes behind the input: longer than any look-ahead. */
export const PADDING: u32 = 32

/**
 * A row per record: start and end of the record as the rules leave it, of the key, of the version, of the
 * lone object that stands for an array (0 if there is none), flags, unused, start and end of the record as it came.
 */
export const ROW_BYTES: u32 = 48
/** Where the row has the start of the lone object, and the flags. */
export const ROW_LONE: usize = 24
export const ROW_FLAGS: usize = 32
export const ROW_CAME: usize = 40
export const KIND_MASK: u32 = 3
export const ESCAPED_VERSION: u32 = 4

// Which container the scanner is in: those of the page first, those with wanted names last.
export const PAGE: u32 = 0
export const LIST: u32 = 1
export const OTHER: u32 = 2
export const ELEMENT: u32 = 3
export const CHANGE_DATA: u32 = 4

// What a scan answers; the host knows these numbers.
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

/** Longest name of a member, key and version, as they are written: the state and a warehouse have to hold them. */
export const MAX_TEXT: u32 = 1024
