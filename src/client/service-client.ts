import type { ReferenceChoice } from '../config/config.ts'
import type { ExternalReference } from '../page/reference-page.ts'

/**
 * The service beyond what streams read: one part per resource. Every method throws a ClientError when
 * the service refuses, does not answer, or when what is asked for cannot be sent.
 */
export interface ServiceClient {
  readonly references: References
  readonly jobCategories: JobCategories
  readonly workLocations: WorkLocations
  readonly webhooks: Webhooks
  /**
   * Those of these scopes, by their whole names, that the token lacks; none where it does not say. Throws a
   * ConnectorError where there is no token.
   */
  missingScopes(scopes: readonly string[]): Promise<readonly string[]>
  /** The service's time, by the Date of its last answer; the local one before the first. */
  now(): Date
  /** Ends all connections; requests under way fail. */
  close(): Promise<void>
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What a single call may be told. */
export interface CallOptions {
  /** Ends this call, with its reason; what was asked for may have been done. */
  readonly signal?: AbortSignal | undefined
}

/** A custom reference: `value` names the record with the id `internalReference` of a collection. */
export interface Reference extends ExternalReference {
  readonly internalReference: string
}

/** The custom external references of the tenant. */
export interface References {
  /**
   * All references of a collection, or those of one name. `internalReference` is null where the answer
   * does not tell it. A 404 is an error: it does not say whether there are none.
   */
  list(collection: string, name?: string, options?: CallOptions): AsyncIterable<ExternalReference>
  /** Undefined when the value is not registered. */
  get(
    collection: string,
    name: string,
    value: string,
    options?: CallOptions,
  ): Promise<ExternalReference | undefined>
  /** Links the value to the id. The same link again changes nothing; a link to another id is a 400. */
  put(reference: Reference, options?: CallOptions): Promise<void>
  remove(collection: string, name: string, value: string, options?: CallOptions): Promise<Removal>
}

/** `absent`: there was nothing to delete. */
export type Removal = 'deleted' | 'absent'

/** Names a record by its id, or by the value of one of its custom references. */
export type RecordKey = { readonly id: string } | { readonly name: string; readonly value: string }

/** A text and its translations, by language code. */
export interface TranslatedText {
  readonly default: string
  readonly translations?: Readonly<Record<string, string>>
}

/** What can be written of a job category; what is left out becomes empty. */
export interface JobCategoryBody {
  readonly name: TranslatedText
  readonly externalCode?: string
}

/** Members that are missing were not sent. */
export interface JobCategory extends JobCategoryBody {
  readonly id: string
  readonly changeVersion?: string
}

/** A record and the version of it that `If-Match` takes. */
export interface Versioned<T> {
  readonly record: T
  readonly etag?: string
}

/** The job categories of the tenant. This API can neither create nor delete one. */
export interface JobCategories {
  list(options?: CallOptions): AsyncIterable<JobCategory>
  /** Undefined when there is none. Throws when the service took the value of a reference for an id. */
  get(key: RecordKey, options?: CallOptions): Promise<Versioned<JobCategory> | undefined>
  /** Replaces all that can be written; with an etag only that version (412 otherwise). */
  put(key: RecordKey, body: JobCategoryBody, etag?: string, options?: CallOptions): Promise<void>
}

/** What a work location is created with. */
export interface WorkLocationBody {
  readonly name: TranslatedText
  readonly description?: string
}

/** Members that are missing were not sent. */
export interface WorkLocation extends WorkLocationBody {
  readonly id: string
  readonly changeVersion?: string
}

/** The work locations of the tenant. This API can neither change nor delete one. */
export interface WorkLocations {
  list(options?: CallOptions): AsyncIterable<WorkLocation>
  /**
   * Makes a new one each time it is called. It is never repeated once it may have been done: see
   * `ClientError.mayHaveHappened`. The id is undefined when the answer does not tell it.
   */
  create(
    body: WorkLocationBody,
    options?: CallOptions,
  ): Promise<{ readonly id: string | undefined }>
}

/** What a webhook is asked for with; its references cannot be changed later. */
export interface WebhookRequest {
  readonly collectionName: string
  /** An https address; plain http for loopback. */
  readonly destinationUrl: string
  readonly references?: readonly ReferenceChoice[]
}

/** A webhook: where events of one collection are sent to. */
export interface Webhook {
  readonly id: string
  readonly collectionName: string
  readonly destinationUrl: string
  /** `Enabled`, `Disabled`, `Uninitialized`; anything but `Enabled` is not usable. */
  readonly status: string
  readonly validUntil: Date | undefined
  /** As the service sent them; undefined without any. */
  readonly externalReferences: unknown
}

/** A webhook as the answer to its creation tells it. */
export interface CreatedWebhook extends Webhook {
  /** The private key of its signatures. It cannot be read again. */
  readonly key: string
}

/** Which webhooks are listed: all of these collections, or all; of this status, or any. */
export interface WebhookFilter {
  readonly collections?: readonly string[]
  readonly status?: string
}

/** The webhooks of the tenant. */
export interface Webhooks {
  /**
   * Makes a new one each time it is called. It is repeated, with a token that covers more, only where the service
   * refused the first one and lists no webhook with the address; else never, as `WorkLocations.create`.
   */
  create(webhook: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook>
  list(filter?: WebhookFilter, options?: CallOptions): AsyncIterable<Webhook>
  /** Undefined when there is none, or when it was deleted. */
  get(id: string, options?: CallOptions): Promise<Webhook | undefined>
  remove(id: string, options?: CallOptions): Promise<Removal>
}
