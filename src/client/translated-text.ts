import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { member, textOf } from './list-page.ts'
import type { TranslatedText } from './service-client.ts'

/** The `name` of a record, whatever of it was sent. */
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
