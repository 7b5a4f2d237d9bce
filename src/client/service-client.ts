import type { ReferenceChoice } from '../config/config.ts'
import type { ExternalReference } from '../page/reference-page.ts'

/**
 * The resources of the service that are not streams. Every method throws a ClientError if the service refuses
 * or does not answer, or if the request cannot be sent.
 */
export interface ServiceClient {
  readonly references: References
  readonly jobCategories: JobCategories
  readonly workLocations: WorkLocations
  readonly webhooks: Webhooks
  /**
   * Those of these scopes, by their full names, that the token lacks; empty if the token does not name its
   * scopes. Throws a ConnectorError if there is no token.
   */
  missingScopes(scopes: readonly string[]): Promise<readonly string[]>
  /** The service's time, from the Date of its last answer; the local time before the first. */
  now(): Date
  /** Ends all connections; open requests fail. */
  close(): Promise<void>
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** How long a request may still take effect after its connection has ended, in milliseconds. */
export const LATE_MS = 10_000

/** Options of a single call. */
export interface CallOptions {
  /** Ends this call, with its reason; the request may have had its effect. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called each time that the service may have done it without confirming it. The call is repeated and may succeed, but
   * the earlier request may still take effect, and undo what was requested after it.
   */
  readonly onUncertain?: () => void
}

/**
 * A custom reference: `value` identifies the record with the id `internalReference` of a collection.
 */
export interface Reference extends ExternalReference {
  readonly internalReference: string
}

/** The custom external references of the tenant. */
export interface References {
  /**
   * All references of a collection, or those with one name. `internalReference` is null if the answer does
   * not have it. A 404 is an error: it does not say whether there are none.
   */
  list(collection: string, name?: string, options?: CallOptions): AsyncIterable<ExternalReference>
  /** Undefined if the value is not registered. */
  get(
    collection: string,
    name: string,
    value: string,
    options?: CallOptions,
  ): Promise<ExternalReference | undefined>
  /**
   * The id of the record with this value of a reference, which may be a predefined one (`@employee-number`); undefined if
   * there is none. Needs the `.read` scope of the collection. Throws if the service took the value for an id.
   */
  find(
    collection: string,
    name: string,
    value: string,
    options?: CallOptions,
  ): Promise<string | undefined>
  /** Links the value to the id. The same link again changes nothing; a link to another id is a 400. */
  put(reference: Reference, options?: CallOptions): Promise<void>
  remove(collection: string, name: string, value: string, options?: CallOptions): Promise<Removal>
}

/** `absent`: there was nothing to delete. */
export type Removal = 'deleted' | 'absent'

/** Identifies a record by its id, or by the value of one of its custom references. */
export type RecordKey = { readonly id: string } | { readonly name: string; readonly value: string }

/** A text and its translations, by language code; members that this version does not know are as they were sent. */
export interface TranslatedText {
  readonly default: string
  readonly translations?: Readonly<Record<string, string>> | undefined
}

/** The writable fields of a job category; those that are left out become empty. */
export interface JobCategoryBody {
  readonly name: TranslatedText
  readonly externalCode?: string | undefined
}

/** Members that are missing were not sent; those that this version does not know are as they were sent. */
export interface JobCategory extends JobCategoryBody {
  readonly id: string
  readonly changeVersion?: string
}

/** A record and its version for `If-Match`. */
export interface Versioned<T> {
  readonly record: T
  readonly etag?: string
}

/** The job categories of the tenant. This API can neither create nor delete one. */
export interface JobCategories {
  list(options?: CallOptions): AsyncIterable<JobCategory>
  /** Undefined if there is none. Throws if the service took the value of a reference for an id. */
  get(key: RecordKey, options?: CallOptions): Promise<Versioned<JobCategory> | undefined>
  /**
   * Replaces all writable fields; with an etag only if the version is still the same (412 otherwise).
   */
  put(key: RecordKey, body: JobCategoryBody, etag?: string, options?: CallOptions): Promise<void>
}

/** The fields of a new work location. */
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
   * Creates a new one at each call. It is not repeated if it may have had its effect: see
   * `ClientError.mayHaveHappened`. The id is undefined if the answer does not have it.
   */
  create(
    body: WorkLocationBody,
    options?: CallOptions,
  ): Promise<{ readonly id: string | undefined }>
}

/** The fields of a new webhook; its references cannot be changed later. */
export interface WebhookRequest {
  readonly collectionName: string
  /** An https address; plain http for loopback. */
  readonly destinationUrl: string
  readonly references?: readonly ReferenceChoice[]
}

/** A webhook: the address to which the events of one collection are sent. */
export interface Webhook {
  readonly id: string
  readonly collectionName: string
  readonly destinationUrl: string
  /** `Enabled`, `Disabled`, `Uninitialized`; only an `Enabled` webhook is usable. */
  readonly status: string
  readonly validUntil: Date | undefined
  /** As the service sent them; undefined if there are none. */
  readonly externalReferences: unknown
}

/** A webhook as in the answer to its creation. */
export interface CreatedWebhook extends Webhook {
  /** The private key of its signatures. It cannot be read again. */
  readonly key: string
}

/** Filters for the list of webhooks: these collections, or all; this status, or any. */
export interface WebhookFilter {
  readonly collections?: readonly string[]
  readonly status?: string
}

/** The webhooks of the tenant. */
export interface Webhooks {
  /**
   * Creates a new one at each call. It is repeated, with a token that covers more, only if the service
   * refused the first request and lists no webhook with the address; otherwise never, like
   * `WorkLocations.create`.
   */
  create(webhook: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook>
  list(filter?: WebhookFilter, options?: CallOptions): AsyncIterable<Webhook>
  /** Undefined if there is none, or if it was deleted. */
  get(id: string, options?: CallOptions): Promise<Webhook | undefined>
  remove(id: string, options?: CallOptions): Promise<Removal>
}

/** The collections for which the service offers webhooks. */
export const webhookCollections = [
  'absence-definitions',
  'absence-groups',
  'absences',
  'access-clockings',
  'activity-durations',
  'assignments',
  'break-definitions',
  'breaks',
  'calculated-totals',
  'clockings',
  'contracts',
  'counter-definitions',
  'counter-groups',
  'counters',
  'paid-presences',
  'people',
  'shift-definitions',
  'work-interruptions',
] as const

/** A collection for which the service offers webhooks. */
export type WebhookCollection = (typeof webhookCollections)[number]

/** The stream of a collection. */
export function streamOf(collection: string): string {
  return collection.replaceAll('-', '_')
}
