/** What the service offers for one collection, and under which rules. */
export interface CollectionFacts {
  /** Middle parts of the scope names that open it; one of them is enough. */
  readonly scopes: readonly string[]
  /** Under which key a single record is found, if there is such an endpoint. */
  readonly single: 'id' | 'reference' | 'none'
  readonly delta: boolean
  /** Set where ids are GUIDs, not integers. */
  readonly hasGuids?: true
  /** The property behind the filter `date`, which lists and deltas require when it is set. */
  readonly dateField?: 'date' | 'from'
  /** Set where that filter can be left out. */
  readonly isDateOptional?: true
  /** Whether a list's range of dates is limited to one year. */
  readonly yearOnly: boolean
  readonly listFilters: readonly string[]
  readonly deltaFilters: readonly string[]
  /** Collections whose external references can be asked for, per kind of request. */
  readonly references: {
    readonly list: readonly string[]
    readonly single: readonly string[]
    readonly delta: readonly string[]
  }
  /** Predefined reference names and the properties behind them. */
  readonly predefined: Readonly<Record<string, string>>
  readonly custom: boolean
  /** A deleted record stays, with the status Deleted. */
  readonly softDeletes: boolean
  /** Saving one record saves all of the collection. */
  readonly savedTogether: boolean
  /** The status of an unknown continuation token. */
  readonly unknownToken: 400 | 409
}

/** The facts of a collection about which nothing is particular. */
export const plain: CollectionFacts = {
  scopes: [],
  single: 'none',
  delta: true,
  yearOnly: false,
  listFilters: [],
  deltaFilters: [],
  references: { list: [], single: [], delta: [] },
  predefined: {},
  custom: false,
  softDeletes: false,
  savedTogether: false,
  unknownToken: 400,
}
