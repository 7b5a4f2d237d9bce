import type { Fields } from './versions.ts'

/**
 * Records that keep every digit. A number that a double cannot keep is a property `{ "$digits":
 * "9007199254740993" }` among the fields, and these digits in the text.
 */

// Text with this beginning cannot be inside another text, where its quotes would be escaped.
const marked = /\{"\$digits":"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"\}/g

// An escaped character, the start or end of a text, or a number outside of texts.
const tokens = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

// Numbers that a double may not keep, because parsing each number separately takes long.
const long = /\d[\d.]{15}|[:,[]-?[\d.]+[eE]/

/** The text of fields; `keep` is the replacer of `JSON.stringify`. */
export function textOf(fields: Fields, keep?: (name: string, value: unknown) => unknown): string {
  return JSON.stringify(fields, keep).replace(marked, '$1')
}

/** The fields of a text. */
export function exactFieldsOf(text: string): Fields {
  if (!long.test(text)) return JSON.parse(text)
  let isInText = false
  const exact = text.replace(tokens, (token) => {
    if (token === '"') isInText = !isInText
    const isKept = isInText || !/\d$/.test(token) || JSON.stringify(Number(token)) === token
    return isKept ? token : `{"$digits":"${token}"}`
  })
  return JSON.parse(exact)
}

/** Whether a property is a number with `$digits`. */
export function isExactNumber(value: unknown): boolean {
  return Object.hasOwn(Object(value), '$digits')
}
