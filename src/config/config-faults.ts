import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { ConnectorError } from '../ground/errors.ts'
import { isJsonObject } from '../ground/json.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { othersConfigure } from '../ground/others-configure.ts'
import { readProjectJson } from '../ground/project-files.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import { nearest } from '../ground/text.ts'
import { collections, referencedCollections } from '../streams/collections.ts'

const require = createRequire(import.meta.url)

// What is wrong with a configuration by its schemas: faults, which end a program, and warnings.

/** The schema of the configuration, from spec.json. */
export function configSchema(): SettingsSchema {
  const spec = readProjectJson('#spec') as { readonly connectionSpecification: SettingsSchema }
  return spec.connectionSpecification
}

/** The schema of the writer's settings. They are in the same configuration as the reader's. */
export function writeSettingsSchema(): SettingsSchema {
  return readProjectJson('#write-settings') as SettingsSchema
}

/** A string in place of a number is quoted up to this length. */
const SHOWN = 20
/** Matches values that may be quoted although they are no valid date, because no secret looks like them. */
const DATE_LIKE = /^[\d\s./:TZ+-]{1,30}$/

/**
 * The validators that the build compiles from the schemas of the settings, because compiled code loads faster than
 * ajv.
 */
const validators = () => require('#validators') as Record<'config' | 'write', ValidateFunction>

/**
 * Fills in the defaults of the settings and returns one sentence per fault. A sentence quotes numbers and dates, but
 * no other values: people paste secrets into the wrong field.
 */
export function applyDefaults(settings: unknown, which: 'config' | 'write'): string[] {
  const check = validators()[which]
  const faults = check(settings) ? [] : (check.errors ?? []).map(sentence)
  return othersConfigure() ? [...faults, ...pathFaults(settings, which)] : faults
}

/** Settings that name a file are not for those who configure a machine of others. */
function pathFaults(settings: unknown, which: 'config' | 'write'): string[] {
  const { properties = {} } = which === 'config' ? configSchema() : writeSettingsSchema()
  return Object.keys(isJsonObject(settings) ? settings : {}).flatMap((name) =>
    properties[name]?.['format'] === 'path' ? pathFault(name) : [],
  )
}

/** The fault of a setting that names a file where others configure: see `othersConfigure`. */
export function pathFault(name: string): string {
  return `${name} names a file of the machine, which this deployment does not allow (DEPLOYMENT_MODE=cloud or PROTIME_PUBLIC_ONLY). Remove it.`
}

/** The error for an invalid configuration; `faults` are sentences. */
export function notValid(faults: string): ConnectorError {
  return new ConnectorError(
    'config',
    'configuration-not-valid',
    `The configuration is not valid. ${faults}`,
  )
}

function sentence({ instancePath, keyword, params, parentSchema, data }: ErrorObject): string {
  const schema = (parentSchema ?? {}) as SettingsSchema
  const at = instancePath.slice(1).replaceAll('/', '.')
  const subject = at === '' ? 'It' : at
  switch (keyword) {
    case 'required':
      return `${at === '' ? '' : `${at}.`}${params['missingProperty']} is missing.`
    case 'minLength':
      if (schema['minLength'] !== 1)
        return `${subject} must have ${schema['minLength']} characters or more.`
      return `${subject} is empty.`
    case 'minItems':
      return `${subject} is empty.`
    case 'maxLength':
      return `${subject} is longer than ${params['limit']} characters.`
    case 'pattern':
      return `${subject} must have the form: ${schema['pattern_descriptor']}${shownDate(data, schema)}.`
    case 'enum':
      return `${subject} must be one of ${params['allowedValues'].join(', ')}${suggestion(data, params['allowedValues'])}`
    // One of several alternatives, which a member such as `type` selects.
    case 'discriminator': {
      const { tag, tagValue } = params
      if (tagValue === undefined) return `${at}.${tag} is missing.`
      const names = alternatives(schema, tag)
      return `${at}.${tag} must be one of ${names.join(', ')}${suggestion(tagValue, names)}`
    }
    default:
      return `${subject} must be ${expected(schema, data)}; it is ${shown(data, schema)}.`
  }
}

