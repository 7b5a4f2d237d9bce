import { isJsonObject, type JsonObject, parseExactly } from '../ground/json.ts'

/** One page of a list. */
export interface Envelope {
  readonly items: readonly JsonObject[]
  readonly nextLink?: string
}

/**
 * Parses a page of a list: objects in `value`, as the scanner reads them, or a bare list. Any other form is not
 * readable: it never means that there are none. Throws a SyntaxError with a reason.
 */
export function parseEnvelope(text: string): Envelope {
  const body = parseExactly(text)
  const items = Array.isArray(body) ? body : membersOf(body, 'value')
  if (!Array.isArray(items))
    throw new SyntaxError('it is neither a list nor an object with one in `value`')
  if (!items.every(isJsonObject)) throw new SyntaxError('an item is not an object')
  const nextLink = Array.isArray(body) ? undefined : membersOf(body, 'nextLink')
  if (typeof (nextLink ?? '') !== 'string') throw new SyntaxError('its next link is not a text')
  return { items, ...(nextLink ? { nextLink: nextLink as string } : {}) }
}

/** A member of an object; the case of its name is ignored, so it may be there twice. */
function membersOf(body: unknown, name: string): unknown {
  if (!isJsonObject(body)) return undefined
  const names = Object.keys(body).filter((one) => one.toLowerCase() === name.toLowerCase())
  if (names.length > 1) throw new SyntaxError(`it has the duplicate key \`${name}\``)
  return body[names[0] ?? name]
}
