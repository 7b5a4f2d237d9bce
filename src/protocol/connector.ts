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
  /** See the notice `withheld`. */
  readonly withheld?: number
}

/** Totals of the requests of a sync. They change while the sync runs. */
export interface SyncTraffic {
  readonly requests: number
  readonly retries: number
  readonly throttled: number
  readonly bytes: number
  /** The total time from each request to the headers of its response. */
  readonly responseMs: number
}

/** What a source knows of a sync before it reads. */
export interface SyncFacts {
  /** What the sync reads: "tenant acme". */
  readonly subject: string
  /** Distinguish the metrics of this sync from those of others: `{ tenant: 'acme' }`. */
  readonly labels: Readonly<Record<string, string>>
  readonly traffic: SyncTraffic
  /** The requests for a stream so far, including repeated ones; left out if the source does not count them. */
  requestsOf?(stream: string): number
  /** A sentence that says why some request is waiting now; undefined if none is. */
  retryCause(): string | undefined
}

/** Gets what a source knows of a sync beside its streams, for the display of its progress. Both calls may be left out. */
export interface SyncReporter {
  /** The sync begins; called before the first stream is `started`. */
  begun(facts: SyncFacts): void
  /** The source has decided where each stream starts; the keys are names of streams. */
  planned(starts: ReadonlyMap<string, StreamStart>): void
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
  /** Appended to the error for a stream of this name, which is not among `streams`. */
  unknownStreamHint?(name: string): string | undefined
  /** Checks the configuration. It throws only what must stop the process; problems are part of the result. */
  check(config: Config, tools: Tools): Promise<CheckResult>
  /**
   * Reads streams into their outputs. A `ConnectorError` that it throws is the failure of all streams, any other error
   * a fault of the connector.
   */
  read(config: Config, requests: readonly StreamRequest[], tools: ReadTools): Promise<void>
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
  readonly progress: SyncReporter
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
  /**
   * The same as rules for records. A source may apply them itself, and pass batches that say so
   * (`RecordBatch.selection`); all other batches are rewritten.
   */
  readonly selection?: ObjectRules | undefined
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

/** What a source tells of a stream beside its records. */
export type StreamNotice =
  /** The read cannot be continued, and starts over. */
  | { readonly type: 'started over'; readonly start: StreamStart }
  /** The service asked the connector to wait until this time. */
  | { readonly type: 'rate limited'; readonly until: Date }
  /** The stream has been waiting for the service for a while, and still is. */
  | { readonly type: 'waiting' }
  /** Every record of this generation has been emitted, deletions included: rows of older ones are no longer there. */
  | { readonly type: 'generation complete'; readonly generation: number }
  /**
   * The state has no room for the ids of the stream, so rows that disappear without a Delete of the service are not
   * deleted. Told at each sync while this is so; repetitions have no effect.
   */
  | { readonly type: 'untracked' }
  /**
   * So many rows stay although the source does not find them any more, because they are too many to be believed. Rows of
   * older generations stay, too.
   */
  | { readonly type: 'withheld'; readonly rows: number }
  /** Rows whose date in this field is before this day are no longer kept; the deletes of those that are known came before. */
  | { readonly type: 'left'; readonly field: string; readonly day: string }

/**
 * The output of one stream: to a program of Airbyte or Singer, or into a database.
 *
 * The order of calls is `started`, then any others, then `complete` or `failed`. The caller must await a returned
 * promise before the next call: it is the back-pressure of the reader.
 */
export interface StreamOutput {
  /**
   * The stream is being read. From now on, its state may be asked for and written at any time. `start` is for the
   * progress of the sync; by default it follows from the request.
   */
  started(state?: StateSource, start?: StreamStart): void
  /**
   * Writes records in their order, without those set to SKIP. They may be held back until the next call, so that they
   * leave together with the STATE of a `checkpoint`.
   */
  records(batch: RecordBatch, stamp: Stamp): Promise<void> | undefined
  /** Writes deletions. */
  deletes(rows: readonly KeyMembers[], stamp: Stamp): Promise<void> | undefined
  /**
   * Everything emitted so far need not be read again. Writes the state unless that costs more than it is worth. Other
   * streams with records since their last STATE write one, too, because a destination may commit their rows together
   * with these. With `flush` the state is always written, and has left the process, or is committed, when the promise
   * resolves.
   */
  checkpoint(options?: { readonly flush: true }): Promise<void> | undefined
  /**
   * Tells what else happened to the stream. `waiting` and `rate limited` may come from a timer: they have no effect
   * before `started` and after the end. `untracked` may follow the end, because the last state may be too large first.
   */
  note(notice: StreamNotice): void
  /** Everything of this sync has been emitted. Writes the final state; resolves when all has left the process. */
  complete(): Promise<void>
  /**
   * The stream cannot be read to its end. What was emitted stays, and the sync reports the error. Has no effect after
   * `complete`.
   */
  failed(error: ConnectorError): Promise<void>
  /** Calls `listener` once, when the first record has left the process. */
  onFirstRecord(listener: () => void): void
  /** The rows that were emitted so far, and whether no `untracked` was noted. */
  readonly counts: RowCounts & { readonly isTracked: boolean }
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
  /** The id of what prevents it; by default `check-failed`. */
  readonly id?: IdentifiedMessage['id'] | undefined
}

/** Why nothing can be read or written, with its id. */
export function checkFailure({ id = 'check-failed', message }: CheckResult): IdentifiedMessage {
  return { id, message }
}

/** Messages for the user. Whoever prints them masks secrets, and appends the id of a warning. */
export interface Log {
  info(message: string): void
  warn(message: IdentifiedMessage): void
  debug(message: string): void
}
