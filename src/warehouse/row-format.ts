/**
 * The file of rows that DuckDB reads as CSV. JSON has no raw control characters, so that they can
 * separate values: only texts with escapes have to be quoted.
 */
export const SEPARATOR = 0x1f
export const ROW_END = 0x0a
export const NULL = 0x01
export const QUOTING = 0x02

/** What the first column of a row says of it: the row as it is, */
export const PRESENT = 0x30
/** the key of a row that is gone, */
export const GONE = 0x31
/** or a row that is gone, with its last content. */
export const CONTENT = 0x32

/** What makes a line of a record: one that is deleted has a mark behind its brace. */
export const LINE_PARTS = {
  prefix: Buffer.alloc(0),
  suffix: Buffer.from('}\n'),
  deleteSuffix: Buffer.from('}d\n'),
} as const
