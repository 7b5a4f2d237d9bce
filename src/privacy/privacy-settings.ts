import { createHash, createHmac } from 'node:crypto'
import { warningOf } from '../ground/message-ids.ts'
import { nearest } from '../ground/text.ts'
import type { ValueReplacement } from '../records/record-batch.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { readStreamSchema, streams } from '../streams/streams.ts'

/**
 * How much a field reveals of a person, `x-privacy` in its schema.
 *
 * - `none`: nothing.
 * - `personal`: something about a person who is known only by an id.
 * - `identifying`: who the person is: names, home addresses, numbers, and free text, which can name people.
 * - `sensitive`: health, location, pay, origin, family.
 * - `secret`: what lets others act in the person's name, at a terminal or a bank.
 */
export type PrivacyClass = 'none' | 'personal' | 'identifying' | 'sensitive' | 'secret'

/** The class of a field; `personal` if it has none, as fields that the service adds without notice. */
export function privacyClassOf(field: JsonSchema): PrivacyClass {
  return (field['x-privacy'] as PrivacyClass | undefined) ?? 'personal'
}

/**
 * What the values of a field mean, `x-meaning` in its schema. Fields whose values can be joined have the same
 * meaning, so that equal values get equal hashes; a field without `x-meaning` shares its meaning with no other field.
 * For a map of references it is their collection. `{collection}` and `{name}` stand for those members of an external
 * reference.
 */
export function meaningOf(field: JsonSchema): string | undefined {
  return field['x-meaning'] as string | undefined
}

/** The values of the setting `personal_data`. */
export type PrivacyMode = 'complete' | 'without_secrets' | 'pseudonymised' | 'minimal'

/** What happens to a field. */
export type FieldAction = 'keep' | 'drop' | 'hash' | 'null'

/** An exception to the mode, from the setting `field_rules`. */
export interface FieldRule {
  /** The name of a stream; `*` matches any text. */
  readonly stream: string
  /** The names of members from the record inwards, joined by dots; `*` matches any text within one name. */
  readonly path: string
  readonly rule: FieldAction
  /** Whether the rule is meant for a field that the schemas do not have. */
  readonly unknown?: boolean
}

/** How personal data is treated. */
export interface PrivacySettings {
  readonly mode: PrivacyMode
  /** Always set if anything is hashed. */
  readonly pseudonyms: PseudonymSettings | undefined
  readonly rules: readonly FieldRule[]
  readonly unknownFields: 'keep' | 'drop'
}

/** What each mode does to the classes that it does not keep. */
const ACTIONS: Readonly<Record<PrivacyMode, Partial<Record<PrivacyClass, FieldAction>>>> = {
  complete: {},
  without_secrets: { secret: 'drop' },
  // No hash of a pin code is safe: there are 10,000 of them.
  pseudonymised: { identifying: 'hash', secret: 'drop' },
  minimal: { identifying: 'drop', sensitive: 'drop', secret: 'drop' },
}

/** Whether a mode passes on names of people. If not, texts that may contain one are not passed on either. */
export function keepsNames(mode: PrivacyMode): boolean {
  return modeAction(mode, 'identifying') === 'keep'
}

/** What a mode does to fields of a class. */
export function modeAction(mode: PrivacyMode, privacyClass: PrivacyClass): FieldAction {
  return ACTIONS[mode][privacyClass] ?? 'keep'
}

/**
 * Parses the settings of a configuration that is valid by its schema; returns a sentence if they contradict each
 * other.
 */
