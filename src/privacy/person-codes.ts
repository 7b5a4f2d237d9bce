import { createPseudonyms, type PseudonymSettings } from './pseudonyms.ts'

/** The codes of people: keyed hashes, because ids are small numbers that anybody could try. */
export interface PersonCodes {
  of(id: string): string
  /** Whether a code was made with this key, for this tenant. */
  isOurs(code: string): boolean
}

/** The characters at the beginning of a code that say with which key it was made. */
const KEY_CHARACTERS = 8

/** Creates the codes, which the setting `suppressed_people` and receipts have in place of ids. */
export function personCodes(settings: PseudonymSettings): PersonCodes {
  const pseudonyms = createPseudonyms(settings)
  const hash = pseudonyms.of('suppressed people')
  const key = pseudonyms.fingerprint.slice(0, KEY_CHARACTERS)
  return {
    of: (id) => `${key}${JSON.parse(hash(JSON.stringify(id)))}`,
    isOurs: (code) => code.startsWith(key),
  }
}
