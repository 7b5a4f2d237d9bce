// Fixed places in linear memory. Above INPUT: the kept bytes of an unfinished part, the chunk, a
// few zero bytes (no loop needs a bounds check: a zero byte is legal nowhere in JSON), the rows.

/** The names and the value to look for, each in its own slot of NAME_ROOM bytes. */
export const NAMES: u32 = 1024
export const NAME_ROOM: u32 = 288
/** One byte per open container: 1 object, 0 array. */
export const STACK: u32 = 4096
export const MAX_DEPTH: u32 = 256
/** Head, tail and removed tail of a line, one after the other. */
export const PARTS: u32 = 8192
export const PARTS_ROOM: u32 = 65536
/** Where lines are put together, some at a time; copies may run over the end by a vector. */
export const WINDOW: u32 = 73728
export const WINDOW_ROOM: u32 = 262144
export const INPUT: u32 = 336128

/** Zero bytes behind the input: longer than any look-ahead. */
export const PADDING: u32 = 32

/** A row per record: start, end, start and end of the key, of the version, flags, unused. */
export const ROW_BYTES: u32 = 32
export const KIND_MASK: u32 = 3
export const ESCAPED_VERSION: u32 = 4
