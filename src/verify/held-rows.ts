import type { StreamSpec } from '../records/stream-spec.ts'
import type { RecordReader, RowShape } from './record-reader.ts'
import type { RowKey } from './row-digest.ts'
import type { RowTable } from './row-table.ts'

/** A stream that can be compared. */
export type VerifiedStream = RowShape & StreamSpec

/** What a warehouse holds of a stream. */
export interface HeldRows {
  readonly table: RowTable
  /** The keys of rows that have the key of another one. */
  readonly repeated: readonly RowKey[]
  /** Reads the records of the service for a comparison with these rows. */
  readonly reader: RecordReader
  /** The fields of the schema that no row has, so that they are not compared. */
  readonly lacking: readonly string[]
  /** What the last sync knew; undefined where rows alone are given. */
  readonly known?: {
    /** The first and the last day that the rows stand for. */
    readonly from: string | null
    readonly until: string | null
    /** The highest version that a sync has met. */
    readonly version: string | null
  }
}

/** What a warehouse holds of each stream; a stream that it does not hold whole has a reason in place of its rows. */
export type Held = ReadonlyMap<string, HeldRows | { readonly why: string }>
