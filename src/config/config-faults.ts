import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { ConnectorError } from '../ground/errors.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import { nearest } from '../ground/text.ts'

const require = createRequire(import.meta.url)

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
  return check(settings) ? [] : (check.errors ?? []).map(sentence)
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
