import { createHmac, scryptSync } from 'node:crypto'
import type { ValueReplacement } from '../records/record-batch.ts'

/** The key and the tenant that pseudonyms depend on. */
export interface PseudonymSettings {
  readonly key: string
  /**
   * Makes equal values of different tenants get different codes; undefined gives them equal codes under the same key.
   */
  readonly tenant: string | undefined
}

/** Replaces values by codes: HMAC-SHA256 in hexadecimal, with a key derived from the meaning of the values. */
export interface Pseudonyms {
  /**
   * A function that replaces strings, numbers and booleans of a meaning. Equal texts get equal codes if their meaning
   * is the same, so that joins still work, and different codes otherwise. Null and an empty string stay.
   */
  of(meaning: string): ValueReplacement
  /** Differs between keys and between tenants. Whoever has it can try a dozen keys a second. */
  readonly fingerprint: string
}

/** Nothing is derived from the key before the first code or fingerprint is needed. */
export function createPseudonyms(settings: PseudonymSettings): Pseudonyms {
  const keyed = (...purpose: readonly string[]) =>
    createHmac('sha256', stretched(settings)).update(JSON.stringify(purpose))
  return {
    of(meaning) {
      let keyOfMeaning: Buffer | undefined
      return (json) => {
        if (json === 'null' || json === '""') return json
        // A number is hashed with all of its digits; of a string, the value is hashed, however it is escaped.
        const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
        keyOfMeaning ??= keyed('values', meaning).digest()
        return `"${createHmac('sha256', keyOfMeaning).update(text).digest('hex')}"`
      }
    },
    get fingerprint() {
      return keyed('fingerprint').digest('hex')
    },
  }
}

/** 32 MiB and a tenth of a second: nothing once per process, and too much for trying keys one after the other. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 }

const derived = new Map<string, Buffer>()

/** The key that everything else is derived from. It is computed once per process. */
function stretched({ key, tenant }: PseudonymSettings): Buffer {
  const salt = JSON.stringify(['source-protime', tenant ?? null])
  const one = JSON.stringify([key, salt])
  const stretchedKey = derived.get(one) ?? scryptSync(key, salt, 32, COST)
  derived.set(one, stretchedKey)
  return stretchedKey
}

/** A key needs so many different characters, and so many of them outside of the words and sequences below. */
const LEAST_CHARACTERS = 16
const LEAST_OTHERS = 8

/** 256 bits in hexadecimal. There are only 16 digits, and some of them may be missing. */
const HEXADECIMAL = /^[\da-f]{64,}$/i
const LEAST_DIGITS = 10

/** Words and sequences of which people make keys, in small letters. A part of a sequence counts from 4 characters. */
const WORDS = [
  ...['protime', 'password', 'passwort', 'wachtwoord', 'motdepasse', 'passphrase', 'changeme'],
  ...['secret', 'geheim', 'privacy', 'pseudonym', 'welcome', 'welkom', 'bienvenue', 'willkommen'],
  ...['correct', 'horse', 'battery', 'staple', 'company', 'example', 'tenant', 'admin', 'acme'],
]
const SEQUENCES = [
  ...['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ...['azertyuiop', 'qsdfghjklm', 'wxcvbn', 'qwertzuiop', 'yxcvbnm', '!@#$%^&*()'],
].flatMap((sequence) => [sequence, [...sequence].reverse().join('')])
const SEQUENCE_PARTS = SEQUENCES.flatMap((sequence) =>
  [...sequence].map((_, i) => sequence.slice(i, i + 4)).filter(({ length }) => length === 4),
)

/**
 * Why a key can be guessed; undefined if it cannot. `named` are words that everybody who knows the configuration would
 * try, such as the name of the tenant.
 */
export function guessable(key: string, named: readonly string[] = []): string | undefined {
  const different = new Set(key).size
  const isRandom = HEXADECIMAL.test(key) && different >= LEAST_DIGITS
  if (different < LEAST_CHARACTERS && !isRandom) return 'has too few different characters'
  const isRich = new Set(withoutWords(key.toLowerCase(), named)).size >= LEAST_OTHERS
  return isRich ? undefined : 'consists of common words and sequences'
}

function withoutWords(key: string, named: readonly string[]): string {
  const names = named.filter(({ length }) => length > 2).map((name) => name.toLowerCase())
  const words = [...names, ...WORDS]
  const left = words.reduce((text, word) => text.replaceAll(word, ' '), key)
  const taken = new Set<number>()
  for (const part of SEQUENCE_PARTS)
    for (let at = left.indexOf(part); at >= 0; at = left.indexOf(part, at + 1))
      for (let i = 0; i < part.length; i++) taken.add(at + i)
  return left
    .split('')
    .filter((character, i) => character !== ' ' && !taken.has(i))
    .join('')
}
