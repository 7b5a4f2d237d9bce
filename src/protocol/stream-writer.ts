import type { RecordBatch } from '../records/record-batch.ts'
import type { KeyMembers, RowCounts, Stamp, StreamNotice } from './connector.ts'

/**
 * Writes one stream: as messages of a protocol, or into a database. It gets only valid calls in their order: `started`
 * once, then any others, then `ended`, and `ended(false)` if that failed. Only the notice `untracked` may follow. A promise is awaited
 * before the next call, except that `flush` may be called at any time.
 */
export interface StreamWriter {
  started(stream: StartedStream): void
  /** See `StreamOutput.records`. */
  records(batch: RecordBatch, stamp: Stamp): Promise<void> | undefined
  /** See `StreamOutput.deletes`. */
  deletes(rows: readonly KeyMembers[], stamp: Stamp): Promise<void> | undefined
  /**
   * See `StreamOutput.checkpoint`. If it `mustWrite`, the state is always written, and a database has committed it when
   * the promise resolves, because the source then does what it cannot repeat.
   */
  checkpoint(mustWrite: boolean): Promise<void> | undefined
  /** Events that do not concern the writer are ignored. */
  note(event: StreamEvent): void
  /** Everything of this sync has been emitted, or nothing more can be; the former writes the final state. */
  ended(isComplete: boolean): Promise<void> | undefined
  /** Resolves when everything that was emitted has left the process. A database may commit it later. */
  flush(): Promise<void>
}

/** What a writer needs of a stream that is being read. Both change while it is. */
export interface StartedStream {
  /** The state after everything emitted so far; undefined if the source has none. At the end there is always one. */
  readonly state: () => object | undefined
  /** The rows that were emitted so far, with those of the present call. */
  readonly counts: RowCounts
}

/** What a writer is told beside records. `running` comes before the first ones, or before the end if there are none. */
type StreamEvent = StreamNotice | { readonly type: 'running' }