export function parsePrivacySettings(
  config: Readonly<Record<string, unknown>>,
): PrivacySettings | string {
  const mode = config['personal_data'] as PrivacyMode
  const key = config['privacy_key'] as string | undefined
  const rules = config['field_rules'] as readonly FieldRule[]
  const unknownFields = (config['unknown_fields'] ?? (keepsNames(mode) ? 'keep' : 'drop')) as
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

/** A fingerprint that is equal for settings with the same effect. It reveals nothing of the key. */
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

/** The rules for the fields of one stream. */
export interface FieldPatterns {
  /** The action of the last rule that matches a path or an object around it; undefined if none does. */
  actionOf(path: readonly string[]): FieldAction | undefined
  /**
   * Whether the last rule that matches `path` or an object around it comes after the last one that matches `other`.
   */
  isLater(path: readonly string[], other: readonly string[]): boolean
  /** Whether a rule may match a path inside of this one. */
  reachesInto(path: readonly string[]): boolean
  /** The rules of this stream, each as its path and its action. */
  readonly texts: readonly string[]
}

/** The rules that match a stream. If several match a field, the last one counts. */
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

/** Whether a pattern and a path match in all parts that both have. */
function beginsAlike(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.every((part, i) => path[i] === undefined || fits(part, path[i]))
}

/** Whether a name matches a pattern in which `*` matches any text. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'su').test(name)
}

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
  /** Differs between keys and between tenants, but reveals nothing of them. */
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
        // A number is hashed with all of its digits; of a string, the value is hashed, however it is escaped.
        const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
        return `"${createHmac('sha256', keyOfMeaning).update(text).digest('hex')}"`
      }
    },
    fingerprint: keyed([tenant ?? null]).digest('hex'),
  }
}

/** A key with fewer different characters is a pattern, not a key. */
const LEAST_CHARACTERS = 8

/** Whether a key can be guessed because it has too few different characters. */
export function isGuessable(key: string): boolean {
  return new Set(key).size < LEAST_CHARACTERS
}

/**
 * Parts of field names that indicate a secret, in the languages of the service's tenants. They are compared with the
 * name in lower case and without separators, and are long enough not to occur in other words.
 */
const SECRET_PARTS = [
  ...['pincode', 'codepin', 'badgenumber', 'badgecode', 'badgenummer', 'cardnumber', 'creditcard'],
  ...['bankaccount', 'accountnumber', 'iban', 'bankrekening', 'rekeningnummer', 'comptebancaire'],
  ...['kontonummer', 'socialsecurity', 'securitynumber', 'nationalnumber', 'nationalregister'],
  ...['rijksregister', 'registrenational', 'burgerservice', 'sozialversicherung', 'steuerid'],
  ...['password', 'passwort', 'wachtwoord', 'motdepasse', 'passcode', 'passphrase', 'credential'],
  ...['clientsecret', 'accesstoken', 'apikey', 'privatekey'],
]

/**
 * Words that indicate a secret only if they are whole words: `shippingDate` and `className` contain some of these
 * letters, too.
 */
const SECRET_WORDS = [
  ...['pin', 'puk', 'otp', 'badge', 'ssn', 'bsn', 'niss', 'insz', 'inss', 'nrn', 'nino', 'svnr'],
  ...['cvc', 'cvv', 'pwd', 'passwd', 'secret', 'token'],
]

/** Identifies the version of these lists: connectors with equal lists leave out the same fields. */
export const SECRET_NAMES: readonly string[] = [...SECRET_PARTS, ...SECRET_WORDS]

/**
 * Whether the name of a field says that its value lets others act or pay in a person's name, whatever the schemas
 * say. Case, blanks, punctuation and digits do not matter: `pinCode`, `PIN_CODE`, `Pin-code 2`.
 */
