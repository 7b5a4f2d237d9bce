import { createHmac } from 'node:crypto'
import type { Replacement } from '../protocol/record-rewriter.ts'

/** Values that are remembered; those of a few thousand people come again and again. */
const MOST = 50_000

/**
 * Replaces values by HMAC-SHA256 under a key, in hexadecimal: the same text or number gets the same
 * pseudonym wherever it stands, so that joins still hold. Null and an empty text stay; of an object or
 * a list every value inside is replaced.
 */
export function createPseudonyms(key: string): Replacement {
  const known = new Map<string, string>()
  return replace

  function replace(json: string): string {
    if (json === 'null' || json === '""') return json
    const found = known.get(json)
    if (found !== undefined) return found
    const pseudonym = JSON.stringify(inside(JSON.parse(json), json))
    if (known.size >= MOST) known.clear()
    known.set(json, pseudonym)
    return pseudonym
  }

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
