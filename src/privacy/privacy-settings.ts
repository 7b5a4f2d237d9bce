import { createHash } from 'node:crypto'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { nearest } from '../ground/text.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { readStreamSchema, streams } from '../streams/streams.ts'
import { type FieldAction, type FieldRule, patternsOf } from './field-patterns.ts'
import { createPseudonyms, guessable, type PseudonymSettings } from './pseudonyms.ts'
import { namesSecret } from './secret-names.ts'

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
  const name = (config['tenant'] as string).toLowerCase()
  const why = key === undefined ? undefined : guessable(key, [name])
  if (why !== undefined)
    return `privacy_key ${why} and can be guessed; docs/privacy.md has a command that creates one.`
  const tenant = config['pseudonyms_across_tenants'] === true ? undefined : name
  return { mode, pseudonyms: key === undefined ? undefined : { key, tenant }, rules, unknownFields }
}

/** A fingerprint that is equal for settings with the same effect. See `Pseudonyms` for what it reveals. */
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
 * A warning that names the requested references that are left out of every record; none if there are none.
 */
export function leftOutReferences(
  asked: readonly AskedReferences[],
  { mode, rules }: PrivacySettings,
): IdentifiedMessage[] {
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
    warningOf(
      'reference-left-out',
      `external_references names references that personal_data, ${mode}, leaves out of every record: ${leftOut.join(', ')}. Name others, or keep them with field_rules.`,
    ),
  ]
}

/** Whether a rule keeps or hashes the references of a name in the records of some stream. */
function isPassedByRule(name: string, rules: readonly FieldRule[]): boolean {
  if (rules.length === 0) return false
  return [...streams.keys()].some((stream) => {
    const { actionOf } = patternsOf(stream, rules)
    return pathsOf(readStreamSchema(stream))
      .filter(({ path, isOpen }) => isOpen && path.at(-1) === 'externalReferences')
      .map(({ path }) => actionOf([...path, name], namesSecret(name)))
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
