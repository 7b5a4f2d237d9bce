import { describe, expect, it } from 'vitest'
import { parseFilter } from './parse.ts'

const condition = (field: string, operator: string, values: unknown[], group?: string) => ({
  type: 'condition',
  field,
  operator,
  values,
  group,
})

describe('the filter grammar', () => {
  // spec: Filtering: grammar
  // spec: Filtering: literals
  it.each([
    ['person eq 1', condition('person', 'eq', [1])],
    ["status eq 'Manual'", condition('status', 'eq', ['Manual'])],
    ["code eq 'O''Neill'", condition('code', 'eq', ["O'Neill"])],
    ['enabled eq true', condition('enabled', 'eq', [true])],
    ['person in (1,2, 3)', condition('person', 'in', [1, 2, 3])],
    ['person in circle(4)', condition('person', 'in', [4], 'circle')],
    ['person in org-group(7)', condition('person', 'in', [7], 'org-group')],
    [' ( person eq 1 ) ', condition('person', 'eq', [1])],
  ])('reads %s', (text, expected) => {
    expect(parseFilter(text)).toEqual(expected)
  })

  it('binds and more closely than or', () => {
    const [a, b, c] = [1, 2, 3].map((id) => condition('person', 'eq', [id]))
    expect(parseFilter('person eq 1 or person eq 2 and person eq 3')).toEqual({
      type: 'or',
      parts: [a, { type: 'and', parts: [b, c] }],
    })
  })

  // spec: Filtering: grammar
  it.each([
    '',
    'person',
    'person eq',
    'person eq 1 and',
    'person eq 1 or or person eq 2',
    'person = 1',
    'person ne 1',
    'person eq (1)',
    'person in 1',
    'person in ()',
    'person in (1,)',
    'person in (1',
    '(person eq 1',
    'person eq 1)',
    'date ge 2026-01-01',
    "status eq 'open",
    'status eq "Manual"',
    'and eq 1',
    'person eq 1 person eq 2',
    'person+eq+1',
  ])('refuses "%s"', (text) => {
    expect(() => parseFilter(text)).toThrow('Request not valid')
  })
})
