import type { Fields } from './transcript.ts'

const MAPS = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas']
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const SINGLES = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
]

/** A schema within a schema, with its place as a JSON pointer. */
export interface Place {
  readonly at: string
  readonly schema: Fields
  /** The property that it describes, if it describes one. */
  readonly property?: string
}

/** The schema itself and all below it; names of properties and examples are no keywords. */
export function* subschemas(
  schema: unknown,
  at = '#',
  property?: string,
): Generator<Place, undefined> {
  if (!isFields(schema)) return
  yield property === undefined ? { at, schema } : { at, schema, property }
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${at}/${keyword}`
    if (MAPS.includes(keyword) && isFields(value)) {
      for (const [name, below] of Object.entries(value))
        yield* subschemas(below, `${here}/${name}`, keyword === 'properties' ? name : undefined)
    } else if (LISTS.includes(keyword) && Array.isArray(value)) {
      for (const [index, below] of value.entries())
        yield* subschemas(below, `${here}/${index}`, keyword === 'items' ? undefined : property)
    } else if (SINGLES.includes(keyword)) yield* subschemas(value, here)
  }
}

/** The types that a schema names, itself or through its alternatives. */
export function typesOf(schema: Fields): string[] {
  const { type } = schema as { type?: unknown }
  const own = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const alternatives = ['anyOf', 'oneOf'].flatMap((keyword) => {
    const list = schema[keyword]
    return Array.isArray(list) ? list.filter(isFields).flatMap(typesOf) : []
  })
  return [...own, ...alternatives] as string[]
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
