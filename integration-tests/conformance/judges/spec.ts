import { isDeepStrictEqual } from 'node:util'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { isFields, type Place, subschemas, typesOf } from '../subschemas.ts'
import type { Fields } from '../transcript.ts'

const FORBIDDEN = [
  '$ref',
  'allOf',
  'anyOf',
  'dependentRequired',
  'dependentSchemas',
  'else',
  'if',
  'not',
  'patternProperties',
  'prefixItems',
  'then',
]

/** The configuration fits the specification; keys that begin with `_` are the platform's. */
export function configMatches(specification: Fields, config: Fields): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const own = Object.fromEntries(Object.entries(config).filter(([name]) => !name.startsWith('_')))
  const validate = ajv.compile(specification)
  if (validate(own)) return []
  // Paths and keywords only: a value may be a secret.
  return (validate.errors ?? []).map(
    ({ instancePath, keyword }) => `the configuration fails ${keyword} at ${instancePath || '/'}`,
  )
}

/** CAT's test_match_expected: the message is the file that the connector's authors review. */
export function specIsTheFile(spec: object, file: Fields): string[] {
  return isDeepStrictEqual(spec, file) ? [] : ['SPEC is not what spec_path says']
}

export function keywordsAreAllowed(specification: Fields): string[] {
  return faultsIn(specification, ({ schema }) =>
    FORBIDDEN.filter((keyword) => keyword in schema).map((keyword) => `uses ${keyword}`),
  )
}

/** One type each, or one and null; lists of anything say what of; objects say what they hold. */
export function typesAreSimple(specification: Fields): string[] {
  return faultsIn(specification, ({ schema }) => {
    const { type, items, properties, oneOf } = schema
    const faults: string[] = []
    if (Array.isArray(type) && !(type.length === 2 && type[1] === 'null'))
      faults.push(`has the types ${type.join(', ')}`)
    if (Array.isArray(items)) faults.push('has a list of items')
    if (type === 'array' && !isFields(items)) faults.push('does not say what it is a list of')
    const isEmpty = !isFields(properties) || Object.keys(properties).length === 0
    if (type === 'object' && isEmpty && !Array.isArray(oneOf)) faults.push('is an empty object')
    return faults
  })
}

export function enumsAreDistinct(specification: Fields): string[] {
  return faultsIn(specification, ({ schema: { enum: values } }) =>
    Array.isArray(values) &&
    new Set(values.map((value) => JSON.stringify(value))).size < values.length
      ? ['repeats a value of its enum']
      : [],
  )
}

export function specificationIsOpen(specification: Fields): string[] {
  return faultsIn(specification, ({ schema: { additionalProperties: open } }) =>
    open === undefined || open === true ? [] : ['closes additionalProperties'],
  )
}

/** A choice is an object whose options share exactly one property with a constant. */
export function choicesCanBeTold(specification: Fields): string[] {
  return faultsIn(specification, ({ schema: { type, oneOf, display_type: display } }) => {
    if (!Array.isArray(oneOf))
      return display === undefined ? [] : ['has a display_type without oneOf']
    const faults: string[] = []
    if (display !== undefined && display !== 'dropdown' && display !== 'radio')
      faults.push(`has the display_type ${String(display)}`)
    if (type !== 'object') faults.push('has oneOf and is no object')
    const options = oneOf.map((option) => (isFields(option) ? option['properties'] : undefined))
    if (!options.every(isFields)) return [...faults, 'has an option without properties']
    const constants = options.map((properties) =>
      Object.keys(properties).filter((name) => hasConstant(properties[name])),
    )
    const shared = constants[0]?.filter((name) => constants.every((names) => names.includes(name)))
    if (shared?.length !== 1) faults.push(`has ${shared?.length ?? 0} constants in all its options`)
    return faults
  })
}