function alternatives({ oneOf = [] }: SettingsSchema, tag: string): string[] {
  return oneOf.map((option) => String(option.properties?.[tag]?.['const']))
}

/** Describes the type and the limits of a setting. */
function expected({ type, minimum, maximum }: SettingsSchema, data: unknown): string {
  if (type === 'integer' || type === 'number') {
    const isFraction = type === 'integer' && typeof data === 'number' && !Number.isInteger(data)
    return `a ${isFraction ? 'whole ' : ''}number from ${minimum} to ${maximum}`
  }
  return type === 'boolean' ? 'true or false' : kind(type)
}

function shown(data: unknown, { type, airbyte_secret }: SettingsSchema): string {
  const isShown = airbyte_secret !== true
  if (typeof data === 'string') {
    const isScalar = type === 'integer' || type === 'number' || type === 'boolean'
    return isShown && isScalar && data.length <= SHOWN
      ? `the text ${JSON.stringify(data)}`
      : 'a text'
  }
  if (data === null) return 'null'
  if (typeof data === 'number' || typeof data === 'boolean')
    return isShown ? String(data) : kind(typeof data)
  return kind(Array.isArray(data) ? 'array' : 'object')
}

function kind(type: unknown): string {
  const kinds: Readonly<Record<string, string>> = { string: 'a text', array: 'a list' }
  return kinds[String(type)] ?? (type === 'object' ? 'an object' : `a ${type}`)
}

function shownDate(data: unknown, { format }: SettingsSchema): string {
  return format === 'date' && DATE_LIKE.test(String(data)) ? `; it is ${JSON.stringify(data)}` : ''
}

function suggestion(data: unknown, names: readonly string[]): string {
  const name = typeof data === 'string' ? nearest(data, names) : undefined
  return name === undefined ? '.' : `; did you mean ${name}?`
}

/** Settings that only one program has. */
type OwnSettings = NonNullable<SettingsSchema['properties']>

/**
 * A warning for each part of a configuration that has no effect: unknown settings, and references that no record
 * can have. Accepts any JSON, valid or not.
 */
export function configWarnings(input: unknown): IdentifiedMessage[] {
  const unknown = unknownNames(input).filter(({ isNearPrivacy }) => !isNearPrivacy)
  return [...unknown.map(({ warning }) => warning), ...referencesWithoutRecords(input)]
}

/**
 * One sentence for each name that is probably a mistyped setting of personal data, or a mistyped part of one: what
 * it restricts would be passed on. Accepts any JSON, valid or not.
 */
export function mistypedPrivacy(input: unknown): string[] {
  return unknownNames(input).flatMap(({ warning, isNearPrivacy }) =>
    isNearPrivacy ? [warning.message] : [],
  )
}

/**
 * A warning for each setting that does not exist, at any depth. Names that begin with `_` are ignored: they are
 * comments, or additions of a platform such as Airbyte's `__injected_declarative_manifest`. Accepts any JSON, valid
 * or not.
 */
export function unknownSettings(input: unknown, own: OwnSettings = {}): IdentifiedMessage[] {
  return unknownNames(input, own).map(({ warning }) => warning)
}

/** A name that is no setting. */
interface UnknownName {
  readonly warning: IdentifiedMessage
  /** Whether somebody may have meant a setting of personal data. */
  readonly isNearPrivacy: boolean
}

/** The settings of personal data, and words that a name for such a setting may have, also of other connectors. */
const PRIVACY = [
  ...['personal_data', 'privacy_key', 'pseudonyms_across_tenants'],
  ...['field_rules', 'unknown_fields', 'suppressed_people', 'retain_months'],
]
const PRIVACY_WORDS =
  /privacy|personal|pseudonym|anonym|redact|gdpr|dsgvo|rgpd|suppress|retain|retention|sensitive|hash|mask|exclude|minimal|secrets|streammap/

