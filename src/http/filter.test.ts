import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Condition, dateRange, filterText, type Literal } from './filter.ts'

describe('the text of a filter', () => {
  it.each<[Condition, string]>([
    [{ field: 'date', operator: 'ge', values: [{ date: '2026-01-31' }] }, "date ge '2026-01-31'"],
    [{ field: 'date', operator: 'le', values: [{ date: '2026-01-31' }] }, "date le '2026-01-31'"],
    [{ field: 'kind', operator: 'eq', values: [{ text: 'InOut' }] }, "kind eq 'InOut'"],
    [{ field: 'enabled', operator: 'eq', values: [{ boolean: true }] }, 'enabled eq true'],
    [{ field: 'enabled', operator: 'eq', values: [{ boolean: false }] }, 'enabled eq false'],
    [
      { field: 'person', operator: 'in', values: [{ integer: 1 }, { integer: 23 }] },
      'person in (1,23)',
    ],
    [
      { field: 'collection-name', operator: 'in', values: [{ text: 'people' }] },
      "collection-name in ('people')",
    ],
  ])('of %j follows the grammar', (condition, text) => {
    expect(filterText([condition])).toBe(text)
  })

  // spec: Filtering: grammar
  it('joins conditions by and', () => {
    expect(filterText(dateRange('2026-01-01', '2026-12-31'))).toBe(
      "date ge '2026-01-01' and date le '2026-12-31'",
    )
  })

  it('leaves out an open end', () => {
    expect(filterText(dateRange('2026-01-01'))).toBe("date ge '2026-01-01'")
  })

  it.each<[string, Condition]>([
    ['a field of the JSON', { field: 'person.id', operator: 'eq', values: [{ integer: 1 }] }],
    ['two values of eq', { field: 'a', operator: 'eq', values: [{ integer: 1 }, { integer: 2 }] }],
    ['a fraction', { field: 'a', operator: 'eq', values: [{ integer: 1.5 }] }],
    [
      'an integer that is not exact',
      { field: 'a', operator: 'eq', values: [{ integer: 2 ** 53 }] },
    ],
    ['a date of another form', { field: 'a', operator: 'ge', values: [{ date: '1-1-2026' }] }],
    ['a quote, which cannot be written', { field: 'a', operator: 'eq', values: [{ text: "O'B" }] }],
  ])('does not exist for %s', (_, condition) => {
    expect(() => filterText([condition])).toThrow(RangeError)
  })

  // spec: Filtering: operators
  // spec: Filtering: literals
  // spec: Errors: 400 filter
  it('says what was asked for, whatever that is', () => {
    fc.assert(
      fc.property(fc.array(anyCondition(), { minLength: 1, maxLength: 4 }), (conditions) => {
        expect(parse(filterText(conditions))).toEqual(conditions)
      }),
      { numRuns: 300 },
    )
  })
})

function anyCondition(): fc.Arbitrary<Condition> {
  const field = fc.stringMatching(/^[a-z]{1,6}(-[a-z]{1,6})?$/)
  const literal = fc.oneof<fc.Arbitrary<Literal>[]>(
    fc.record({ integer: fc.maxSafeNat() }),
    fc.record({ boolean: fc.boolean() }),
    fc.record({ text: fc.string({ unit: 'binary' }).filter((text) => !text.includes("'")) }),
    fc.record({
      date: fc
        .date({
          min: new Date('1970-01-01'),
          max: new Date('2100-01-01'),
          noInvalidDate: true,
        })
        .map((date) => date.toISOString().slice(0, 10)),
    }),
  )
  const one = fc.record({
    field,
    operator: fc.constantFrom('eq' as const, 'ge' as const, 'le' as const),
    values: fc.tuple(literal),
  })
  const several = fc.record({
    field,
    operator: fc.constant('in' as const),
    values: fc.tuple(literal, literal, literal),
  })
  return fc
    .oneof(one, several)
    .filter(({ values }) => values.every((value) => !('text' in value) || !isDate(value.text)))
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text)
}

/** A reader of the grammar of its own, so that a fault of the writer does not agree with itself. */
function parse(text: string): unknown[] {
  let rest = text
  const take = (pattern: RegExp): string => {
    const found = pattern.exec(rest)?.[0]
    if (found === undefined) throw new Error(`not a filter: ${rest}`)
    rest = rest.slice(found.length)
    return found
  }
  const literal = () => {
    if (/^\d/.test(rest)) return { integer: Number(take(/^\d+/)) }
    if (!rest.startsWith("'")) return { boolean: take(/^(true|false)/) === 'true' }
    const inside = take(/^'[^']*'/).slice(1, -1)
    return isDate(inside) ? { date: inside } : { text: inside }
  }
  const conditions: unknown[] = []
  for (;;) {
    const field = take(/^[a-z-]+/)
    const operator = take(/^ (eq|ge|le|in) /).trim()
    const values = []
    if (operator === 'in') {
      do {
        take(/^[(,]/)
        values.push(literal())
      } while (!rest.startsWith(')'))
      take(/^\)/)
    } else values.push(literal())
    conditions.push({ field, operator, values })
    if (rest === '') return conditions
    take(/^ and /)
  }
}
