import type { Records } from '#records'
import type { WebhookCollection } from '../../client/service-client.ts'

/** An event about a record of one collection. */
export interface WebhookEventOf<C extends WebhookCollection> {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: C
  /** The body as received, so its numbers have all their digits. */
  readonly body: Uint8Array
  /**
   * The id of the record; a text if it has more digits than a number can keep. Undefined if there is none.
   */
  readonly id?: number | string
  /** Orders the versions of a record, compared as text. */
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
 * Reads a body in either form: the record itself, or `{changeType, data}` as a delta has it. Throws a
 * SyntaxError, which repeats nothing of the body, if it is not JSON.
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

/** A record has its own changeVersion; an envelope around it has none. */
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

/** All digits of the record's id. */
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
 * Says whether to apply an event: true if it is newer than every other event of its record that it was called
 * with.
 */
export type Newest = (event: EventVersion) => boolean

interface Held {
  readonly changeVersion: string
  readonly deleted: boolean
}

const DEFAULT_CAPACITY = 100_000

/**
 * Remembers the newest `changeVersion` of as many records as `capacity` says, deleted ones like others,
 * and forgets first what it has not been asked about for longest. Versions are compared as text, by code
 * units; an equal one is the same event once more, unless it tells of the deletion of what was not deleted.
 * What has no id or no version cannot be compared, and is to be applied.
 *
 * What it calls newer counts as seen: ask where events are applied, behind the queue. Before the queue
 * the repetition of a delivery that could not be stored would look like a duplicate.
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
    const told = { changeVersion, deleted }
    const held = records.get(record)
    const isNewer = held === undefined || isAfter(told, held)
    records.delete(record)
    records.set(record, isNewer ? told : held)
    const [oldest = record] = records.keys()
    if (records.size > capacity) records.delete(oldest)
    return isNewer
  }
}

function isAfter(told: Held, held: Held): boolean {
  if (told.changeVersion !== held.changeVersion) return told.changeVersion > held.changeVersion
  return told.deleted && !held.deleted
}
