import { createHash } from 'node:crypto'
import { isJsonObject } from '../ground/json.ts'
import { spelling } from '../ground/text.ts'
import type { MemberRule, ObjectRules } from '../records/record-batch.ts'
import { fieldsOf, ruleOfBoth } from '../records/record-rules.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import type { Stream } from '../streams/collections.ts'
import { streamSpec } from '../streams/streams.ts'
import { type FieldAction, type FieldPatterns, patternsOf } from './field-patterns.ts'
import { meaningOf, modeAction, type PrivacySettings, privacyClassOf } from './privacy-settings.ts'
import { createPseudonyms, type Pseudonyms } from './pseudonyms.ts'
import { pseudonym, withoutPrivacy, withSentence } from './redacted-schema.ts'
import { namesSecret, SECRET_NAMES } from './secret-names.ts'
import type { OnUnknown } from './unknown-fields.ts'
import { withoutSecrets } from './unknown-values.ts'

/** Replaces a date by 1 January of its year; anything else becomes null. */
export function yearOf(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' && /^\d{4}-/.test(value)
    ? `"${value.slice(0, 4)}-01-01"`
    : 'null'
}

/** What happens to a field; `year` is the result of hashing a date. */
export type FieldOutcome = FieldAction | 'year'

/** How the personal data of one stream is treated. */
export interface Redaction {
  /** The rules for its records; undefined passes them unchanged. */
  readonly rules: ObjectRules | undefined
  /**
   * Replaces `rules` for records that are one external reference each. `drop` leaves out the whole record, because
   * its name says that it is a secret.
   */
  readonly rulesOf?: (reference: ReferenceName) => ObjectRules | 'drop' | undefined
  /** The schema of the remaining fields, without their classes. */
  readonly schema: JsonSchema
  /** What happens to each field that is changed or left out, by its path. */
  readonly outcomes: ReadonlyMap<string, FieldOutcome>
  /** The paths of the remaining fields; undefined if fields that no schema has are kept. */
  readonly fields: readonly string[] | undefined
  /** Equal for redactions with the same effect; empty if nothing is changed. It reveals nothing of the key. */
  readonly fingerprint: string
}

/** The collection of an external reference, and its name. */
export type ReferenceName = Readonly<Record<'collection' | 'name', string>>

/** Everything that the redaction of a stream depends on. */
export interface RedactionSettings extends PrivacySettings {
  readonly stream: string
  /**
   * The columns of the key and the version. Rules do not apply to them, because deletes carry them as the service
   * sent them.
   */
  readonly fixed: readonly string[]
  /** Called for an unknown field, unless a rule decides what happens to it. */
  readonly onUnknown?: OnUnknown | undefined
  /** Set if a record is one external reference: its values have the meaning of this name. */
  readonly reference?: ReferenceName
}

/** What the rules of a stream are made with, and what is noted meanwhile. */
interface Context extends Omit<RedactionSettings, 'pseudonyms'> {
  readonly patterns: FieldPatterns
  readonly pseudonyms: Pseudonyms
  readonly leavesSecretsOut: boolean
  /** See `Redaction`. */
  readonly outcomes: Map<string, FieldOutcome>
  /** The meanings of the fields that are hashed. */
  readonly meanings: string[]
  /** The path of the map around, whose members are texts by any name. */
  readonly map?: Path
}

/** Creates the redaction of a stream from the schema of its records, which has the classes of the fields. */
export function redactionOf(schema: JsonSchema, settings: RedactionSettings): Redaction {
  const { mode, rules, stream, unknownFields } = settings
  const context: Context = {
    ...settings,
    patterns: patternsOf(stream, rules),
    pseudonyms: createPseudonyms(settings.pseudonyms ?? { key: '', tenant: undefined }),
    leavesSecretsOut: modeAction(mode, 'secret') !== 'keep',
    outcomes: new Map(),
    meanings: [],
  }
  const root = describedRule(schema, [], undefined, context)
  const keepsAll = mode === 'complete' && unknownFields === 'keep'
  return {
    rules: root.rule === 'keep' ? undefined : (root.rule as ObjectRules),
    schema: root.schema ?? {},
    outcomes: context.outcomes,
    fields: unknownFields === 'keep' ? undefined : fieldsOf(root.schema ?? {}),
    fingerprint: keepsAll && context.patterns.texts.length === 0 ? '' : fingerprintOf(context),
  }
}

