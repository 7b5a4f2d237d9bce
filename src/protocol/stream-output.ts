import type { Batch } from './records/page-scanner.ts'

/** A row that is gone: the JSON text of its key columns, without braces, such as `"id":7`. */
export type KeyMembers = string

/**
 * What a sync says of one stream; each protocol turns it into its own messages.
 *
 * Order: `started`, then anything, then `complete` or `incomplete`. A promise that is returned
 * must be awaited before the next call: it is the reader's back-pressure.
 */
export interface StreamOutput {
  /** Later calls change nothing. */
  started(): void
  /** The first page has been read, also an empty one. Later calls change nothing. */
  running(): void
  /** The service asks to wait. */
  rateLimited(until: Date): void
  /** The stream has waited for the service for a while, and goes on waiting. */
  waiting(): void
  /** Records as lines, in order; entries that the caller set to SKIP are left out. */
  records(batch: Batch, generation: number): Promise<void> | undefined
  /** Rows that are gone, with the changeVersion their deletion is to carry. */
  deletes(
    rows: readonly KeyMembers[],
    version: string | null,
    generation: number,
  ): Promise<void> | undefined
  /** A checkpoint: everything that was handed over before it need not be read again. */
  state(bookmark: object): Promise<void> | undefined
  /** Ends when everything that was handed over has left the process. */
  flush(): Promise<void>
  /** False while a checkpoint would cost more than it is worth (its size against the records since). */
  isStateDue(): boolean
  /** Every record that belongs to this generation has been handed over, deletes included. */
  generationComplete(generation: number): Promise<void> | undefined
  complete(): void
  incomplete(): void
  /** Calls `listener` once, when the first record has been handed over. */
  onRecord(listener: () => void): void
  /** What was handed over so far. */
  readonly counts: { readonly records: number; readonly deletes: number }
}
