import type { ObjectRules, RecordBatch } from '../records/record-batch.ts'

/** A row that is gone: the JSON text of its key columns, without braces, such as `"id":7`. */
export type KeyMembers = string

/** Where a later sync continues, of everything that has been emitted when it is called. */
export type StateSource = () => object

/** What rows get beside what they are. */
export interface Stamp {
  /** Which complete reading of the stream they come from; rises with each. */
  readonly generation: number
  /**
   * Rises with everything that is written of the stream, also from sync to sync: of two records of a row the one
   * with the higher cursor counts. Microseconds since 1970, about.
   */
  readonly cursor: number
  /** The service's time: that of a deletion. */
  readonly now: Date
}

/**
 * What a sync says of one stream; each protocol turns it into its own messages.
 *
 * Order: `started`, then anything, then `complete` or `incomplete`. A promise that is returned
 * must be awaited before the next call: it is the reader's back-pressure.
 */
export interface StreamOutput {
  /**
   * The stream is being read. From the first call with a `state` on, a STATE of the stream may be
   * written at any time. Otherwise later calls change nothing.
   */
  started(state?: StateSource): void
  /** The first page has been read, also an empty one; `complete` implies it. Later calls change nothing. */
  running(): void
  /** The service asks to wait. */
  rateLimited(until: Date): void
  /** The stream has waited for the service for a while, and still waits. */
  waiting(): void
  /**
   * Records as lines, in order; entries that the caller set to SKIP are left out. They leave with
   * the next call, so that a `checkpoint` leaves in the same write.
   */
  records(batch: RecordBatch, stamp: Stamp): Promise<void> | undefined
  /** Rows that are gone. */
  deletes(rows: readonly KeyMembers[], stamp: Stamp): Promise<void> | undefined
  /**
   * Everything that was emitted before need not be read again: writes a STATE, unless it would
   * cost more than it is worth. Other streams with records since their last STATE write one too,
   * because a destination may commit their rows with this one.
   */
  checkpoint(): Promise<void> | undefined
  /** A checkpoint whose STATE is written at any size, and has left the process when this ends. */
  state(): Promise<void>
  /** Ends when everything that was emitted has left the process. */
  flush(): Promise<void>
  /** Every record that belongs to this generation has been emitted, deletes included. */
  generationComplete(generation: number): void
  /** Everything of this sync has been emitted; what the next one continues from goes with it. */
  complete(): Promise<void> | undefined
  incomplete(): void
  /**
   * The state cannot hold the ids of the stream, so rows that vanish without a Delete of the service
   * are not deleted. Said at each sync while it is so; later calls change nothing.
   */
  untracked(): void
  /**
   * What its catalog leaves of each record. A source may hand over batches that are under it, and say so
   * (`RecordBatch.selection`); any other batch is rewritten.
   */
  readonly selection?: ObjectRules | undefined
  /** Calls `listener` once, when the first record has been emitted. */
  onRecord(listener: () => void): void
  /** What was emitted so far. */
  readonly counts: {
    readonly records: number
    readonly deletes: number
    /** False after `untracked`. */
    readonly isTracked: boolean
  }
}
