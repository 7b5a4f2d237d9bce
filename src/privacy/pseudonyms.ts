import { createHmac } from 'node:crypto'
import type { ValueReplacement } from '../records/object-rules.ts'

/** What pseudonyms are made with. */
export interface PseudonymSettings {
  readonly key: string
  /** Equal values of different tenants differ; undefined makes them equal under the same key. */
  readonly tenant: string | undefined
}

/** Replaces values by codes: HMAC-SHA256 in hexadecimal, under a key of their meaning. */
export interface Pseudonyms {
  /**
   * What replaces a text, a number or a boolean of a meaning. What is written alike gets the same code wherever
   * the meaning is the same, so that joins still hold, and nowhere else. Null and an empty text stay.
   */
  of(meaning: string): ValueReplacement
  /** Tells two keys or tenants apart, and nothing of them. */
  readonly fingerprint: string
}

export function createPseudonyms({ key, tenant }: PseudonymSettings): Pseudonyms {
  const keyed = (purpose: readonly unknown[]) =>
    createHmac('sha256', key).update(JSON.stringify(purpose))
  return {
    of(meaning) {
      const keyOfMeaning = keyed([tenant ?? null, meaning]).digest()
      return (json) => {
        if (json === 'null' || json === '""') return json
        // A number has all of its digits in the text; a text is known by what it says, however it is escaped.
        const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
        return `"${createHmac('sha256', keyOfMeaning).update(text).digest('hex')}"`
      }
    },
    fingerprint: keyed([tenant ?? null]).digest('hex'),
  }
}

/** Fewer different characters than this are a pattern, not a key. */
const LEAST_CHARACTERS = 8

/** Whether a key can be guessed because it has few different characters. */
export function isGuessable(key: string): boolean {
  return new Set(key).size < LEAST_CHARACTERS
}