/** The order of fields is told, and no two of an object and group share a place. */
export function ordersAreDistinct(specification: Fields): string[] {
  return faultsIn(specification, ({ at, schema: { properties } }) => {
    if (!isFields(properties)) return []
    const places = Object.values(properties).flatMap((field) =>
      isFields(field) && field['order'] !== undefined
        ? [`${field['group']} ${field['order']}`]
        : [],
    )
    const faults = new Set(places).size < places.length ? ['gives two fields the same order'] : []
    const isGrouped = Object.values(properties).some((field) => isFields(field) && 'group' in field)
    if (isGrouped && at !== '#') faults.push('groups fields below the top')
    return faults
  })
}

/** Every field of the form has words for people, and only optional ones are always shown. */
export function fieldsAreExplained(specification: Fields): string[] {
  return faultsIn(specification, ({ schema: { properties, required } }) =>
    Object.entries(isFields(properties) ? properties : {}).flatMap(([name, field]) => {
      if (!isFields(field)) return []
      const missing = ['title', 'description'].filter((word) => !field[word])
      const faults = missing.map((word) => `says no ${word} of ${name}`)
      if (field['always_show'] !== undefined && Array.isArray(required) && required.includes(name))
        faults.push(`always shows ${name}, which is required anyway`)
      return faults
    }),
  )
}

/** A date is a string with a pattern, because forms check nothing else. */
export function datesHavePatterns(specification: Fields): string[] {
  return faultsIn(specification, ({ schema }) => {
    const { format, pattern } = schema
    if (format !== 'date' && format !== 'date-time') return []
    if (!typesOf(schema).includes('string')) return [`has the format ${format} and is no string`]
    return typeof pattern === 'string' ? [] : [`has the format ${format} without a pattern`]
  })
}

/** Every path of `advanced_auth` exists, and OAuth is the first of the ways to sign in. */
export function oauthFits(spec: { connectionSpecification: Fields; advanced_auth?: Fields }) {
  const { advanced_auth: auth, connectionSpecification: specification } = spec
  if (auth === undefined) return []
  const paths = [auth['predicate_key'], ...oauthPaths(auth['oauth_config_specification'])]
  const faults = paths
    .filter((path): path is string[] => Array.isArray(path))
    .filter((path) => !hasPath(specification, path))
    .map((path) => `advanced_auth names ${path.join('.')}, which no field is called`)
  const [choice, constant] = (auth['predicate_key'] ?? []) as string[]
  const field = isFields(specification['properties'])
    ? specification['properties'][choice ?? '']
    : undefined
  if (!isFields(field) || !Array.isArray(field['oneOf']) || constant === undefined) return faults
  const first = field['oneOf'][0]?.properties?.[constant]?.const
  return first === auth['predicate_value'] ? faults : [...faults, 'OAuth is not the first option']
}

function oauthPaths(specification: unknown): unknown[] {
  return [...subschemas(specification)]
    .concat(
      isFields(specification)
        ? Object.values(specification).flatMap((part) => [...subschemas(part)])
        : [],
    )
    .map(({ schema }) => schema['path_in_connector_config'])
}

function hasPath(schema: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  if (!isFields(schema)) return false
  const options = Array.isArray(schema['oneOf']) ? schema['oneOf'] : []
  const properties = isFields(schema['properties']) ? schema['properties'] : {}
  return hasPath(properties[name], rest)
    ? name in properties
    : options.some((option) => hasPath(option, [name, ...rest]))
}

function hasConstant(field: unknown): boolean {
  if (!isFields(field) || !('const' in field)) return false
  const { const: constant, default: standard, enum: values } = field
  const agrees = standard === undefined || standard === constant
  return agrees && (values === undefined || isDeepStrictEqual(values, [constant]))
}

function faultsIn(specification: Fields, judge: (place: Place) => string[]): string[] {
  return [...subschemas(specification)].flatMap((place) =>
    judge(place).map((fault) => `${place.at} ${fault}`),
  )
}
