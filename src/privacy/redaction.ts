import { createHmac } from 'node:crypto'
import type { MemberRule, ObjectRules, Replacement } from '../records/record-rewriter.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import type { Stream } from '../streams/collection.ts'
import { streamSpec } from '../streams/streams.ts'
import {
  type FieldAction,
  modeAction,
  type PrivacySettings,
  patternsOf,
  privacyClassOf,
} from './privacy-settings.ts'

/**
 * Replaces values by HMAC-SHA256 under a key, in hexadecimal: the same text or number gets the same
 * pseudonym wherever it stands, so that joins still hold. Null and an empty text stay; of an object or
 * a list every value inside is replaced.
 */
export function createPseudonyms(key: string): Replacement {
  return (json) => JSON.stringify(inside(JSON.parse(json), json))

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

/** What becomes of a field; `year` is what hashing makes of a date. */
export type FieldOutcome = FieldAction | 'year'

/** What becomes of the personal data of one stream. */
export interface Redaction {
  /** What is done to its records; undefined lets them pass as they came. */
  readonly rules: ObjectRules | undefined
  /** The schema of what is left, without the classes. */
  readonly schema: JsonSchema
  /** What becomes of each field that does not stay as it is, by its path. */
  readonly outcomes: ReadonlyMap<string, FieldOutcome>
  /** The same for two redactions that do the same; empty when nothing is done. Tells nothing of the key. */
  readonly fingerprint: string
}

/** What the redaction of a stream follows from. */
export interface RedactionSettings extends PrivacySettings {
  readonly stream: string
  /**
   * Columns that tell records apart or order them. Rules do not count for them: deletes carry them as
   * the service sent them.
   */
  readonly fixed: readonly string[]
  /** Told the name of an unknown field that is left out. */
  readonly onUnknown?: ((name: string) => void) | undefined
}

/** The redaction of a stream, by the schema of its records with the classes of their fields. */
export function redactionOf(schema: JsonSchema, settings: RedactionSettings): Redaction {
  const { mode, key, rules, stream, fixed, unknownFields, onUnknown } = settings
  const patterns = patternsOf(stream, rules)
  const hash = createPseudonyms(key ?? '')
  const outcomes = new Map<string, FieldOutcome>()
  const root = object(schema, [], undefined)
  const isRedacted = root.rule !== 'keep'
  return {
    rules: isRedacted ? (root.rule as ObjectRules) : undefined,
    schema: root.schema ?? {},
    outcomes,
    fingerprint: isRedacted
      ? JSON.stringify([[...outcomes], patterns.texts, unknownFields, key && hash('"key"')])
      : '',
  }

  /** `around` is what becomes of the object that the field is in, unless that stays. */
  function field(node: JsonSchema, path: Path, around: FieldAction | undefined): Redacted {
    const byClass = around ?? modeAction(mode, privacyClassOf(node))
    const isFixed = path.length === 1 && fixed.includes(path[0] ?? '')
    const action = (isFixed ? undefined : patterns.actionOf(path)) ?? byClass
    if (action === 'keep' || patterns.reachesInto(path)) {
      return object(node, path, action === 'keep' ? undefined : action)
    }
    const outcome = action === 'hash' && node['format'] === 'date' ? 'year' : action
    outcomes.set(path.join('.'), outcome)
    return redacted(outcome, withoutClass(node))
  }

  function object(node: JsonSchema, path: Path, around: FieldAction | undefined): Redacted {
    const { properties, items, ...rest } = withoutClass(node)
    if (items !== undefined) {
      const each = object(items, path, around)
      return { rule: each.rule, schema: { ...rest, items: each.schema ?? {} } }
    }
    const fields = Object.entries(properties ?? {}).map(
      ([name, member]) => [name, field(member, [...path, name], around)] as const,
    )
    const known = new Map(fields.map(([name, { rule }]) => [name, rule]))
    // An object without known members, such as one of translations, holds them by any name.
    const unnamed = around ?? (properties === undefined ? 'keep' : unknownFields)
    const isWhole =
      unnamed === 'keep' &&
      !patterns.reachesInto(path) &&
      fields.every(([, { rule }]) => rule === 'keep')
    const left = fields.flatMap(([name, member]) =>
      member.schema === undefined ? [] : [[name, member.schema] as const],
    )
    return {
      rule: isWhole ? 'keep' : { ruleOf, keepsValues: unnamed === 'keep' },
      schema: properties === undefined ? rest : { ...rest, properties: Object.fromEntries(left) },
    }

    function ruleOf(name: string): MemberRule {
      const rule = known.get(name)
      if (rule !== undefined) return rule
      const action = patterns.actionOf([...path, name])
      if (action === undefined && around === undefined && unnamed === 'drop')
        onUnknown?.([...path, name].join('.'))
      return redacted(action ?? unnamed, {}).rule
    }
  }

  function redacted(outcome: FieldOutcome, node: JsonSchema): Redacted {
    switch (outcome) {
      case 'keep':
        return { rule: 'keep', schema: node }
      case 'drop':
        return { rule: 'drop' }
      case 'null':
        return { rule: toNull, schema: node }
      case 'year':
        return { rule: yearOf, schema: described(node, 'Cut to the year.') }
      case 'hash':
        return { rule: hash, schema: pseudonym(node) }
    }
  }
}

function toNull(): string {
  return 'null'
}

type Path = readonly string[]

interface Redacted {
  readonly rule: MemberRule
  /** What is left of its schema; nothing when it is left out. */
  readonly schema?: JsonSchema
}

/** Values become texts; objects and lists keep their form. */
function pseudonym(node: JsonSchema): JsonSchema {
  const types = [node['type']].flat()
  const isNested = types.includes('object') || types.includes('array')
  const said = described(node, 'Replaced by a keyed hash.')
  return isNested ? said : { ...said, type: types.includes('null') ? ['string', 'null'] : 'string' }
}

function described(node: JsonSchema, sentence: string): JsonSchema {
  return { ...node, description: `${node['description'] ?? ''} ${sentence}`.trim() }
}

function withoutClass({ 'x-privacy': _, ...node }: JsonSchema): JsonSchema {
  return node
}

/** The redaction of a stream's records; `onUnknown` is told of fields that are left out unknown. */
export function redactionOfStream(
  stream: Stream,
  privacy: PrivacySettings,
  onUnknown?: (name: string) => void,
): Redaction {
  const { schema, key, version } = streamSpec(stream)
  const columns = version === undefined ? key : [...key, version]
  // An external reference gets its key from the record as it is left, so that a hash may be part of it.
  const fixed = stream.key === undefined ? columns : columns.filter((column) => column !== 'value')
  return redactionOf(schema, { ...privacy, stream: stream.stream, fixed, onUnknown })
}

/** What the catalogs tell of a stream that is redacted. */
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

/** Whether records of a stream still have a key; without one the stream is not offered. */
export function keepsKey(stream: Stream, privacy: PrivacySettings): boolean {
  if (stream.key === undefined) return true
  const { outcomes } = redactionOfStream(stream, privacy)
  return stream.key.every((column) => ['keep', 'hash', undefined].includes(outcomes.get(column)))
}
