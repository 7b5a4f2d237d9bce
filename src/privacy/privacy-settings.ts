import type { PrivacyClass } from './privacy-class.ts'

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
}

/** How personal data is treated. */
export interface PrivacySettings {
  readonly mode: PrivacyMode
  /** The key of pseudonyms; there whenever something is hashed. */
  readonly key: string | undefined
  readonly rules: readonly FieldRule[]
  readonly unknownFields: 'keep' | 'drop'
}

/** What a mode does with the classes that do not stay. */
const ACTIONS: Readonly<Record<PrivacyMode, Partial<Record<PrivacyClass, FieldAction>>>> = {
  complete: {},
  without_secrets: { secret: 'drop' },
  pseudonymised: { identifying: 'hash', secret: 'hash' },
  minimal: { identifying: 'drop', sensitive: 'drop', secret: 'drop' },
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
  const isStrict = mode === 'minimal' || mode === 'pseudonymised'
  const unknownFields = (config['unknown_fields'] ?? (isStrict ? 'drop' : 'keep')) as
    | 'keep'
    | 'drop'
  const hashes = mode === 'pseudonymised' || rules.some(({ rule }) => rule === 'hash')
  if (hashes && key === undefined)
    return `privacy_key is missing: ${mode === 'pseudonymised' ? 'personal_data is pseudonymised' : 'a rule of field_rules hashes'}, and pseudonyms are made with it.`
  return { mode, key, rules, unknownFields }
}
