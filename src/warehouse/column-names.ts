import type { JsonSchema } from '../records/stream-spec.ts'
import { type Column, columnType, OWN } from './column.ts'
import type { Limits } from './landing.ts'

/** The columns of a schema, one per property and in its order. */
export function columnsOf({ properties = {} }: JsonSchema, limits: Limits): Column[] {
  const taken = takenNames([])
  return Object.entries(properties).map(([property, schema]) => ({
    property,
    name: freeName(property, taken, limits),
    type: columnType(schema),
  }))
}

/** The names that another column of the table cannot have, in lower case; `others` are those of columns of other people. */
export function takenNames(columns: readonly Column[], others: Iterable<string> = []): Set<string> {
  return new Set([...OWN, ...columns.map(({ name }) => name.toLowerCase()), ...others])
}

/**
 * The name as SQL can have it, with a number where one is taken that differs by case only. The service may
 * choose any name: SQL has none without a character or with a NUL, and nobody can see control characters.
 */
export function freeName(wanted: string, taken: Set<string>, limits: Limits): string {
  const shown = wanted.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '_') || 'column'
  let name = limits.nameOf(shown, '')
  const isTaken = () =>
    taken.has(name.toLowerCase()) || limits.reserved.includes(name.toLowerCase())
  for (let n = 1; isTaken(); n += 1) name = limits.nameOf(shown, `_${n}`)
  taken.add(name.toLowerCase())
  return name
}
