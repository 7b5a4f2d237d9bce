import type { Records } from '#records'
import type { WebhookCollection } from '../../client/service-client.ts'

/** An event about a record of one collection. */
export interface WebhookEventOf<C extends WebhookCollection> {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: C
  /** The body as received, so its numbers have all their digits. */
  readonly body: Uint8Array
  /** The id of the record; a string if it has more digits than a number can hold. Undefined if there is none. */
  readonly id?: number | string
  /** The version of the record. A later version is higher, compared as text. */
  readonly changeVersion?: string
  /** Undefined if the event does not say: the service does not document deletions in every form. */
  readonly deleted: boolean | undefined
  /**
   * The record, parsed by JSON.parse; undefined if the event has none. For a deletion it may have only `id`
   * and `changeVersion`. Nothing is checked: the type is what the service documents.
   */
  readonly data?: Records[C]
}

/** The content of a delivery; `collection` determines the type of `data`. */
export type WebhookEvent = { [C in WebhookCollection]: WebhookEventOf<C> }[WebhookCollection]

const DELETES = new Map([
  ['delete', true],
  ['insertorupdate', false],
  ['insert', false],
  ['update', false],
])
/** A text, or a whole number that may have more digits than JSON.parse keeps. */
const TEXT_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

/**
 * Parses the body of a delivery, which is either the record itself or `{changeType, data}`, as in a delta. Throws a
 * SyntaxError that contains no part of the body if the body is not JSON.
 */
export function parseEvent(collection: string, body: Uint8Array): WebhookEvent {
  const text = new TextDecoder().decode(body)
  const json = parse(text)
  const data = recordOf(json)
  const { id, changeVersion } = members(data)
  return {
    // The path names a collection that has webhooks; the type of its content is what the service documents.
    collection: collection as WebhookCollection,
    body,
    ...(isId(id) && { id: isExact(id) ? id : longId(text) }),
    ...(typeof changeVersion === 'string' && { changeVersion }),
    deleted: deletedBy(json),
    ...(data !== undefined && { data }),
  } as WebhookEvent
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('the body of the delivery is not JSON')
  }
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Whether a body is an envelope: only records have a changeVersion. */
function isEnvelope(json: unknown): boolean {
  const { changeType, changeVersion, data } = members(json)
  return typeof changeType === 'string' && (data !== undefined || changeVersion === undefined)
}

function recordOf(json: unknown): unknown {
  return isEnvelope(json) ? members(json)['data'] : json
}

function deletedBy(json: unknown): boolean | undefined {
  if (members(recordOf(json))['status'] === 'Deleted') return true
  return isEnvelope(json)
    ? DELETES.get(String(members(json)['changeType']).toLowerCase())
    : undefined
}

function isId(id: unknown): id is number | string {
  return typeof id === 'number' || typeof id === 'string'
}

function isExact(id: number | string): boolean {
  return typeof id === 'string' || !Number.isInteger(id) || Number.isSafeInteger(id)
}

/** Returns the record's id with all its digits. */
function longId(text: string): string {
  const quoted = text.replace(TEXT_OR_LONG_NUMBER, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
  return String(members(recordOf(JSON.parse(quoted)))['id'])
}

/** The members of an event that decide whether it is newer; the id may be a text. */
export interface EventVersion {
  readonly collection: string
  readonly id?: number | string | undefined
  readonly changeVersion?: string | undefined
  readonly deleted?: boolean | undefined
}

/**
 * Returns whether to apply an event: true if it is newer than all earlier events of the same record that were passed to
 * this function.
 */
export type Newest = (event: EventVersion) => boolean

interface Held {
  readonly changeVersion: string
  readonly deleted: boolean
}

const DEFAULT_CAPACITY = 100_000

/**
 * Creates a function that recognizes outdated and repeated events. It remembers the newest `changeVersion` of up to
 * `capacity` records, including deleted ones, and forgets the least recently used record first. Versions are compared
 * as text, by code units. An event with an equal version is a repetition, unless it reports a deletion and the earlier
 * event did not. Events without an id or a version cannot be compared, so the function returns true for them.
 *
 * Call the function where events are applied, after the queue: every event counts as seen. Before the queue, the
 * repetition of a delivery that could not be stored would be mistaken for a duplicate.
 */
export function createNewest({
  capacity = DEFAULT_CAPACITY,
}: {
  readonly capacity?: number
} = {}): Newest {
  if (!(capacity >= 1)) throw new RangeError('the capacity must be 1 or more')
  const records = new Map<string, Held>()
  return ({ collection, id, changeVersion, deleted = false }) => {
    if (id === undefined || changeVersion === undefined) return true
    const record = `${collection} ${id}`
    const latest = { changeVersion, deleted }
    const held = records.get(record)
    const isNewer = held === undefined || isAfter(latest, held)
    records.delete(record)
    records.set(record, isNewer ? latest : held)
    const [oldest = record] = records.keys()
    if (records.size > capacity) records.delete(oldest)
    return isNewer
  }
}

function isAfter(latest: Held, held: Held): boolean {
  if (latest.changeVersion !== held.changeVersion) return latest.changeVersion > held.changeVersion
  return latest.deleted && !held.deleted
}