export function namesSecret(name: string): boolean {
  const words = name
    .normalize('NFKC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
  const together = words.join('')
  return (
    SECRET_WORDS.includes(together) ||
    words.some((word) => SECRET_WORDS.includes(word)) ||
    SECRET_PARTS.some((part) => together.includes(part))
  )
}

/** The key and the version, to which no rule applies. */
const ALWAYS_THERE = ['id', 'changeVersion']

/**
 * One sentence for each rule that matches no stream or no field in the schemas, or that changes a field that has to
 * stay.
 */
export function ruleFaults(rules: readonly FieldRule[]): string[] {
  return rules.flatMap((rule, i) => {
    const patterns = [...streams.keys()].map(
      (stream) => [stream, patternsOf(stream, [rule])] as const,
    )
    const fitting = patterns.filter(([, { texts }]) => texts.length > 0)
    if (fitting.length === 0) {
      const meant = nearest(rule.stream, [...streams.keys()])
      const question = meant === undefined ? '' : `; did you mean ${meant}?`
      return [
        `field_rules.${i}.stream is ${rule.stream}, which matches no stream${question || '.'}`,
      ]
    }
    if (ALWAYS_THERE.includes(rule.path) && rule.rule !== 'keep')
      return [`field_rules.${i}.path is ${rule.path}, which stays as it is in every record.`]
    if (rule.unknown === true) return []
    const places = fitting.map(
      ([stream, pattern]) => [pattern, pathsOf(readStreamSchema(stream))] as const,
    )
    const isKnown = places.some(([{ actionOf, reachesInto }, known]) =>
      known.some(
        ({ path, isOpen }) => actionOf(path) !== undefined || (isOpen && reachesInto(path)),
      ),
    )
    if (isKnown) return []
    const known = places.flatMap(([, paths]) => paths.map(({ path }) => path.join('.')))
    const meant = nearest(rule.path, new Set(known))
    return [
      `field_rules.${i}.path is ${rule.path}, which matches no field that the schema of ${rule.stream} knows${
        meant === undefined ? '' : `; did you mean ${meant}?`
      }${meant === undefined ? '.' : ''} For a field that the service has added, set "unknown": true.`,
    ]
  })
}

/** An entry of the setting `external_references`. */
interface AskedReferences {
  readonly collection: string
  readonly names: readonly string[]
}

/**
 * A sentence that names the requested references that are left out of every record; no sentence if there are none.
 */
export function leftOutReferences(
  asked: readonly AskedReferences[],
  { mode, rules }: PrivacySettings,
): string[] {
  const leavesAllOut = modeAction(mode, 'identifying') === 'drop'
  const leavesSecretsOut = modeAction(mode, 'secret') === 'drop'
  const leftOut = asked.flatMap(({ collection, names }) =>
    names
      .filter((name) => leavesAllOut || (leavesSecretsOut && namesSecret(name)))
      .filter((name) => !isPassedByRule(name, rules))
      .map((name) => `${name} of ${collection}`),
  )
  if (leftOut.length === 0) return []
  return [
    `external_references names references that personal_data, ${mode}, leaves out of every record: ${leftOut.join(', ')}. Name others, or keep them with field_rules.`,
  ]
}

/** Whether a rule keeps or hashes the references of a name in the records of some stream. */
function isPassedByRule(name: string, rules: readonly FieldRule[]): boolean {
  if (rules.length === 0) return false
  return [...streams.keys()].some((stream) => {
    const { actionOf } = patternsOf(stream, rules)
    return pathsOf(readStreamSchema(stream))
      .filter(({ path, isOpen }) => isOpen && path.at(-1) === 'externalReferences')
      .map(({ path }) => actionOf([...path, name]))
      .some((action) => action === 'keep' || (action === 'hash' && !namesSecret(name)))
  })
}

interface Place {
  readonly path: readonly string[]
  /** Whether it is an object with arbitrary members. */
  readonly isOpen: boolean
}

function pathsOf(schema: JsonSchema, at: readonly string[] = []): Place[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = [...at, name]
    const inside = field.items ?? field
    const isOpen = inside.properties === undefined && [inside['type']].flat().includes('object')
    return [{ path, isOpen }, ...pathsOf(inside, path)]
  })
}

/** Called at least once for a field that the schema does not have, with its path. */
export type OnUnknown = (field: string, isLeftOut: boolean) => void

/** Collects the fields of all streams of a sync that the schemas do not have. */
export interface UnknownFields {
  /** The callback for one stream. */
  of(stream: string): OnUnknown
  /** A one-line warning for the operator; undefined if there are no such fields. */
  sentence(): string | undefined
}

/** The most fields that are named per list: a service that sends a new field in each record must not fill the log. */
const MOST = 100

export function createUnknownFields(): UnknownFields {
  const fates = { passedOn: new Set<string>(), leftOut: new Set<string>() }
  return {
    of: (stream) => (field, isLeftOut) => {
      const fields = isLeftOut ? fates.leftOut : fates.passedOn
      if (fields.size <= MOST) fields.add(`${stream}.${field}`)
    },
    sentence() {
      const lists = [
        ...listed('They are passed on', fates.passedOn),
        ...listed('They are left out', fates.leftOut),
      ]
      return lists.length === 0
        ? undefined
        : warningOf(
            'unknown-fields',
            `The service sends fields that the schemas do not know; they may be personal data. ${lists.join(' ')} The settings unknown_fields and field_rules decide.`,
          )
    },
  }
}

function listed(fate: string, fields: ReadonlySet<string>): string[] {
  if (fields.size === 0) return []
  const named = [...fields].slice(0, MOST).sort().join(', ')
  return [`${fate}: ${named}${fields.size > MOST ? ' and more' : ''}.`]
}
