import { tryParseJson } from '../protocol/json.ts'

/** What a delivery says. */
export interface WebhookEvent {
  /** The service's name of the collection, such as `access-clockings`. */
  readonly collection: string
  /** The body as it was received: all digits of its numbers are here. */
  readonly body: Buffer
  /** The record's; text when it has more digits than a number keeps. */
  readonly id?: number | string
  /** Orders the versions of a record, compared as text. */
  readonly changeVersion?: string
  /** Undefined when the event does not tell: the service does not document deletions in every form. */
  readonly deleted: boolean | undefined
  /** The record, as JSON.parse reads it; undefined when the event has none. */
  readonly data?: unknown
}

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
export function parseEvent(collection: string, body: Buffer): WebhookEvent {
  const text = new TextDecoder().decode(body)
  const json = parse(text)
  const data = recordOf(json)
  const { id, changeVersion } = members(data)
  return {
    collection,
    body,
    ...(isId(id) && { id: isExact(id) ? id : longId(text) }),
    ...(typeof changeVersion === 'string' && { changeVersion }),
    deleted: deletedBy(json),
    ...(data !== undefined && { data }),
  }
}

/** Whether a body is JSON. */
export function isJson(body: Buffer): boolean {
  return tryParseJson(new TextDecoder().decode(body)) !== undefined
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

/** A record has a changeVersion of its own; around a record there is none. */
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
