import { createHmac } from 'node:crypto'
import type { Replacement } from '../protocol/record-rewriter.ts'

/**
 * Replaces values by HMAC-SHA256 under a key, in hexadecimal: the same text or number gets the same
 * pseudonym wherever it stands, so that joins still hold. Null and an empty text stay; of an object or
 * a list every value inside is replaced.
 */
export function createPseudonyms(key: string): Replacement {
  return (json) => JSON.stringify(inside(JSON.parse(json), json))

  /** `json` is the text of the value, in which a number has all of its digits. */
  function inside(value: unknown, json = JSON.stringify(value)): unknown {
    if (value === null || value === '') return value
    if (Array.isArray(value)) return value.map((one) => inside(one))
    if (typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one)]))
    const text = typeof value === 'string' ? value : json
    return createHmac('sha256', key).update(text).digest('hex')
  }
}

/** Cuts a day to 1 January of its year; what is no day becomes null. */
export function yearOf(json: string): string {
  return /^"\d{4}-/.test(json) ? `${json.slice(0, 5)}-01-01"` : 'null'
}
