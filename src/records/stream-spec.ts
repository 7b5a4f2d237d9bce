/** A stream as the catalogs of both protocols tell of it. */
export interface StreamSpec {
  readonly name: string
  /** The schema of its records, of type object. */
  readonly schema: JsonSchema
  /** The columns that tell its records apart. */
  readonly key: readonly string[]
  /** The member that orders the versions of a record, if there is one; no choice of columns leaves it out. */
  readonly version?: string | undefined
  /** Fields that its source leaves out, by names joined with dots. */
  readonly leftOut?: readonly string[]
  /**
   * Whether a sync continues from the state of the one before. A stream that does not is offered as a full refresh
   * alone, and never gets a state. False if left out.
   */
  readonly isIncremental?: boolean
  /** Whether its source tells of rows that are gone; its records get a column that says so. False if left out. */
  readonly hasDeletes?: boolean
  /**
   * Whether a complete reading replaces the rows of the one before: `generationComplete` ends it, and records get a
   * column that tells which one they come from. False if left out.
   */
  readonly hasGenerations?: boolean
  /** What Singer calls how its changes come; if left out, INCREMENTAL or FULL_TABLE, as `isIncremental` says. */
  readonly replication?: 'LOG_BASED' | 'INCREMENTAL' | 'FULL_TABLE'
}

/** A JSON Schema, draft 7, as far as a catalog walks it. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly [keyword: string]: unknown
}