function isNearPrivacy(path: string, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')
  return (
    path.startsWith('field_rules.') ||
    PRIVACY_WORDS.test(plain(name)) ||
    nearest(plain(name), PRIVACY.map(plain)) !== undefined
  )
}

function unknownNames(input: unknown, own: OwnSettings = {}): UnknownName[] {
  // One file can configure both reading and writing, so the settings of both are known.
  const [reading, writing] = [configSchema(), writeSettingsSchema()]
  const properties = { ...reading.properties, ...writing.properties, ...own }
  return unknownIn(input, { ...reading, properties })
}

/** The collections whose references the service adds to records of some stream. */
const embedded: ReadonlySet<string> = new Set(
  Object.values(collections).flatMap((facts) => ('references' in facts ? facts.references : [])),
)

function unknownIn(input: unknown, schema: SettingsSchema): UnknownName[] {
  const chosen = chosenEnvironment(schema, input)
  const type = chosen?.properties?.['type']?.['const']
  const everywhere = pathsOf(schema, '')
  return walk(input, schema, '')

  function walk(value: unknown, at: SettingsSchema, path: string): UnknownName[] {
    if (Array.isArray(value))
      return value.flatMap((item, i) => walk(item, at.items ?? {}, `${path}${i}.`))
    if (typeof value !== 'object' || value === null) return []
    const known = path === 'environment.' && chosen !== undefined ? chosen : at
    const properties = propertiesOf(known)
    return Object.entries(value).flatMap(([name, member]) => {
      const property = properties[name]
      if (property !== undefined) return walk(member, property, `${path}${name}.`)
      if (name.startsWith('_')) return []
      const warning =
        propertiesOf(at)[name] === undefined
          ? unknown(path, name, Object.keys(properties))
          : warningOf(
              'setting-of-another-environment',
              `${path}${name} is not a setting of the environment ${type}.`,
            )
      return { warning, isNearPrivacy: isNearPrivacy(path, name) }
    })
  }

  function unknown(path: string, name: string, siblings: readonly string[]): IdentifiedMessage {
    const sibling = nearest(name, siblings)
    const meant =
      sibling === undefined
        ? everywhere.find((other) => `.${other}`.endsWith(`.${name}`))
        : `${path}${sibling}`
    return meant === undefined
      ? warningOf('unknown-setting', `${path}${name} is not a setting.`)
      : warningOf('unknown-setting', `${path}${name} is not a setting; did you mean ${meant}?`)
  }
}

/** The alternative of `environment` that a configuration selects with its `type`. */
function chosenEnvironment(schema: SettingsSchema, config: unknown): SettingsSchema | undefined {
  const environment = (config as { environment?: unknown } | null)?.environment
  const type = (environment as { type?: unknown } | null | undefined)?.type
  const options = schema.properties?.['environment']?.oneOf ?? []
  return options.find((option) => option.properties?.['type']?.['const'] === type)
}

/** The properties of a schema and of all its alternatives. */
function propertiesOf({
  properties = {},
  oneOf = [],
}: SettingsSchema): Readonly<Record<string, SettingsSchema>> {
  return Object.assign(Object.create(null), properties, ...oneOf.map((option) => option.properties))
}

function pathsOf(schema: SettingsSchema, prefix: string): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => [
    `${prefix}${name}`,
    ...pathsOf(property, `${prefix}${name}.`),
  ])
}

/** A warning for each collection whose references are requested although no record can have them. */
export function referencesWithoutRecords(input: unknown): IdentifiedMessage[] {
  const choices = (input as { external_references?: unknown } | null)?.external_references
  if (!Array.isArray(choices)) return []
  const names = choices.map((choice) => (choice as { collection?: unknown } | null)?.collection)
  return referencedCollections
    .filter((collection) => names.includes(collection) && !embedded.has(collection))
    .map((collection) =>
      warningOf(
        'reference-not-embedded',
        `external_references: the service adds the references of ${collection} to no record; they are only in the stream external_references.`,
      ),
    )
}
