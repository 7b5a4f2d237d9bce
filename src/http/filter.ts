/** A literal of the filter grammar (docs/service.md, "Filters and date ranges"). */
export type Literal =
  | { readonly date: string }
  | { readonly text: string }
  | { readonly integer: number }
  | { readonly boolean: boolean }

/** One condition on a field, by its filter name: `person` where the record has `person.id`. */
export interface Condition {
  readonly field: string
  readonly operator: 'eq' | 'ge' | 'le' | 'in'
  /** One value, or for `in` one or more. */
  readonly values: readonly [Literal, ...Literal[]]
}

/** Both ends of a date range, inclusive; an open end is left out. */
export function dateRange(from: string, until?: string): Condition[] {
  const start: Condition = { field: 'date', operator: 'ge', values: [{ date: from }] }
  if (until === undefined) return [start]
  return [start, { field: 'date', operator: 'le', values: [{ date: until }] }]
}

/**
 * The text of the `filter` parameter: conditions joined by `and`, not yet URL-encoded.
 * Throws a RangeError for what the grammar cannot express; that is a fault of the caller.
 */
export function filterText(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(' and ')
}

function conditionText({ field, operator, values }: Condition): string {
  if (!/^[a-z]+(-[a-z]+)*$/.test(field)) throw new RangeError(`not a filter field: ${field}`)
  if (operator === 'in') return `${field} in (${values.map(literalText).join(',')})`
  if (values.length > 1) throw new RangeError(`${operator} takes one value`)
  return `${field} ${operator} ${literalText(values[0])}`
}

function literalText(literal: Literal): string {
  if ('integer' in literal) {
    if (!Number.isSafeInteger(literal.integer)) throw new RangeError('not an integer')
    return String(literal.integer)
  }
  if ('boolean' in literal) return String(literal.boolean)
  if ('date' in literal) {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(literal.date)) throw new RangeError('not a date')
    return `'${literal.date}'`
  }
  // The grammar has no escape for a quote inside a string.
  if (literal.text.includes("'")) throw new RangeError('a quote cannot be written in a filter')
  return `'${literal.text}'`
}
