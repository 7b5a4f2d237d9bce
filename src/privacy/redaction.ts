import { createHash } from 'node:crypto'
import { warningOf } from '../ground/message-ids.ts'
import type { MemberRule, ObjectRules } from '../records/record-batch.ts'
import { fieldsOf } from '../records/record-rules.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import type { Stream } from '../streams/collections.ts'
import { streamSpec } from '../streams/streams.ts'
import {
  createPseudonyms,
  type FieldAction,
  meaningOf,
  modeAction,
  namesSecret,
  type PrivacySettings,
  patternsOf,
  privacyClassOf,
  SECRET_NAMES,
} from './privacy-settings.ts'

/** Replaces a date by 1 January of its year; anything else becomes null. */
export function yearOf(json: string): string {
  return /^"\d{4}-/.test(json) ? `${json.slice(0, 5)}-01-01"` : 'null'
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
type ReferenceName = Readonly<Record<'collection' | 'name', string>>

/** Called at least once for a field that the schema does not have, with its path. */
export type OnUnknown = (field: string, isLeftOut: boolean) => void

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

/** Creates the redaction of a stream from the schema of its records, which has the classes of the fields. */
export function redactionOf(schema: JsonSchema, settings: RedactionSettings): Redaction {
  const { mode, rules, stream, fixed, unknownFields, onUnknown, reference } = settings
  const patterns = patternsOf(stream, rules)
  const pseudonyms = createPseudonyms(settings.pseudonyms ?? { key: '', tenant: undefined })
  const leavesSecretsOut = modeAction(mode, 'secret') !== 'keep'
  const outcomes = new Map<string, FieldOutcome>()
  const meanings: string[] = []
  const root = described(schema, [], undefined)
  const isUntouched = mode === 'complete' && unknownFields === 'keep' && patterns.texts.length === 0
  return {
    rules: root.rule === 'keep' ? undefined : (root.rule as ObjectRules),
    schema: root.schema ?? {},
    outcomes,
    fields: unknownFields === 'keep' ? undefined : fieldsOf(root.schema ?? {}),
    fingerprint: isUntouched ? '' : fingerprint(),
  }

  function fingerprint(): string {
    const names = leavesSecretsOut ? SECRET_NAMES : []
    const hashes = meanings.length > 0 || rules.some(({ rule }) => rule === 'hash')
    const ofKey = hashes ? [pseudonyms.fingerprint] : []
    const facts = [[...outcomes], meanings, patterns.texts, unknownFields, names, ofKey]
    return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
  }

  /** The redaction of one field. `around` is the action for the object that contains it, unless that is kept. */
  function field(node: JsonSchema, path: Path, around: FieldAction | undefined): Redacted {
    const privacyClass = privacyClassOf(node)
    const isFixed = path.length === 1 && fixed.includes(path[0] ?? '')
    const wanted = (isFixed ? undefined : patterns.actionOf(path)) ?? around
    const action = withoutSecretHash(
      wanted ?? modeAction(mode, privacyClass),
      privacyClass === 'secret',
    )
    if (action === 'keep') return described(node, path, undefined)
    const isDate = action === 'hash' && node['format'] === 'date'
    outcomes.set(path.join('.'), isDate ? 'year' : action)
    if (canHold(node) && patterns.reachesInto(path)) return described(node, path, action)
    const clean = withoutPrivacy(node)
    if (isDate) return { rule: yearOf, schema: withSentence(clean, 'Cut to the year.') }
    if (action === 'hash') return described(node, path, action)
    return action === 'drop' ? { rule: 'drop' } : { rule: toNull, schema: clean }
  }

  function described(node: JsonSchema, path: Path, around: FieldAction | undefined): Redacted {
    const { properties, items, ...rest } = withoutPrivacy(node)
    if (items !== undefined) {
      const each = described(items, path, around)
      return { rule: each.rule, schema: { ...rest, items: each.schema ?? {} } }
    }
    const meaning = meaningFor(node, path)
    const isObject = [node['type'] ?? 'object'].flat().includes('object')
    if (around === 'hash' && properties === undefined) meanings.push(meaning)
    if (isObject && properties === undefined) {
      const isOfTexts =
        around === undefined && unknownFields === 'drop' && patterns.actionOf(path) !== 'keep'
      const rule = isOfTexts
        ? mapOfTexts(path, meaning)
        : undescribed(path, around ?? 'keep', meaning)
      return { rule, schema: said(rest) }
    }
    const fields = Object.entries(properties ?? {}).map(
      ([name, member]) => [name, field(member, [...path, name], around)] as const,
    )
    const known = new Map(fields.map(([name, { rule }]) => [name, rule]))
    const spelled = new Map(fields.map(([name, { rule }]) => [spelling(name), { name, rule }]))
    const isWhole =
      !leavesSecretsOut &&
      onUnknown === undefined &&
      (around ?? unknownFields) === 'keep' &&
      !patterns.reachesInto(path) &&
      fields.every(([, { rule }]) => rule === 'keep')
    // A string in place of an object is as unknown as an object in place of a string.
    const ofValues = isObject ? unknownFields : 'keep'
    const left = fields.flatMap(([name, member]) =>
      member.schema === undefined ? [] : [[name, member.schema] as const],
    )
    return {
      rule: isWhole ? 'keep' : { ruleOf, values: valuesUnder(around ?? ofValues, meaning) },
      schema: properties ? { ...rest, properties: Object.fromEntries(left) } : said(rest),
    }

    function said(left: JsonSchema): JsonSchema {
      return around === 'hash' ? pseudonym(left) : left
    }

    function ruleOf(name: string): MemberRule {
      const rule = known.get(name)
      if (rule !== undefined) return rule
      const inner = [...path, name]
      const alike = spelled.get(spelling(name))
      const decided = patterns.actionOf(inner) ?? around
      if (decided !== undefined) {
        // A rule for the known field wins if it comes after the broader one that matches the name as it was sent.
        if (alike !== undefined && patterns.isLater([...path, alike.name], inner)) return alike.rule
        return undescribed(
          inner,
          withoutSecretHash(decided, namesSecret(name)),
          meaningFor({}, inner),
        )
      }
      const isLeftOut = unknownFields === 'drop' || (leavesSecretsOut && namesSecret(name))
      const unknown =
        (unknownFields === 'drop' ? undefined : alike?.rule) ??
        undescribed(inner, isLeftOut ? 'drop' : 'keep', meaningFor({}, inner))
      onUnknown?.(inner.join('.'), unknown === 'drop')
      return unknown
    }
  }

  /** The rules for a map of arbitrary names to strings. An object among the values is unknown to all schemas. */
  function mapOfTexts(path: Path, meaning: string): ObjectRules {
    return {
      values: 'keep',
      ruleOf(name) {
        const inner = [...path, name]
        const isSecret = namesSecret(name)
        const decided =
          patterns.actionOf(inner) ?? (leavesSecretsOut && isSecret ? 'drop' : undefined)
        if (decided !== undefined)
          return undescribed(inner, withoutSecretHash(decided, isSecret), `${meaning} ${name}`)
        return { values: 'keep', ruleOf: (member) => nested([...inner, member], member) }
      },
    }

    function nested(place: Path, name: string): MemberRule {
      const decided = patterns.actionOf(place)
      if (decided === undefined) onUnknown?.(place.join('.'), true)
      return undescribed(
        place,
        withoutSecretHash(decided ?? 'drop', namesSecret(name)),
        meaningFor({}, place),
      )
    }
  }

  /** The rule for a value whose members no schema names. Secrets in it are found by their names. */
  function undescribed(path: Path, action: FieldAction, meaning: string): MemberRule {
    if (!patterns.reachesInto(path)) {
      if (action === 'drop') return 'drop'
      if (action === 'null') return toNull
      const isWhole = !leavesSecretsOut || patterns.actionOf(path) === 'keep'
      if (action === 'keep') return isWhole ? 'keep' : WITHOUT_SECRETS
    }
    return {
      values: valuesUnder(action, meaning),
      ruleOf(name) {
        const inner = [...path, name]
        const isSecret = namesSecret(name)
        const byName = leavesSecretsOut && isSecret ? 'drop' : action
        const next = withoutSecretHash(patterns.actionOf(inner) ?? byName, isSecret)
        return undescribed(inner, next, `${meaning} ${name}`)
      },
    }
  }

  function valuesUnder(action: FieldAction, meaning: string): ObjectRules['values'] {
    if (action === 'keep') return 'keep'
    return action === 'hash' ? pseudonyms.of(meaning) : toNull
  }

  /** The meaning of a field's values. A field without `x-meaning` shares its meaning with no other. */
  function meaningFor(node: JsonSchema, path: Path): string {
    const word = meaningOf(node) ?? `${stream}.${path.join('.')}`
    return reference === undefined
      ? word
      : word.replace('{collection}', reference.collection).replace('{name}', () => reference.name)
  }
}

/** Whether a value can have members, by its schema, to which a more specific rule may apply. */
function canHold({ type, properties, items }: JsonSchema): boolean {
  return properties !== undefined || items !== undefined || [type].flat().includes('object')
}

/** Keeps everything except secrets. */
const WITHOUT_SECRETS: ObjectRules = {
  ruleOf: (name) => (namesSecret(name) ? 'drop' : WITHOUT_SECRETS),
  values: 'keep',
}

/** Drops secrets instead of hashing them: most have few possible values, so that the hash would reveal them. */
function withoutSecretHash(action: FieldAction, isSecret: boolean): FieldAction {
  return action === 'hash' && isSecret ? 'drop' : action
}

/**
 * Normalizes a name. Names with the same spelling are the same field: the service has changed the case of names
 * before.
 */
function spelling(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '')
}

function toNull(): string {
  return 'null'
}

type Path = readonly string[]

interface Redacted {
  readonly rule: MemberRule
  /** The remaining schema; missing if the field is left out. */
  readonly schema?: JsonSchema
}

/** The schema of a hashed field: values become strings, and an object keeps its members. */
function pseudonym(node: JsonSchema): JsonSchema {
  const types = [node['type']].flat()
  // A hash cannot be shown as a date.
  const { 'x-view': _, ...said } = withSentence(node, 'Replaced by a keyed hash.')
  if (types.includes('object')) return said
  return { ...said, type: types.includes('null') ? ['string', 'null'] : 'string' }
}

function withSentence(node: JsonSchema, sentence: string): JsonSchema {
  return { ...node, description: `${node['description'] ?? ''} ${sentence}`.trim() }
}

function withoutPrivacy({ 'x-privacy': _, 'x-meaning': __, ...node }: JsonSchema): JsonSchema {
  return node
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
  const isKept = patternsOf(stream, rules).actionOf(['value']) === 'keep'
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

/** The specification of a stream for catalogs, after redaction. */
export function redactedSpec(stream: Stream, privacy: PrivacySettings): StreamSpec {
  let redaction: Redaction | undefined
  const redacted = () => {
    redaction ??= redactionOfStream(stream, privacy)
    return redaction
  }
  return {
    ...streamSpec(stream),
    get schema() {
      return redacted().schema
    },
    get leftOut() {
      return [...redacted().outcomes].flatMap(([path, outcome]) =>
        outcome === 'drop' ? [path] : [],
      )
    },
  }
}

/** Whether the records of a stream still have a key; a stream without one is not offered. */
export function keepsKey(stream: Stream, privacy: PrivacySettings): boolean {
  if (stream.key === undefined) return true
  const { outcomes } = redactionOfStream(stream, privacy)
  return stream.key.every((column) => ['keep', 'hash', undefined].includes(outcomes.get(column)))
}

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
