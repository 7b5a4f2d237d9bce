import { isJsonObject, type JsonObject, tryParseJson } from '../ground/json.ts'
import type { ServiceAnswer } from '../http/client.ts'
import type { TranslatedText } from './service-client.ts'

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly nextLink?: string | undefined
}

/**
 * Reads one page of a list of objects: a list, bare or in `value`, an object of objects by their ids, or a
 * single object. Throws a SyntaxError with a reason for a body that is not JSON or has none of these forms.
 */
export function parseListPage(text: string): ListPage<JsonObject> {
  const body: unknown = JSON.parse(text)
  const nextLink = isJsonObject(body) ? member(body, 'nextLink') : undefined
  return {
    items: itemsOf(body),
    ...(typeof nextLink === 'string' && nextLink !== '' && { nextLink }),
  }
}

/**
 * The only object of an answer, in any form of a list. Throws a SyntaxError if there is not exactly one.
 */
export function parseOne(text: string): JsonObject {
  const [item, ...others] = itemsOf(JSON.parse(text))
  if (item === undefined || others.length > 0) throw new SyntaxError('it is not one object')
  return item
}

/** A member of an object; the case of its name is ignored. */
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

/**
 * The id of what a POST has created: the end of its Location, relative or absolute, or the id in its body.
 */
export function createdId({
  header,
  text,
}: Pick<ServiceAnswer, 'header' | 'text'>): string | undefined {
  const [path = ''] = (header('location') ?? '').split(/[?#]/, 1)
  const segment = path.replace(/\/+$/, '').split('/').at(-1)
  const id = segment ? decoded(segment) : textOf(member(createdBody(text), 'id'))
  return id === '' ? undefined : id
}

/** The object in the body of such an answer; an empty one if there is none. */
export function createdBody(text: string): JsonObject {
  const body = tryParseJson(text)
  // The body is empty unless its content is documented.
  return isJsonObject(body) ? body : {}
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The `name` of a record, with the parts that were sent. */
export function readTranslatedText(value: unknown): TranslatedText {
  if (!isJsonObject(value)) return { default: textOf(value) ?? '' }
  const translations = member(value, 'translations')
  return {
    default: textOf(member(value, 'default')) ?? '',
    ...(isJsonObject(translations) && { translations: texts(translations) }),
  }
}

function texts(object: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => {
      const text = textOf(value)
      return text === undefined ? [] : [[key, text]]
    }),
  )
}
