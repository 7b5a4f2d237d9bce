import type { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import type { StreamOutput } from './stream-output.ts'

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
  readonly streams: readonly { readonly name: string; readonly counts: RowCounts }[]
  readonly traffic: SyncTraffic
  /** Why some request waits at this moment, in a sentence. */
  retryCause(): string | undefined
}

/**
 * What a source tells of its sync while it reads. Nobody is told of rows: they are counted where they are
 * written, and who wants to know looks at the counts.
 */
export interface SyncObserver {
  /** The sync begins. Where the source does not call it, rows and times are told from what its outputs are told. */
  begun(facts: SyncFacts): void
  /** From where each stream will be read, by its name: the source has decided. */
  planned(starts: ReadonlyMap<string, StreamStart>): void
  /** A stream is being read; once more when its reading begins anew. */
  started(stream: string, start: StreamStart): void
  /** A stream has been read, or has failed. */
  ended(stream: string, error?: ConnectorError): void
}

/** What a connector says of itself: enough for its specification, its version and its help. */
export interface ConnectorFacts {
  /** In lower case; the programs are `source-<name>` and `tap-<name>`, or `destination-<name>` and `target-<name>`. */
  readonly name: string
  readonly version: string
  /** One sentence. */
  readonly description: string
  /** Airbyte's ConnectorSpecification; its settings are those of Singer too. */
  readonly spec: {
    readonly connectionSpecification: SettingsSchema
    readonly [key: string]: unknown
  }
  /** Parameters of URLs and members of JSON whose values must not be printed, whatever they are. */
  readonly secretParameters?: readonly string[]
}

/** A connector that reads. `runAirbyte` and `runSinger` make programs of it. */
export interface Connector<Config> extends ConnectorFacts {
  /** Loads what reads; called once, by the commands that need it. */
  load(): Promise<Source<Config>>
}

/** What a connector does. `Config` is its configuration as it works with it. */
export interface Source<Config> {
  /** Turns any JSON into a configuration, once; throws a config error that says what is wrong. */
  configure(input: unknown, log: Log): Config
  /** What can be read with a configuration; without one, what every configuration can read. */
  streams(config?: Config): readonly StreamSpec[]
  /** Said to those whose catalog names a stream that is not among `streams`, after the reason. */
  readonly unknownStreamHint?: string
  /** Throws only for what must stop the process; what cannot be read is a result. */
  check(config: Config, tools: Tools): Promise<CheckResult>
  /** Reads streams into their outputs; answers with those that it could not read to their end. */
  read(
    config: Config,
    requests: readonly StreamRequest[],
    tools: ReadTools,
  ): Promise<readonly Failure[]>
  /** Singer only: whether a complete reading ends with ACTIVATE_VERSION; it does if left out. */
  activatesVersions?(config: Config): boolean
}

/** What a command works with. */
export interface Tools {
  readonly log: Log
  readonly mask: Mask
  /** Aborted with InterruptedError when the process is to stop, or its output is closed. */
  readonly signal: AbortSignal
}

/** What a reading works with. */
export interface ReadTools extends Tools {
  /** Streams that the catalog names and that cannot be read; they are reported without the source. */
  readonly refused: readonly Failure[]
  /** The stored states of streams that are not read: the platform keeps them beside the new ones. */
  readonly keptStates?: readonly unknown[]
  /** Is told how far the sync is, by a source that knows more than its outputs are told: requests, and where it starts. */
  readonly observer?: SyncObserver
}

/** A stream that is to be read. */
export interface StreamRequest {
  readonly name: string
  /** `full_refresh` reads all of it; `incremental` continues from `state`. */
  readonly mode: 'full_refresh' | 'incremental'
  /** The bookmark that the last sync ended with, as it was stored: any JSON, or undefined. */
  readonly state: unknown
  /** Set where it is to be read from the beginning although its state may fit: what is then not met is deleted. */
  readonly startOver?: 'full refresh' | undefined
  /**
   * Numbers the full refresh to which a sync belongs: the destination keeps what all syncs of one number wrote, and
   * no more. Undefined where nothing is known of it.
   */
  readonly refresh?: number | undefined
  /**
   * Set for a full refresh that must start no delta, whatever the service offers; with the days that it is to cover
   * at least, where its records have days.
   */
  readonly byLists?: { readonly from: string | null; readonly until: string | null } | undefined
  /** The paths of the fields that are selected; undefined where all are, those too that no schema knows. */
  readonly fields?: readonly string[] | undefined
  /** Where the records go. */
  readonly output: StreamOutput
}

/** A stream that was not read to its end; without a name all of them. */
export interface Failure {
  readonly stream?: string | undefined
  readonly error: ConnectorError
}

/** The outcome of a check: what can be read or written, in words, or why nothing can. */
export interface CheckResult {
  /** Whether anything can be read or written with the configuration. */
  readonly isUsable: boolean
  readonly message: string
}

/** Words for the operator. Secrets are masked by whoever writes them out. */
export interface Log {
  info(message: string): void
  warn(message: string): void
  debug(message: string): void
}
