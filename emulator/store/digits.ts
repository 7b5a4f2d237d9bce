import type { Fields } from './versions.ts'

/**
 * Records of which every digit counts. A number that a double does not hold is a property
 * `{ "$digits": "9007199254740993" }` among the fields, and these digits in the text.
 */

// A text that begins so cannot be inside of another text, where its quotes would be escaped.
const marked = /\{"\$digits":"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"\}/g

const textsAndNumbers = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

// What may be more than a double holds: to read each number by itself takes ten times as long.
const long = /\d[\d.]{15}|[:,[]-?[\d.]+[eE]/

/** The text of fields; `keep` is the replacer of `JSON.stringify`. */
export function textOf(fields: Fields, keep?: (name: string, value: unknown) => unknown): string {
  return JSON.stringify(fields, keep).replace(marked, '$1')
}

/** The fields of a text. */
export function exactFieldsOf(text: string): Fields {
  if (!long.test(text)) return JSON.parse(text)
  const exact = text.replace(textsAndNumbers, (token) =>
    token.startsWith('"') || JSON.stringify(Number(token)) === token
      ? token
      : `{"$digits":"${token}"}`,
  )
  return JSON.parse(exact)
}

/** Whether a property is a number of which every digit counts. */
export function isExactNumber(value: unknown): boolean {
  return Object.hasOwn(Object(value), '$digits')
}
