import type { MemberRule, ObjectRules } from './record-batch.ts'
import { rewriteRecord } from './record-rewriter.ts'
import type { JsonSchema } from './stream-spec.ts'

/** Where a field is: `['properties', 'person', 'properties', 'id']`. */
export type Breadcrumb = readonly string[]

/**
 * What a selection of fields leaves of a record; undefined when it leaves everything. Once a field of
 * an object is deselected, only those stay that the schema knows and the catalog selects: one that
 * nobody has documented yet may be what was to be left out.
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

/** In place of an object whose fields were chosen: what is in it may be what was left out. */
function toNull(): string {
  return 'null'
}

/** Rules that do what two do one after the other, in one go. */
export function inTurn(
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

/** A value by itself under a rule that is not to drop it. */
function valueUnder(json: string, rule: MemberRule): string {
  if (typeof rule === 'function') return rule(json)
  const around = { ruleOf: () => rule, values: 'keep' } as const
  return rewriteRecord(Buffer.from(`{"":${json}}`), around).slice('{"":'.length, -1)
}

/** The schema of what rules leave. A member that is replaced keeps its schema. */
export function schemaUnder(schema: JsonSchema, rules: ObjectRules | undefined): JsonSchema {
  if (rules === undefined) return schema
  const { properties, items, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: schemaUnder(items, rules) }),
    ...(properties === undefined ? {} : { properties: propertiesUnder(properties, rules) }),
  }
}

/** The paths of all fields of a schema, of objects and of what is in them. */
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