function fingerprintOf(context: Context): string {
  const { rules, unknownFields, patterns, pseudonyms, leavesSecretsOut, outcomes, meanings } =
    context
  const names = leavesSecretsOut ? SECRET_NAMES : []
  const hashes = meanings.length > 0 || rules.some(({ rule }) => rule === 'hash')
  const ofKey = hashes ? [pseudonyms.fingerprint] : []
  const facts = [[...outcomes], meanings, patterns.texts, unknownFields, names, ofKey]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** What to do with the object around a field; undefined if the object is kept. */
type Around = FieldAction | undefined

/** The redaction of one field of an object. */
function fieldRule(node: JsonSchema, path: Path, around: Around, context: Context): Redacted {
  const { mode, fixed, patterns, outcomes } = context
  const privacyClass = privacyClassOf(node)
  const isFixed = path.length === 1 && fixed.includes(path[0] ?? '')
  const isSecret = privacyClass === 'secret'
  const byRule = isFixed ? undefined : patterns.actionOf(path, isSecret)
  const wanted = byRule ?? around ?? modeAction(mode, privacyClass)
  const action = withoutSecretHash(wanted, isSecret)
  if (action === 'keep') {
    const described = describedRule(node, path, undefined, context)
    return canHold(node)
      ? described
      : { ...described, rule: textRule(described.rule, path, context) }
  }
  const isDate = action === 'hash' && node['format'] === 'date'
  outcomes.set(path.join('.'), isDate ? 'year' : action)
  if (canHold(node) && patterns.reachesInto(path)) return describedRule(node, path, action, context)
  const clean = withoutPrivacy(node)
  if (isDate) return { rule: yearOf, schema: withSentence(clean, 'Cut to the year.') }
  if (action === 'hash') return describedRule(node, path, action, context)
  return action === 'drop' ? { rule: 'drop' } : { rule: toNull, schema: clean }
}

/** The rule for a text or a number: what has members in its place is unknown. */
function textRule(byNames: MemberRule, path: Path, context: Context): MemberRule {
  const { patterns, leavesSecretsOut, unknownFields, onUnknown } = context
  const isDecided = patterns.actionOf(path) !== undefined || patterns.reachesInto(path)
  if (byNames === 'keep' || !leavesSecretsOut || unknownFields === 'drop' || isDecided)
    return byNames
  const nested = (json: string) => {
    const items = [JSON.parse(json) as unknown].flat()
    for (const name of items.flatMap((item) => (isJsonObject(item) ? Object.keys(item) : [])))
      onUnknown?.([...path, name].join('.'), namesSecret(name))
    return withoutSecrets(json, path, () => false)
  }
  return { nested, texts: false }
}

/** The redaction of a value that its schema describes. */
function describedRule(node: JsonSchema, path: Path, around: Around, context: Context): Redacted {
  const { properties, items, ...rest } = withoutPrivacy(node)
  if (items !== undefined) {
    const each = describedRule(items, path, around, context)
    return { rule: each.rule, schema: { ...rest, items: each.schema ?? {} } }
  }
  const isObject = [node['type'] ?? 'object'].flat().includes('object')
  const meaning = meaningFor(node, path, context)
  const said = around === 'hash' ? pseudonym(rest) : rest
  if (properties === undefined) {
    if (around === 'hash') context.meanings.push(meaning)
    if (isObject) return { rule: openRule(path, around, meaning, context), schema: said }
  }
  const fields = Object.entries(properties ?? {}).map(([name, member]) => {
    return { name, ...fieldRule(member, [...path, name], around, context) }
  })
  const left = fields.flatMap(({ name, schema }) => (schema === undefined ? [] : [[name, schema]]))
  // A string in place of an object is as unknown as an object in place of a string.
  const ofValues = around ?? (isObject ? context.unknownFields : 'keep')
  const values = valuesUnder(ofValues, meaning, context)
  const rules = { ruleOf: memberRules(fields, path, around, context), values }
  return {
    rule: isWhole(fields, path, around, context) ? 'keep' : rules,
    schema: properties ? { ...rest, properties: Object.fromEntries(left) } : said,
  }
}

/** A field of an object, with its name. */
type Field = Redacted & { readonly name: string }

/** Whether an object with these fields is passed on unchanged, whatever other members it has. */
function isWhole(fields: readonly Field[], path: Path, around: Around, context: Context): boolean {
  const { leavesSecretsOut, onUnknown, unknownFields, patterns } = context
  return (
    !leavesSecretsOut &&
    onUnknown === undefined &&
    (around ?? unknownFields) === 'keep' &&
    !patterns.reachesInto(path) &&
    fields.every(({ rule }) => rule === 'keep')
  )
}

/** The rules for the members of an object: those of its fields, and those of members that the schema does not name. */
function memberRules(
  fields: readonly Field[],
  path: Path,
  around: Around,
  context: Context,
): ObjectRules['ruleOf'] {
  const { unknownFields, onUnknown, leavesSecretsOut, patterns } = context
  const known = new Map(fields.map(({ name, rule }) => [name, rule]))
  const spelled = new Map(fields.map((field) => [spelling(field.name), field]))
  return (name) => {
    const rule = known.get(name)
    if (rule !== undefined) return rule
    const inner = [...path, name]
    const meaning = meaningFor({}, inner, context)
    const alike = spelled.get(spelling(name))
    const isSecret = namesSecret(name)
    const decided = patterns.actionOf(inner, isSecret) ?? around
    if (decided !== undefined) {
      // A rule for the known field wins if it comes after the broader one that matches the name as it was sent.
      if (alike !== undefined && patterns.isLater([...path, alike.name], inner)) return alike.rule
      const action = withoutSecretHash(decided, isSecret)
      return undescribedRule(inner, withoutNames(action, inner, context), meaning, context)
    }
    const isLeftOut = unknownFields === 'drop' || (leavesSecretsOut && isSecret)
    const unknown =
      (unknownFields === 'drop' ? undefined : alike?.rule) ??
      undescribedRule(inner, isLeftOut ? 'drop' : 'keep', meaning, context)
    onUnknown?.(inner.join('.'), unknown === 'drop')
    return unknown
  }
}

/** The rule for an object whose schema names no fields. */
function openRule(path: Path, around: Around, meaning: string, context: Context): MemberRule {
  const { unknownFields, patterns } = context
  if (around === undefined && unknownFields === 'drop' && patterns.actionOf(path) !== 'keep')
    return mapOfTexts(path, meaning, context)
  return undescribedRule(path, around ?? 'keep', meaning, { ...context, map: path })
}

/** The rules for a map of arbitrary names to strings. An object among the values is unknown to all schemas. */
function mapOfTexts(path: Path, meaning: string, context: Context): ObjectRules {
  const { patterns, leavesSecretsOut, onUnknown } = context
  return {
    values: 'keep',
    ruleOf(name) {
      const inner = [...path, name]
      const isSecret = namesSecret(name)
      const decided =
        patterns.actionOf(inner, isSecret) ?? (leavesSecretsOut && isSecret ? 'drop' : undefined)
      if (decided === undefined)
        return { values: 'keep', ruleOf: (member) => nested([...inner, member], member) }
      const action = withoutSecretHash(decided, isSecret)
      return undescribedRule(inner, action, `${meaning} ${name}`, context)
    },
  }

  function nested(place: Path, name: string): MemberRule {
    const isSecret = namesSecret(name)
    const decided = patterns.actionOf(place, isSecret)
    if (decided === undefined) onUnknown?.(place.join('.'), true)
    const action = withoutNames(withoutSecretHash(decided ?? 'drop', isSecret), place, context)
    return undescribedRule(place, action, meaningFor({}, place, context), context)
  }
}

/** The rule for a value whose members no schema names. Secrets in it are found by what names them. */
function undescribedRule(
  path: Path,
  action: FieldAction,
  meaning: string,
  context: Context,
): MemberRule {
  const { patterns, leavesSecretsOut, map } = context
  const isMap = map === path
  const keepsSecrets = !leavesSecretsOut || patterns.actionOf(path, true) === 'keep'
  const isWhole = !patterns.reachesInto(path)
  if (isWhole && action === 'drop') return 'drop'
  if (isWhole && action === 'null') return toNull
  if (isWhole && action === 'keep' && keepsSecrets) return 'keep'
  const clean = (json: string) =>
    withoutSecrets(json, path, (inner) => patterns.actionOf(inner, true) === 'keep')
  if (isWhole && action === 'keep' && !isMap)
    // The value of a reference is a text that the schemas know.
    return { nested: clean, texts: map === undefined }
  const members: ObjectRules = {
    values: valuesUnder(action, meaning, context),
    ruleOf(name) {
      const inner = [...path, name]
      const isSecret = namesSecret(name)
      const byName = leavesSecretsOut && isSecret ? 'drop' : action
      const next = withoutSecretHash(patterns.actionOf(inner, isSecret) ?? byName, isSecret)
      if (isMap) return undescribedRule(inner, next, `${meaning} ${name}`, context)
      const inside = JSON.stringify([meaning, name])
      return undescribedRule(inner, withoutNames(next, inner, context), inside, context)
    },
  }
  if (action !== 'keep' || keepsSecrets) return members
  return isMap ? { ...members, lists: clean } : ruleOfBoth({ nested: clean, texts: true }, members)
}

/**
 * Leaves out an unknown member of an object whose values are hidden, because its name may be one of them, unless a
 * rule is for this member.
 */
function withoutNames(action: FieldAction, path: Path, { patterns }: Context): FieldAction {
  const isHidden = action === 'hash' || action === 'null'
  return isHidden && !patterns.isExact(path) ? 'drop' : action
}

function valuesUnder(action: FieldAction, meaning: string, { pseudonyms }: Context): Values {
  if (action === 'keep') return 'keep'
  return action === 'hash' ? pseudonyms.of(meaning) : toNull
}

/** The meaning of a field's values. A field without `x-meaning` shares its meaning with no other. */
function meaningFor(node: JsonSchema, path: Path, { stream, reference }: Context): string {
  const word = meaningOf(node) ?? JSON.stringify([stream, ...path])
  return reference === undefined
    ? word
    : word.replace('{collection}', reference.collection).replace('{name}', () => reference.name)
}

/** Whether a value can have members, by its schema, to which a more specific rule may apply. */
function canHold({ type, properties, items }: JsonSchema): boolean {
  return properties !== undefined || items !== undefined || [type].flat().includes('object')
}

/** Drops secrets instead of hashing them: most have few possible values, so that the hash would reveal them. */
function withoutSecretHash(action: FieldAction, isSecret: boolean): FieldAction {
  return action === 'hash' && isSecret ? 'drop' : action
}

function toNull(): string {
  return 'null'
}

type Path = readonly string[]
type Values = ObjectRules['values']

interface Redacted {
  readonly rule: MemberRule
  /** The remaining schema; missing if the field is left out. */
  readonly schema?: JsonSchema
}

/** The redaction of a stream's records; `onUnknown` is called for fields that the schema does not have. */
export function redactionOfStream(
  stream: Stream,
  privacy: PrivacySettings,
  onUnknown?: OnUnknown,
): Redaction {
  const { schema, key, version } = streamSpec(stream)
  const columns = version === undefined ? key : [...key, version]
  // The key of an external reference is made of the redacted record, so it may contain a hash.
  const fixed = stream.key === undefined ? columns : columns.filter((column) => column !== 'value')
  const settings = { ...privacy, stream: stream.stream, fixed, onUnknown }
  const redaction = redactionOf(schema, settings)
  return stream.nested === 'referenced_collections'
    ? { ...redaction, rulesOf: rulesOfReferences(schema, settings) }
    : redaction
}

/** The rules for external references, created once per collection and name. */
function rulesOfReferences(
  schema: JsonSchema,
  settings: RedactionSettings,
): NonNullable<Redaction['rulesOf']> {
  const { mode, stream, rules, onUnknown } = settings
  const isKept = patternsOf(stream, rules).actionOf(['value'], true) === 'keep'
  const leavesSecretsOut = modeAction(mode, 'secret') !== 'keep' && !isKept
  const made = new Map<string, ReturnType<NonNullable<Redaction['rulesOf']>>>()
  return ({ collection, name }) => {
    const one = JSON.stringify([collection, name])
    if (!made.has(one)) made.set(one, rulesFor({ collection, name }))
    return made.get(one)
  }

  function rulesFor(reference: ReferenceName) {
    if (!leavesSecretsOut || !namesSecret(reference.name))
      return redactionOf(schema, { ...settings, reference }).rules
    onUnknown?.(`${reference.collection} ${reference.name}`, true)
    return 'drop'
  }
}
