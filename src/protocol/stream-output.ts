import type { ObjectRules, RecordBatch } from '../records/record-batch.ts'

/** The key of a deleted row: the JSON text of its key columns without braces, for example `"id":7`. */
export type KeyMembers = string

/** Returns the state from which a later sync continues after everything that was emitted so far. */
export type StateSource = () => object

/** The values of the columns that are added to records. */
export interface Stamp {
  /** The complete read that the rows belong to; it increases with each. */
  readonly generation: number
  /**
   * Increases with everything that is written of the stream, also from sync to sync: of two records of a row, the one
   * with the higher cursor counts. About the microseconds since 1970.
   */
  readonly cursor: number
  /** The time at the service, for the column of a deletion. */
  readonly now: Date
}

/**
 * The output of one stream; each protocol writes its own messages.
 *
 * The order of calls is `started`, then any others, then `complete` or `incomplete`. The caller must await a returned
 * promise before the next call: it is the back-pressure of the reader.
 */
export interface StreamOutput {
  /**
   * The stream is being read. After the first call with a `state`, a STATE of the stream may be written at any time.
   * Other repeated calls have no effect.
   */
  started(state?: StateSource): void
  /** The first page has been read, even if it is empty; `complete` implies it. Later calls have no effect. */
  running(): void
  /** The service asked the connector to wait until this time. */
  rateLimited(until: Date): void
  /** The stream has been waiting for the service for a while, and still is. */
  waiting(): void
  /**
   * Writes records as lines, in their order, without those set to SKIP. The lines are written with the next call, so
   * that the STATE of a `checkpoint` is in the same write.
   */
  records(batch: RecordBatch, stamp: Stamp): Promise<void> | undefined
  /** Writes deletions. */
  deletes(rows: readonly KeyMembers[], stamp: Stamp): Promise<void> | undefined
  /**
   * Everything emitted so far need not be read again. Writes a STATE unless that costs more than it is worth. Other
   * streams with records since their last STATE write one, too, because a destination may commit their rows together
   * with these.
   */
  checkpoint(): Promise<void> | undefined
  /** A checkpoint whose STATE is always written; resolves when it has left the process. */
  state(): Promise<void>
  /** Resolves when everything that was emitted has left the process. */
  flush(): Promise<void>
  /** Every record of this generation has been emitted, deletions included. */
  generationComplete(generation: number): void
  /** Everything of this sync has been emitted; writes the final STATE. */
  complete(): Promise<void> | undefined
  incomplete(): void
  /**
   * The state has no room for the ids of the stream, so rows that disappear without a Delete of the service are not
   * deleted. Called at each sync while this is so; repeated calls have no effect.
   */
  untracked(): void
  /**
   * The fields that the catalog selects. A source may apply them itself, and pass batches that say so
   * (`RecordBatch.selection`); all other batches are rewritten.
   */
  readonly selection?: ObjectRules | undefined
  /** Calls `listener` once, when the first record has been emitted. */
  onRecord(listener: () => void): void
  /** The rows that were emitted so far. */
  readonly counts: {
    readonly records: number
    readonly deletes: number
    /** False after `untracked`. */
    readonly isTracked: boolean
  }
}
