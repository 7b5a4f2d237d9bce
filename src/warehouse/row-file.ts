/**
 * DuckDB reads the rows as CSV with control characters instead of commas and quotes. A JSON text can contain them only
 * as escapes, so only texts with escapes may have to be quoted.
 */
export const SEPARATOR = 0x1f
export const ROW_END = 0x0a
export const NULL = 0x01
export const QUOTING = 0x02

/** The first column says what a row is: an ordinary row, */
export const PRESENT = 0x30
/** or a deleted one, of which only the key counts. */
export const GONE = 0x31
