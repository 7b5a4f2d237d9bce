/** What the writer needs of the client of the service. */
export interface WriteClient {
  readonly references: {
    /** All references of one name of a collection; pages are followed. */
    list(collection: string, name?: string): AsyncIterable<Reference>
    /** Undefined when the value is not registered. */
    get(collection: string, name: string, value: string): Promise<Reference | undefined>
    put(reference: Reference): Promise<void>
    remove(collection: string, name: string, value: string): Promise<'deleted' | 'absent'>
  }
  readonly jobCategories: {
    get(key: RecordKey): Promise<Versioned<NamedRecord> | undefined>
    put(key: RecordKey, body: JobCategoryBody, etag?: string): Promise<void>
  }
  readonly workLocations: {
    list(): AsyncIterable<NamedRecord>
    create(body: WorkLocationBody): Promise<{ readonly id: string | undefined }>
  }
}

export interface Reference {
  readonly collection: string
  readonly name: string
  readonly value: string
  readonly internalReference: string
}

/** An id, or a custom reference. */
export type RecordKey = { readonly id: string } | { readonly name: string; readonly value: string }

export interface Versioned<T> {
  readonly record: T
  readonly etag?: string
}

/** A record as the service sends it: members may be missing, null, or of another type. */
export type NamedRecord = Readonly<Record<string, unknown>>

export interface Name {
  readonly default: string
  readonly translations?: Readonly<Record<string, string>>
}

export interface JobCategoryBody {
  readonly name: Name
  readonly externalCode?: string
}

export interface WorkLocationBody {
  readonly name: Name
  readonly description?: string
}
