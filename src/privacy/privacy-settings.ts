import { createHash, createHmac } from 'node:crypto'
import type { ValueReplacement } from '../records/record-batch.ts'
import type { JsonSchema } from '../records/stream-spec.ts'

/**
 * What a field tells of a person, `x-privacy` in its schema. `none`: nothing. `personal`: something of
 * somebody who is known by an id only. `identifying`: who it is; names, home addresses, numbers, and free
 * text, which can name people. `sensitive`: health, location, pay, origin, family. `secret`: what lets
 * somebody act in another's name, at a terminal or a bank.
 */
export type PrivacyClass = 'none' | 'personal' | 'identifying' | 'sensitive' | 'secret'

/** The class of a field; `personal` for one that the service adds to a record without telling. */
export function privacyClassOf(field: JsonSchema): PrivacyClass {
  return (field['x-privacy'] as PrivacyClass | undefined) ?? 'personal'
}

/**
 * What the values of a field mean, `x-meaning` in its schema: fields whose values can be joined have the same word,
 * and equal hashes of equal values. A field without a word shares its meaning with no other one. That of a map of
 * references is their collection; `{collection}` and `{name}` stand for the members of an external reference.
 */
export function meaningOf(field: JsonSchema): string | undefined {
  return field['x-meaning'] as string | undefined
}

/** The setting `personal_data`. */
export type PrivacyMode = 'complete' | 'without_secrets' | 'pseudonymised' | 'minimal'

/** What becomes of a field. */
export type FieldAction = 'keep' | 'drop' | 'hash' | 'null'

/** An exception to the mode: one of the setting `field_rules`. */
export interface FieldRule {
  /** The name of a stream; `*` stands for any text. */
  readonly stream: string
  /** Names of members from the record inwards, joined by dots; `*` stands for any text without a dot. */
  readonly path: string
  readonly rule: FieldAction
  /** Whether it is meant for a field that the schemas do not know. */
  readonly unknown?: boolean
}

/** How personal data is treated. */
export interface PrivacySettings {
  readonly mode: PrivacyMode
  /** There whenever something is hashed. */
  readonly pseudonyms: PseudonymSettings | undefined
  readonly rules: readonly FieldRule[]
  readonly unknownFields: 'keep' | 'drop'
}

/** What a mode does with the classes that do not stay. */
const ACTIONS: Readonly<Record<PrivacyMode, Partial<Record<PrivacyClass, FieldAction>>>> = {
  complete: {},
  without_secrets: { secret: 'drop' },
  // No hash of a pin code is safe: there are 10,000 of them.
  pseudonymised: { identifying: 'hash', secret: 'drop' },
  minimal: { identifying: 'drop', sensitive: 'drop', secret: 'drop' },
}

/** Whether names of people are passed on; where they are not, a text that may hold one is not either. */
export function namesPeople(mode: PrivacyMode): boolean {
  return modeAction(mode, 'identifying') === 'keep'
}

/** What a mode does with a field of a class. */
export function modeAction(mode: PrivacyMode, privacyClass: PrivacyClass): FieldAction {
  return ACTIONS[mode][privacyClass] ?? 'keep'
}

/** The settings in a configuration that is valid by its schema, or a sentence that says what is wrong. */
export function parsePrivacySettings(
  config: Readonly<Record<string, unknown>>,
): PrivacySettings | string {
  const mode = config['personal_data'] as PrivacyMode
  const key = config['privacy_key'] as string | undefined
  const rules = config['field_rules'] as readonly FieldRule[]
  const unknownFields = (config['unknown_fields'] ?? (namesPeople(mode) ? 'keep' : 'drop')) as
    | 'keep'
    | 'drop'
  if (hashes({ mode, rules }) && key === undefined)
    return `privacy_key is missing: pseudonyms need it, because ${mode === 'pseudonymised' ? 'personal_data is pseudonymised' : 'a rule of field_rules hashes'}.`
  if (key !== undefined && isGuessable(key))
    return 'privacy_key has too few different characters and can be guessed; docs/privacy.md has a command that creates one.'
  const isShared = config['pseudonyms_across_tenants'] === true
  const tenant = isShared ? undefined : (config['tenant'] as string).toLowerCase()
  return { mode, pseudonyms: key === undefined ? undefined : { key, tenant }, rules, unknownFields }
}

/** The same for settings that leave out the same; tells nothing of the key. */
export function settingsFingerprint(settings: PrivacySettings): string {
  const { mode, rules, unknownFields, pseudonyms } = settings
  const texts = rules.map(({ stream, path, rule }) => [stream, path, rule])
  const key = hashes(settings) && pseudonyms ? createPseudonyms(pseudonyms).fingerprint : ''
  return createHash('sha256')
    .update(JSON.stringify([mode, texts, unknownFields, key]))
    .digest('hex')
}

function hashes({ mode, rules }: Pick<PrivacySettings, 'mode' | 'rules'>): boolean {
  return mode === 'pseudonymised' || rules.some(({ rule }) => rule === 'hash')
}

/** Rules for the fields of one stream. */
export interface FieldPatterns {
  /** What the last rule says that fits a path or an object around it; undefined when none does. */
  actionOf(path: readonly string[]): FieldAction | undefined
  /** Whether the last rule that fits `path` or an object around it comes after the last one that fits `other`. */
  isLater(path: readonly string[], other: readonly string[]): boolean
  /** Whether a rule may fit a path inside of this one. */
  reachesInto(path: readonly string[]): boolean
  /** The rules, as they were given. */
  readonly texts: readonly string[]
}

/** The rules that fit a stream; of several that fit a field the last one counts. */
export function patternsOf(stream: string, rules: readonly FieldRule[]): FieldPatterns {
  const patterns = rules
    .filter((rule) => fits(rule.stream, stream))
    .map(({ path, rule }) => ({ path: path.split('.'), rule }))
  const lastOf = (path: readonly string[]) =>
    patterns.findLastIndex((one) => one.path.length <= path.length && beginsAlike(one.path, path))
  return {
    texts: patterns.map(({ path, rule }) => `${path.join('.')} ${rule}`),
    actionOf: (path) => patterns[lastOf(path)]?.rule,
    isLater: (path, other) => lastOf(path) > lastOf(other),
    reachesInto: (path) =>
      patterns.some((one) => one.path.length > path.length && beginsAlike(one.path, path)),
  }
}

/** Whether a pattern and a path agree as far as both go. */
function beginsAlike(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.every((part, i) => path[i] === undefined || fits(part, path[i]))
}

/** Whether a name fits a pattern in which `*` stands for any text. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'su').test(name)
}

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
