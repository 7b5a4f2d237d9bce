import type { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import type { ObjectRules, RecordBatch } from '../records/record-batch.ts'
import type { StreamSpec } from '../records/stream-spec.ts'

/** Where the reading of a stream starts. */
export interface StreamStart {
  /**
   * `changes`: reads what changed since an earlier sync. `continues`: continues a read that an earlier sync began.
   * `begins`: begins a new read. `whole`: reads a whole list, as at each sync.
   */
  readonly kind: 'changes' | 'continues' | 'begins' | 'whole'
  /** The same in a few words: "incremental", "from the beginning: first sync". */
  readonly how: string
  /** How many rows are still expected, from the count of an earlier sync. */
  readonly expected?: number | undefined
}

/** The rows that were written to an output so far. It changes while the sync runs. */
export interface RowCounts {
  readonly records: number
  readonly deletes: number
}

/** Totals of the requests of a sync. They change while the sync runs. */
export interface SyncTraffic {
  readonly requests: number
  readonly retries: number
  readonly refusals: number
  readonly bytes: number
  /** The total time from each request to the headers of its response. */
  readonly answerMs: number
}

/** What a source knows of one stream. The counts change while the sync runs. */
export interface StreamFacts {
  readonly name: string
  readonly counts: RowCounts
  /** The requests for the stream so far, including repeated ones; left out if the source does not count them. */
  readonly requests?: { readonly count: number }
}

/** What a source knows of a sync before it reads. */
export interface SyncFacts {
  /** What the sync reads: "tenant acme". */
  readonly subject: string
  /** Distinguish the metrics of this sync from those of others: `{ tenant: 'acme' }`. */
  readonly labels: Readonly<Record<string, string>>
  readonly streams: readonly StreamFacts[]
  readonly traffic: SyncTraffic
  /** A sentence that says why some request is waiting now; undefined if none is. */
  retryCause(): string | undefined
}

/**
 * Gets the progress of a sync from its source. There is no call per row: rows are counted where they are written, and
 * an observer reads the counts when it needs them.
 */
export interface SyncObserver {
  /** The sync begins. If the source does not call this, the progress is derived from the calls to its outputs. */
  begun(facts: SyncFacts): void
  /** The source has decided where each stream starts; the keys are names of streams. */
  planned(starts: ReadonlyMap<string, StreamStart>): void
  /** A stream is being read. Called again if the read starts over. */
  started(stream: string, start: StreamStart): void
  /** A stream has been read completely, or has failed. */
  ended(stream: string, error?: ConnectorError): void
}

/** The facts that a connector needs for its specification, its version and its help. */
export interface ConnectorFacts {
  /**
   * In lower case. The programs are called `source-<name>` and `tap-<name>`, or `destination-<name>` and
   * `target-<name>`.
   */
  readonly name: string
  readonly version: string
  /** One sentence. */
  readonly description: string
  /** Airbyte's ConnectorSpecification. The Singer programs have the same settings. */
  readonly spec: {
    readonly connectionSpecification: SettingsSchema
    readonly [key: string]: unknown
  }
  /** Parameters of URLs and members of JSON whose values must never be printed. */
  readonly secretParameters?: readonly string[]
}

/** A connector that reads. `runAirbyte` and `runSinger` turn it into programs. */
export interface Connector<Config> extends ConnectorFacts {
  /** Loads the code that reads. Called once, and only by commands that need it. */
  load(): Promise<Source<Config>>
}

/** A loaded source. `Config` is the configuration in the form that the connector works with. */
export interface Source<Config> {
  /** Parses the configuration, which is any JSON. Throws a config error that says what is wrong. */
  configure(input: unknown, log: Log): Config
  /** The streams that can be read with a configuration; without one, those that any configuration can read. */
  streams(config?: Config): readonly StreamSpec[]
  /** Appended to the error for a stream of the catalog that is not among `streams`. */
  readonly unknownStreamHint?: string
  /** Checks the configuration. It throws only what must stop the process; problems are part of the result. */
  check(config: Config, tools: Tools): Promise<CheckResult>
  /** Reads streams into their outputs. Returns a failure for each stream that it could not read completely. */
  read(
    config: Config,
    requests: readonly StreamRequest[],
    tools: ReadTools,
  ): Promise<readonly Failure[]>
  /** Singer only: whether a complete read ends with ACTIVATE_VERSION. Default: true. */
  activatesVersions?(config: Config): boolean
}

/** What every command gets. */
export interface Tools {
  readonly log: Log
  readonly mask: Mask
  /** Aborted with an InterruptedError when the process has to stop or its output is closed. */
  readonly signal: AbortSignal
}

/** What `read` gets. */
export interface ReadTools extends Tools {
  /** Streams of the catalog that cannot be read; they are reported without the source. */
  readonly refused: readonly Failure[]
  /** The stored states of streams that are not read. The platform keeps them beside the new ones. */
  readonly keptStates?: readonly unknown[]
  /**
   * Gets the progress of the sync, from a source that knows more than its outputs: the requests, and where each
   * stream starts.
   */
  readonly observer?: SyncObserver
}

/** A stream to read. */
export interface StreamRequest {
  readonly name: string
  /** `full_refresh` reads everything; `incremental` continues from `state`. */
  readonly mode: 'full_refresh' | 'incremental'
  /** The stored state of the last sync: any JSON, or undefined. */
  readonly state: unknown
  /**
   * Set if the stream must be read from the beginning although its state may be valid; then rows that are not found
   * are deleted.
   */
  readonly startOver?: 'full refresh' | undefined
  /**
   * The number of the full refresh that the sync belongs to: the destination keeps only the rows that syncs with this
   * number wrote. Undefined if it is unknown.
   */
  readonly refresh?: number | undefined
  /**
   * Set for a full refresh that must not start a delta, whatever the service offers. If records have dates, it covers
   * at least these days.
   */
  readonly byLists?: { readonly from: string | null; readonly until: string | null } | undefined
  /** The paths of the selected fields; undefined if all fields are selected, those that no schema has included. */
  readonly fields?: readonly string[] | undefined
  /** Where the records are written. */
  readonly output: StreamOutput
}

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

/** A stream that was not read completely; without a name, all streams. */
export interface Failure {
  readonly stream?: string | undefined
  readonly error: ConnectorError
}

/** The result of a check: what can be read or written, or why nothing can. */
export interface CheckResult {
  /** Whether anything can be read or written with the configuration. */
  readonly isUsable: boolean
  readonly message: string
}

/** Messages for the user. Whoever prints them masks secrets, and appends the id of a warning. */
export interface Log {
  info(message: string): void
  warn(message: IdentifiedMessage): void
  debug(message: string): void
}
