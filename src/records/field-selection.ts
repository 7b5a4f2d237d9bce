import type { MemberRule, ObjectRules } from './record-rewriter.ts'
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
