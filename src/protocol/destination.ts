import type { ConnectorError } from '../ground/errors.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import type { CheckResult, ConnectorFacts, Failure, Log, Tools } from './connector.ts'

/** A connector that writes. `runAirbyteDestination` and `runSingerTarget` turn it into programs. */
export interface DestinationConnector<Config> extends ConnectorFacts {
  /** Loads the code that writes. Called once, and only by commands that need it. */
  load(): Promise<Destination<Config>>
}

/** A loaded destination. `Config` is the configuration in the form that the connector works with. */
export interface Destination<Config> {
  /** Parses the configuration, which is any JSON. Throws a config error that says what is wrong. */
  configure(input: unknown, log: Log): Config
  /** The objects that can be written with a configuration. */
  objects(config: Config): readonly ObjectSpec[]
  /**
   * Checks the configuration without writing. It throws only what must stop the process; problems are part of the
   * result.
   */
  check(config: Config, tools: Tools): Promise<CheckResult>
  open(config: Config, tools: WriteTools): Promise<WriteSession>
}

/** The Airbyte protocol's names for what a record does to its object. */
export type DestinationSyncMode = 'append' | 'overwrite' | 'append_dedup' | 'update' | 'soft_delete'

/** A kind of object that can be written. The stream of the same name is written to it. */
export interface ObjectSpec {
  readonly name: string
  /** The schema of a record, of type object. */
  readonly schema: JsonSchema
  /** The members by which a record finds its object, as paths. */
  readonly matchingKeys: readonly (readonly string[])[]
  /** The supported modes; the first one is the default. */
  readonly modes: readonly DestinationSyncMode[]
}

/** What a write session gets. */
export interface WriteTools extends Tools {
  /** To be called once for each record that was added. */
  onOutcome(outcome: RecordOutcome): void
}

/** A record to write. */
export interface WrittenRecord {
  /** The number of the record in its session, from 0. */
  readonly ordinal: number
  readonly object: string
  readonly data: Readonly<Record<string, unknown>>
  /** Whether the record deletes its object. */
  readonly isDelete: boolean
  /** Why it is unclear what the record asks for. The record has to be rejected with this sentence. */
  readonly fault?: string
}

/** The final outcome of a record. */
export interface RecordOutcome {
  readonly ordinal: number
  /** Why the record was rejected, in a sentence without values of the record; undefined if it was not. */
  readonly rejection?: string | undefined
  /** Whether the record has to be sent again: then no state that covers it is passed on. */
  readonly isPending?: boolean
  /**
   * Whether a run can succeed although it rejected the record. A state that covers the record is passed on only at
   * the end, and not if the run fails, so that the next run counts the record again.
   */
  readonly isTolerated?: boolean
}

/** One run that writes. */
export interface WriteSession {
  /**
   * Whether nothing is written. Then no state may be passed on: the next run would skip records that were only
   * planned here.
   */
  readonly isDryRun?: boolean
  /** Adds a record; may wait. Throws only errors that must stop everything. */
  add(record: WrittenRecord): Promise<void>
  /** Resolves when the outcomes of all added records have been reported. */
  flush(): Promise<void>
  /**
   * Objects that cannot be written at all, for example because a permission is missing. The states of their streams
   * are held back, so that their records are sent again.
   */
  readonly failed: ReadonlyMap<string, ConnectorError>
  /** All records of this object have been added and flushed, so a mirror may delete the other ones. */
  complete(object: string): Promise<void>
  /** Ends the session; nothing may be called afterwards. Returns the failures of the run other than `failed`. */
  close(): Promise<readonly Failure[]>
}
