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
  const items = Array.isArray(body) ? body : listIn(body)
  if (!Array.isArray(items))
    throw new SyntaxError('it is neither a list nor an object with one in `value`')
  if (!items.every(isJsonObject)) throw new SyntaxError('an item is not an object')
  const nextLink = nextLinkOf(body)
  return nextLink === undefined ? { items } : { items, nextLink }
}

/**
 * The link of a parsed page to the next one, by the rule of the scanner: in any spelling of its name, where null or an empty
 * text in another one ends nothing. Throws a SyntaxError for any other form, which is no end.
 */
export function nextLinkOf(body: unknown): string | undefined {
  const links = membersOf(body, 'nextlink').map((link) => link ?? '')
  if (!links.every((link) => typeof link === 'string'))
    throw new SyntaxError('its next link is not a text')
  return links.findLast(Boolean)
}

function listIn(body: unknown): unknown {
  const [value, ...others] = membersOf(body, 'value')
  if (others.length > 0) throw new SyntaxError('it has the duplicate key `value`')
  return value
}

/** The members of an object with this name in lower case. */
function membersOf(body: unknown, lowerCase: string): readonly unknown[] {
  const members = isJsonObject(body) ? Object.entries(body) : []
  return members.flatMap(([name, value]) => (name.toLowerCase() === lowerCase ? [value] : []))
}
