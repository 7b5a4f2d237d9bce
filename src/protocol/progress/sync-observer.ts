import type { ConnectorError } from '../errors.ts'

/** From where a stream is read. */
export interface StreamStart {
  /**
   * `changes` since an earlier sync, or a reading that an earlier one `continues`; a reading that `begins`
   * anew, or that of a `whole` list, which is read at each sync.
   */
  readonly kind: 'changes' | 'continues' | 'begins' | 'whole'
  /** The same in a few words: "incremental", "from the beginning: first sync". */
  readonly how: string
  /** How many rows are still to come, by the count of an earlier sync. */
  readonly expected?: number | undefined
}

/** What was handed over so far. It grows while the sync runs. */
export interface RowCounts {
  readonly records: number
  readonly deletes: number
}

/** What the requests of a sync added up to. It grows while the sync runs. */
export interface SyncTraffic {
  readonly requests: number
  readonly retries: number
  readonly refusals: number
  readonly bytes: number
  /** The time from each request to the head of its answer, summed up. */
  readonly answerMs: number
}

/** A sync as its source knows it before it reads. */
export interface SyncFacts {
  /** What is read: "tenant acme". */
  readonly subject: string
  /** Tell the metrics of this sync from those of others: `{ tenant: 'acme' }`. */
  readonly labels: Readonly<Record<string, string>>
  readonly streams: readonly {
    readonly name: string
    readonly start: StreamStart
    readonly counts: RowCounts
  }[]
  readonly traffic: SyncTraffic
  /** Why some request waits at this moment, in a sentence. */
  trouble(): string | undefined
}

/**
 * What a source tells of its sync while it reads. Nobody is told of rows: they are counted where they are
 * written, and who wants to know looks at the counts.
 */
export interface SyncObserver {
  /** The sync begins. Without it nothing else is told. */
  begun(facts: SyncFacts): void
  /** A stream is being read; once more when its reading begins anew. */
  started(stream: string, start: StreamStart): void
  /** A stream has been read, or has failed. */
  ended(stream: string, error?: ConnectorError): void
}
