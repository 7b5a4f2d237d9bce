import type { ConnectorError } from '../ground/errors.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import type { CheckResult, ConnectorFacts, Failure, Log, Tools } from './connector.ts'

/** A connector that writes. `runAirbyteDestination` and `runSingerTarget` make programs of it. */
export interface DestinationConnector<Config> extends ConnectorFacts {
  /** Loads what writes; called once, by the commands that need it. */
  load(): Promise<Destination<Config>>
}

/** What a destination does. `Config` is its configuration as it works with it. */
export interface Destination<Config> {
  /** Turns any JSON into a configuration, once; throws a config error that says what is wrong. */
  configure(input: unknown, log: Log): Config
  /** What can be written with a configuration. */
  objects(config: Config): readonly ObjectSpec[]
  /** Writes nothing. Throws only for what must stop the process; what cannot be written is a result. */
  check(config: Config, tools: Tools): Promise<CheckResult>
  open(config: Config, tools: WriteTools): Promise<WriteSession>
}

/** The words of the Airbyte protocol for what a record does to its object. */
export type DestinationSyncMode = 'append' | 'overwrite' | 'append_dedup' | 'update' | 'soft_delete'

/** A kind of object that records can be written to. A stream of its name is written to it. */
export interface ObjectSpec {
  readonly name: string
  /** The schema of a record, of type object. */
  readonly schema: JsonSchema
  /** Paths of members by which a record finds its object. */
  readonly matchingKeys: readonly (readonly string[])[]
  /** The ways it can be written; the first one is the usual one. */
  readonly modes: readonly DestinationSyncMode[]
}

/** What a session of writing works with. */
export interface WriteTools extends Tools {
  /** To be told once of each record that was added. */
  onOutcome(outcome: RecordOutcome): void
}

/** A record that is to be written. */
export interface WrittenRecord {
  /** Rises by one with each record of a session, from 0. */
  readonly ordinal: number
  readonly object: string
  readonly data: Readonly<Record<string, unknown>>
  /** Whether the record says that its object is gone. */
  readonly isDelete: boolean
  /** Why it is not clear what the record asks for: it is to be rejected with this sentence. */
  readonly fault?: string
}

/** What became of a record; it is final. */
export interface RecordOutcome {
  readonly ordinal: number
  /** Why it was refused, in a sentence that holds no value of the record; left out if it was not. */
  readonly rejection?: string | undefined
  /** Whether the record has to come again: no state that covers it is passed on. */
  readonly isPending?: boolean
  /**
   * Whether the record may be refused as long as the run succeeds: a state that covers it is passed on at the end, and
   * not when the run fails, so that a repetition of the run counts the record again.
   */
  readonly isTolerated?: boolean
}

/** One run of writing. */
export interface WriteSession {
  /** Nothing is written: no state may be passed on, or the next run would leave out what was planned here. */
  readonly isDryRun?: boolean
  /** Takes a record; may wait. Throws only what must stop everything. */
  add(record: WrittenRecord): Promise<void>
  /** Ends when the outcome of every record that was added is told. */
  flush(): Promise<void>
  /**
   * Objects that could not be written as a whole, for example for want of a permission. The states of
   * their streams are held back, so that their records come again.
   */
  readonly failed: ReadonlyMap<string, ConnectorError>
  /** Every record of this object has been added and flushed: what it has beyond them may go. */
  complete(object: string): Promise<void>
  /** Ends the session, after everything else; answers with what makes the run a failure besides `failed`. */
  close(): Promise<readonly Failure[]>
}
