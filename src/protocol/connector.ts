import type { ConnectorError } from './errors.ts'
import type { Mask } from './mask.ts'
import type { SyncObserver } from './progress/sync-observer.ts'
import type { SettingsSchema } from './settings-schema.ts'
import type { StreamOutput } from './stream-output.ts'
import type { StreamSpec } from './stream-spec.ts'

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
  read(config: Config, jobs: readonly ReadJob[], tools: ReadTools): Promise<readonly Failure[]>
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
  /** Is told how far the sync is, by sources that tell it. */
  readonly observer?: SyncObserver
}

/** A stream that is to be read. */
export interface ReadJob {
  readonly name: string
  /** `full_refresh` reads all of it; `incremental` continues from `state`. */
  readonly mode: 'full_refresh' | 'incremental'
  /** The bookmark that the last sync ended with, as it was stored: any JSON, or undefined. */
  readonly state: unknown
  /** Where the records go; called once. `now` is the time of deletions, the local one if left out. */
  output(now?: () => Date): StreamOutput
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
