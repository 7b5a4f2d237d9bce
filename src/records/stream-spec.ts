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
  /** How its changes come: from a log of changes, or (if left out) by listing it whole. */
  readonly replication?: 'LOG_BASED' | 'FULL_TABLE'
}

/** A JSON Schema, draft 7, as far as a catalog walks it. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly [keyword: string]: unknown
}
