import type { ConnectorError } from '../protocol/errors.ts'
import type { ObjectName } from './objects.ts'
import type { Outcome, OutcomeCounts } from './outcome.ts'
import type { WriteClient } from './service.ts'
import type { WriteSettings } from './write-settings.ts'

/** A record that is to be written, or deleted. */
export interface WriteRecord {
  readonly object: ObjectName
  readonly data: Readonly<Record<string, unknown>>
  readonly isDelete: boolean
  /** Its place in the input; comes back in its outcome. */
  readonly ordinal: number
}

/** Writes records in the order in which they are added; calls must not overlap. */
export interface Writer {
  /**
   * Takes one record; may wait until others are written. Its outcome is told at the latest before
   * `flush` resolves. Throws a ConnectorError for what must stop everything.
   */
  add(record: WriteRecord): Promise<void>
  /** Resolves when every record that was added has its final outcome. Throws as `add` does. */
  flush(): Promise<void>
  /**
   * Deletes what the service has beyond the records of an object, all of which have been added:
   * references of the collections and names that the records mention. Throws a config error, and
   * deletes nothing, when that is more than a fifth of what was there under one of the names.
   */
  mirror(object: ObjectName): Promise<void>
  readonly summary: WriteSummary
}

/** What a writer has done so far. */
export interface WriteSummary {
  readonly counts: OutcomeCounts
  /** More records were rejected than `max_rejected` allows. */
  readonly isOverLimit: boolean
  /**
   * Objects that cannot be written at all, such as for a missing scope. Their records are rejected with
   * this reason: a state that follows them must not be confirmed.
   */
  readonly failures: ReadonlyMap<ObjectName, ConnectorError>
}

export interface WriterOptions {
  readonly client: WriteClient
  readonly settings: WriteSettings
  /** Told once for each record, in order within a batch, and once for each deletion of the mirror. */
  readonly onOutcome: (outcome: Outcome) => void
  readonly signal: AbortSignal
  /** Whether outcomes show values of references, which may name people. */
  readonly showValues?: boolean
}

/** A writer of records; see Writer. */
export type CreateWriter = (options: WriterOptions) => Writer
