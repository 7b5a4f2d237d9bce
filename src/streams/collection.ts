/**
 * What is particular to one collection of the service; what all have in common (the path is the
 * name, the key is `id`, versions are in `changeVersion`) is written nowhere.
 */
export interface Collection {
  /** One sentence for people who choose streams. */
  readonly description: string
  /**
   * How the collection is read once and kept up to date: by `?delta` and its links, or, where the
   * service documents none, by a whole list at each sync.
   */
  readonly replication: 'delta' | 'list'
  /**
   * The member by which the service filters the records by day; their lists and delta starts need a
   * range of days.
   */
  readonly dateField?: 'date' | 'from'
  /** Middle parts of the scope names that grant reading, the preferred first; default: the name. */
  readonly scopes?: readonly string[]
  /** Collections whose external references list and delta can be asked for. */
  readonly references?: readonly string[]
  /** The field and value that mark a record as deleted although it is still sent. */
  readonly softDelete?: { readonly field: string; readonly value: string }
  /** A field that is an array; where the service sends a lone object, it is made an array of one. */
  readonly array?: string
  /** The columns that tell records apart, where it is not `id`. */
  readonly key?: readonly string[]
  /** False where the service sends no `changeVersion`. */
  readonly versioned?: false
  /** False where the service documents no address of a single record by its `id`. */
  readonly single?: false
  /** What the collection is split into: paths below it that are read one after another. */
  readonly nested?: 'activity_structures' | 'referenced_collections'
}

/** A collection with its names: `collection` is the service's, `stream` ours. */
export interface Stream extends Collection {
  readonly collection: string
  readonly stream: string
}
