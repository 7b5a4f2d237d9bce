/** An internal id: an integer, or the GUID text of an activity definition. */
export type Id = number | string

/** The properties of a record as plain JSON values. */
export type Fields = Record<string, unknown>

/** One version of a record. It is immutable: a change of the record replaces it. */
export interface StoredRecord {
  readonly id: Id
  readonly version: string
  /** The date that filters test (`from` on assignments). */
  readonly date: string | undefined
  /** The person that filters test. */
  readonly person: number | undefined
  /** The record as JSON, served as it is. */
  readonly text: string
}
