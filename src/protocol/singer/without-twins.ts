import type { JsonSchema } from '../stream-spec.ts'

/**
 * The schema without columns whose names differ from an earlier one by case only: targets that fold
 * the case of names (target-duckdb) refuse the whole table. Records keep the member all the same.
 */
export function withoutTwins(schema: JsonSchema): JsonSchema {
  const taken = new Set<string>()
  const isFirst = (name: string) => taken.size < taken.add(name.toLowerCase()).size
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => isFirst(name))
  return { ...schema, properties: Object.fromEntries(properties) }
}
