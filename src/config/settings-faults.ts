import { isJsonObject } from '../protocol/json-object.ts'
import type { SettingsSchema } from '../protocol/settings-schema.ts'

/** What is wrong with one setting. */
export interface Fault {
  /** The names that lead to it. */
  readonly path: readonly string[]
  /** The keyword of the schema that it breaks. */
  readonly keyword: string
  /** The name of the missing member, where the keyword is `required`. */
  readonly missing?: string
  readonly schema: SettingsSchema
  readonly value: unknown
}

/**
 * Fills in the defaults of a schema of settings, and answers with what is wrong. It knows the part of JSON
 * Schema that settings need: a complete validator takes longer to load than all else that a check loads.
 */
export function settingsFaults(value: unknown, schema: SettingsSchema): Fault[] {
  return faultsOf(value, schema, [])
}

/** The keywords that are checked; all others only describe. */
export const CHECKED_KEYWORDS = [
  'type',
  'const',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'items',
  'required',
  'properties',
  'default',
] as const

function faultsOf(value: unknown, schema: SettingsSchema, path: readonly string[]): Fault[] {
  const faults = brokenKeywords(value, schema).map((keyword) => ({ path, keyword, schema, value }))
  if (Array.isArray(value)) {
    const { items = {} } = schema
    return [...faults, ...value.flatMap((item, i) => faultsOf(item, items, [...path, String(i)]))]
  }
  return isJsonObject(value) ? [...faults, ...membersOf(value, schema, path)] : faults
}

function membersOf(
  value: Record<string, unknown>,
  schema: SettingsSchema,
  path: readonly string[],
): Fault[] {
  const { properties = {}, required = [] } = schema
  for (const [name, { default: preset }] of Object.entries(properties)) {
    if (preset !== undefined && value[name] === undefined) value[name] = structuredClone(preset)
  }
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => ({ path, keyword: 'required', missing: name, schema, value }))
  const members = Object.entries(properties).flatMap(([name, member]) =>
    value[name] === undefined ? [] : faultsOf(value[name], member, [...path, name]),
  )
  return [...missing, ...members]
}

/** The keywords about the value itself that it breaks. */
function brokenKeywords(value: unknown, schema: SettingsSchema): string[] {
  const { type } = schema
  const broken = type === undefined || isOfType(value, type) ? [] : ['type']
  const holds = (keyword: string, test: (bound: never) => boolean) => {
    const bound = schema[keyword]
    if (bound !== undefined && !test(bound as never)) broken.push(keyword)
  }
  if (typeof value === 'number') {
    holds('maximum', (most: number) => value <= most)
    holds('minimum', (least: number) => value >= least)
  } else if (typeof value === 'string') {
    holds('maxLength', (most: number) => [...value].length <= most)
    holds('minLength', (least: number) => [...value].length >= least)
    holds('pattern', (pattern: string) => new RegExp(pattern, 'u').test(value))
  } else if (Array.isArray(value)) {
    holds('minItems', (least: number) => value.length >= least)
  }
  holds('const', (only: unknown) => value === only)
  holds('enum', (all: readonly unknown[]) => all.includes(value))
  return broken
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
