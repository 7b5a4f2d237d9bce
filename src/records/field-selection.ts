import type { MemberRule, ObjectRules } from './record-batch.ts'
import { rewriteRecord } from './record-rewriter.ts'
import type { JsonSchema } from './stream-spec.ts'

/** The path of a field: `['properties', 'person', 'properties', 'id']`. */
export type Breadcrumb = readonly string[]

/**
 * The rules that apply a selection of fields to a record; undefined if everything is selected. If a field of an
 * object is deselected, only those fields pass that the schema has and the catalog selects: an undocumented field may
 * be a new name of the deselected one.
 */
export function selectionRules(
  schema: JsonSchema,
  isSelected: (breadcrumb: Breadcrumb) => boolean,
  at: Breadcrumb = [],
): ObjectRules | undefined {
  const fields = Object.entries(schema.properties ?? {})
  const members = new Map<string, MemberRule>()
  for (const [name, field] of fields) {
    const place = [...at, 'properties', name]
    members.set(name, isSelected(place) ? inside(field, place) : 'drop')
  }
  const rules = [...members.values()]
  if (rules.every((rule) => rule === 'keep')) return undefined
  const others = rules.includes('drop') ? 'drop' : 'keep'
  return {
    ruleOf: (name) => members.get(name) ?? others,
    values: others === 'keep' ? 'keep' : toNull,
  }

  function inside(field: JsonSchema, place: Breadcrumb): MemberRule {
    const items = field.items && selectionRules(field.items, isSelected, [...place, 'items'])
    return selectionRules(field, isSelected, place) ?? items ?? 'keep'
  }
}

/** Replaces a value that should be an object with selected fields: it may contain what was deselected. */
function toNull(): string {
  return 'null'
}

/** Combines two rules into one that does the same as the first and then the second. */
export function combinedRules(
  first: ObjectRules | undefined,
  second: ObjectRules | undefined,
): ObjectRules | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return both(first, second)
}

function both(first: ObjectRules, second: ObjectRules): ObjectRules {
  const { values } = first
  return {
    ruleOf: (name) => ruleOfBoth(first.ruleOf(name), second.ruleOf(name)),
    values: values === 'keep' ? second.values : (json) => valueUnder(values(json), second),
  }
}

function ruleOfBoth(first: MemberRule, second: MemberRule): MemberRule {
  if (first === 'drop' || second === 'drop') return 'drop'
  if (first === 'keep') return second
  if (second === 'keep') return first
  if (typeof first === 'object' && typeof second === 'object') return both(first, second)
  return (json) => valueUnder(valueUnder(json, first), second)
}

/** Applies a rule other than `drop` to a single value. */
function valueUnder(json: string, rule: MemberRule): string {
  if (typeof rule === 'function') return rule(json)
  const around = { ruleOf: () => rule, values: 'keep' } as const
  return rewriteRecord(Buffer.from(`{"":${json}}`), around).slice('{"":'.length, -1)
}

/** The schema of records under rules. A member with a replaced value keeps its schema. */
export function schemaUnder(schema: JsonSchema, rules: ObjectRules | undefined): JsonSchema {
  if (rules === undefined) return schema
  const { properties, items, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: schemaUnder(items, rules) }),
    ...(properties === undefined ? {} : { properties: propertiesUnder(properties, rules) }),
  }
}

/** The paths of all fields of a schema, objects and their members included. */
export function fieldsOf(schema: JsonSchema, at = ''): string[] {
  const inside = Object.entries(schema.items?.properties ?? schema.properties ?? {})
  return inside.flatMap(([name, field]) => [`${at}${name}`, ...fieldsOf(field, `${at}${name}.`)])
}

type Properties = NonNullable<JsonSchema['properties']>

function propertiesUnder(properties: Properties, { ruleOf }: ObjectRules): Properties {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => {
      const rule = ruleOf(name)
      if (rule === 'drop') return []
      return [[name, typeof rule === 'object' ? schemaUnder(field, rule) : field]]
    }),
  )
}
