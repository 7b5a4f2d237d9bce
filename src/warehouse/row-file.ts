import type { Column } from './column.ts'

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
/** the key of a deleted row, */
export const GONE = 0x31
/** or a deleted row with its last content. */
export const CONTENT = 0x32

/** A file of rows that have the same columns, and are of the same generation. */
export interface RowFile {
  readonly path: string
  readonly generation: number
  readonly columns: readonly Column[]
  readonly count: number
  /** The length of its longest row, in bytes. */
  readonly longest: number
  /** See `Encoded` in `row-encoder.ts`. */
  readonly imitatesRows: boolean
}
