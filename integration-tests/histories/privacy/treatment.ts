import { createHmac, scryptSync } from 'node:crypto'
import type { FieldAction, FieldRule } from '../../../src/privacy/field-patterns.ts'
import type { PrivacyClass, PrivacyMode } from '../../../src/privacy/privacy-settings.ts'
import type { JsonSchema } from '../../../src/records/stream-spec.ts'
import { readStreamSchema } from '../../../src/streams/streams.ts'
import { isSecret, type Treatment } from './history.ts'

/*
 * What docs/privacy.md promises, a second time: value by value, on parsed records, without the rewriter and
 * without the rules that the connector makes of the schemas.
 */

type Row = Readonly<Record<string, unknown>>

const BY_CLASS: Readonly<Record<PrivacyMode, Partial<Record<PrivacyClass, FieldAction>>>> = {
  complete: {},
  without_secrets: { secret: 'drop' },
  pseudonymised: { secret: 'drop', identifying: 'hash' },
  minimal: { secret: 'drop', identifying: 'drop', sensitive: 'drop' },
}

/** The tenant that the emulator's configuration names. */
const TENANT = 'demo'
const REFERENCES = 'external_references'

/** Whether a stream has a key under these settings. */
export function isOffered(
  stream: string,
  { personal_data: mode, field_rules }: Treatment,
): boolean {
  if (stream !== REFERENCES) return true
  const action = ruleFor(stream, ['value'], field_rules) ?? BY_CLASS[mode].identifying ?? 'keep'
  return action === 'keep' || action === 'hash'
}

/** A value with what is around it. */
interface Place {
  readonly path: readonly string[]
  readonly action: FieldAction
  /** What the schema says of it; undefined where any name may stand. */
  readonly node: JsonSchema | undefined
  /** What a hash of it is of. */
  readonly meaning: string
}

/** A record as it may leave the connector; undefined where it is left out. What is null may be left out as well. */
export function treated(stream: string, record: Row, treatment: Treatment): Row | undefined {
  const { personal_data: mode, field_rules, privacy_key, pseudonyms_across_tenants } = treatment
  const leavesSecretsOut = mode !== 'complete'
  const dropsUnknown =
    (treatment.unknown_fields ??
      (mode === 'complete' || mode === 'without_secrets' ? 'keep' : 'drop')) === 'drop'
  const schema = readStreamSchema(stream)
  if (stream === REFERENCES && isLeftOutReference()) return undefined
  return treat(record, { path: [], action: 'keep', node: schema, meaning: '' }) as Row

  function isLeftOutReference(): boolean {
    const isNamed = isSecret(String(record['name']))
    const rule = ruleFor(stream, ['value'], field_rules, isNamed)
    if (!isNamed || rule === 'keep') return false
    return leavesSecretsOut || rule === 'hash'
  }

  function treat(value: unknown, place: Place): unknown {
    const { path, action, node, meaning } = place
    const canHold = node === undefined || isObject(node) || node.properties !== undefined
    if (!canHold || !reachesInto(path)) {
      if (action === 'drop') return undefined
      if (action === 'null') return null
      if (action === 'hash' && node?.['format'] === 'date') return yearOf(value)
    }
    if (Array.isArray(value)) return value.map((each) => treat(each, place))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, inner]) => {
          const left = treat(inner, inside(name, place))
          return left === undefined ? [] : [[name, left]]
        }),
      )
    }
    if (action === 'keep') return isObject(node) && node?.properties && dropsUnknown ? null : value
    return action === 'hash' ? hash(value, meaning) : null
  }

  function inside(name: string, around: Place): Place {
    const { node } = around
    const path = [...around.path, name]
    if (isOpen(node)) return withinOpen(name, path, around)
    const known = node?.properties?.[name]
    if (known !== undefined) return ofKnown(known, path, around)
    const decided = ruleFor(stream, path, field_rules, isSecret(name)) ?? unlessKept(around.action)
    const unknown = { path, node: undefined, meaning: JSON.stringify([stream, ...path]) }
    if (decided !== undefined)
      return { ...unknown, action: unnamed(unhashed(decided, isSecret(name)), path) }
    if (dropsUnknown) return { ...unknown, action: 'drop' }
    const alike = Object.keys(node?.properties ?? {}).find((one) => sameSpelling(one, name))
    const like = alike === undefined ? undefined : node?.properties?.[alike]
    if (like !== undefined) return ofKnown(like, [...around.path, alike ?? ''], around)
    return { ...unknown, action: leavesSecretsOut && isSecret(name) ? 'drop' : 'keep' }
  }

  function ofKnown(known: JsonSchema, path: readonly string[], around: Place): Place {
    const privacyClass = known['x-privacy'] as PrivacyClass
    const isFixed = path.length === 1 && ['id', 'changeVersion'].includes(path[0] ?? '')
    const rule = isFixed ? undefined : ruleFor(stream, path, field_rules, privacyClass === 'secret')
    const wanted = rule ?? unlessKept(around.action) ?? BY_CLASS[mode][privacyClass] ?? 'keep'
    const word = (known['x-meaning'] as string | undefined) ?? JSON.stringify([stream, ...path])
    return {
      path,
      action: unhashed(wanted, privacyClass === 'secret'),
      node: known.items ?? known,
      meaning: word
        .replace('{collection}', String(record['collection']))
        .replace('{name}', String(record['name'])),
    }
  }

  function withinOpen(name: string, path: readonly string[], around: Place): Place {
    const byName = leavesSecretsOut && isSecret(name) ? 'drop' : around.action
    const rule = ruleFor(stream, path, field_rules, isSecret(name))
    const wanted = rule ?? byName
    const isWhole = ruleFor(stream, around.path, field_rules) === 'keep'
    const isOfTexts = dropsUnknown && around.node !== undefined && !isWhole
    if (isOfTexts && rule === undefined && wanted === 'keep')
      return { path, action: 'keep', node: TEXT, meaning: '' }
    const meaning =
      around.node === undefined
        ? JSON.stringify([around.meaning, name])
        : `${around.meaning} ${name}`
    const action = unhashed(wanted, isSecret(name))
    const isMap = around.node !== undefined
    return { path, action: isMap ? action : unnamed(action, path), node: undefined, meaning }
  }

  /** A member that nobody knows is left out where values are hidden, unless a rule is for it. */
  function unnamed(action: FieldAction, path: readonly string[]): FieldAction {
    const isHidden = action === 'hash' || action === 'null'
    const last = lastRule(stream, path, field_rules, false)
    return isHidden && last?.path.split('.').length !== path.length ? 'drop' : action
  }

  function reachesInto(path: readonly string[]): boolean {
    return field_rules.some((rule) => {
      const pattern = rule.path.split('.')
      return fits(rule.stream, stream) && pattern.length > path.length && beginAlike(pattern, path)
    })
  }

  function hash(value: unknown, meaning: string): unknown {
    if (value === null || value === '') return value
    const tenant = pseudonyms_across_tenants ? null : TENANT
    const key = createHmac('sha256', stretched(privacy_key, tenant))
      .update(JSON.stringify(['values', meaning]))
      .digest()
    return createHmac('sha256', key).update(String(value)).digest('hex')
  }
}

