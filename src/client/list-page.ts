import { isJsonObject, type JsonObject } from '../protocol/json.ts'

/** One answer of a list. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly nextLink?: string | undefined
}

/**
 * Reads one answer of a list of objects: a list, bare or in `value`, an object of objects by their id, or a lone
 * object. Throws a SyntaxError with a reason for a body that is not JSON or has none of these forms.
 */
export function parseListPage(text: string): ListPage<JsonObject> {
  const body: unknown = JSON.parse(text)
  const nextLink = isJsonObject(body) ? member(body, 'nextLink') : undefined
  return {
    items: itemsOf(body),
    ...(typeof nextLink === 'string' && nextLink !== '' && { nextLink }),
  }
}

/** The one object of an answer, in any form of a list. Throws a SyntaxError where there is another number. */
export function parseOne(text: string): JsonObject {
  const [item, ...others] = itemsOf(JSON.parse(text))
  if (item === undefined || others.length > 0) throw new SyntaxError('it is not one object')
  return item
}

/** A member of an object, however it is capitalised. */
export function member(object: JsonObject, name: string): unknown {
  if (name in object) return object[name]
  const key = Object.keys(object).find((key) => key.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : object[key]
}

/** A text, or a number as text; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}

function itemsOf(body: unknown): JsonObject[] {
  if (Array.isArray(body)) {
    if (body.every(isJsonObject)) return body
    throw new SyntaxError('an item is not an object')
  }
  if (!isJsonObject(body)) throw new SyntaxError('it is neither a list nor an object')
  const value = member(body, 'value')
  if (Array.isArray(value) || isJsonObject(value)) return itemsOf(value)
  if (textOf(member(body, 'id')) !== undefined) return [body]
  const byId = Object.entries(body).filter(([, item]) => isJsonObject(item)) as [
    string,
    JsonObject,
  ][]
  return byId.map(([id, item]) => ({ id, ...item }))
}
