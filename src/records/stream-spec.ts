/** A stream as both protocols' catalogs describe it. */
export interface StreamSpec {
  readonly name: string
  /** The schema of a record, of type object. */
  readonly schema: JsonSchema
  /** The columns of the primary key. */
  readonly key: readonly string[]
  /** The member that orders the versions of a record, if there is one. It cannot be deselected. */
  readonly version?: string | undefined
  /** Fields that the source leaves out, as paths joined with dots. */
  readonly leftOut?: readonly string[]
  /**
   * Whether a sync continues from the state of the previous one. Other streams are offered as full refreshes only and
   * never get a state. Default: false.
   */
  readonly isIncremental?: boolean
  /** Whether the source reports deletions; then records get a column for it. Default: false. */
  readonly hasDeletes?: boolean
  /**
   * Whether a complete read replaces the rows of the previous one: it ends with the notice `generation complete`, and
   * records get a column with their generation. Default: false.
   */
  readonly hasGenerations?: boolean
  /** Whether its records are about the sync that has written them, so that what they were before is not kept. Default: false. */
  readonly isOfSync?: boolean
  /** Singer's replication method; by default INCREMENTAL or FULL_TABLE, depending on `isIncremental`. */
  readonly replication?: 'LOG_BASED' | 'INCREMENTAL' | 'FULL_TABLE'
}

/** The parts of a JSON Schema (draft 7) that catalogs use. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly [keyword: string]: unknown
}