const stretchedKeys = new Map<string, Buffer>()

function stretched(key: string, tenant: string | null): Buffer {
  const salt = JSON.stringify(['source-protime', tenant])
  const made =
    stretchedKeys.get(key + salt) ??
    scryptSync(key, salt, 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 26 })
  stretchedKeys.set(key + salt, made)
  return made
}

function unlessKept(action: FieldAction): FieldAction | undefined {
  return action === 'keep' ? undefined : action
}

/** No secret is hashed. */
function unhashed(action: FieldAction, isSecretOne: boolean): FieldAction {
  return action === 'hash' && isSecretOne ? 'drop' : action
}

function yearOf(value: unknown): string | null {
  return typeof value === 'string' && /^\d{4}-/.test(value) ? `${value.slice(0, 4)}-01-01` : null
}

function isObject(node: JsonSchema | undefined): boolean {
  return [node?.['type']].flat().includes('object')
}

/** Whether members of any name stand there: what no schema describes, and maps. */
/** What a map of the schema has by any name; an object in its place has no member that is known. */
const TEXT: JsonSchema = { type: 'string' }

function isOpen(node: JsonSchema | undefined): boolean {
  return node === undefined || (isObject(node) && node.properties === undefined)
}

function sameSpelling(one: string, other: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[ _-]/g, '')
  return plain(one) === plain(other)
}

/** What the last rule says that fits a field or an object around it. */
function ruleFor(
  stream: string,
  path: readonly string[],
  rules: readonly FieldRule[],
  isOfSecret = false,
): FieldAction | undefined {
  return lastRule(stream, path, rules, isOfSecret)?.rule
}

function lastRule(
  stream: string,
  path: readonly string[],
  rules: readonly FieldRule[],
  isOfSecret: boolean,
): FieldRule | undefined {
  return rules.findLast(({ stream: streams, path: text, rule }) => {
    const pattern = text.split('.')
    if (isOfSecret && rule === 'keep' && `${streams}${text}`.includes('*')) return false
    return fits(streams, stream) && pattern.length <= path.length && beginAlike(pattern, path)
  })
}

function beginAlike(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.every((part, i) => path[i] === undefined || fits(part, path[i]))
}

/** Whether a name fits a pattern that has one `*` at most, as those of histories have. */
function fits(pattern: string, name: string): boolean {
  const [before = '', after] = pattern.split('*')
  if (after === undefined) return pattern === name
  return (
    name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after)
  )
}
