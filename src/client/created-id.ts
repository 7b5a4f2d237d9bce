import type { ServiceAnswer } from '../http/client.ts'
import { isJsonObject, type JsonObject, tryParseJson } from '../protocol/json.ts'
import { member, textOf } from './list-page.ts'

/** The id of what a POST has made: the end of its Location, relative or absolute, or that in its body. */
export function createdId({
  header,
  text,
}: Pick<ServiceAnswer, 'header' | 'text'>): string | undefined {
  const [path = ''] = (header('location') ?? '').split(/[?#]/, 1)
  const segment = path.replace(/\/+$/, '').split('/').at(-1)
  const id = segment ? decoded(segment) : textOf(member(createdBody(text), 'id'))
  return id === '' ? undefined : id
}

/** The object in the body of such an answer; an empty one when there is none. */
export function createdBody(text: string): JsonObject {
  const body = tryParseJson(text)
  // It is empty, unless it is documented to hold something.
  return isJsonObject(body) ? body : {}
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
