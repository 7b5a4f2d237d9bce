import { describe, expect, it } from 'vitest'
import type { StoredRecord } from '../store/store.ts'
import { checkFilter, parseFilter } from './check.ts'

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

const allowed = ['date', 'person', 'kind', 'status', 'enabled', 'counter-definition']
const personGroups = (group: string, id: number) => (group === 'circle' ? [id, id + 10] : undefined)
const check = (text: string) => checkFilter(parseFilter(text), allowed, personGroups)

function record(fields: { date?: string; person?: number; [name: string]: unknown }): StoredRecord {
  const { date, person } = fields
  return { id: 1, version: '', date, person, text: JSON.stringify(fields) }
}

describe('a filter', () => {
  // spec: Filtering: operators
  it.each([
    ['person eq 1 and person eq 2', { person: 2 }, true],
    ['person eq 1 or person eq 2', { person: 2 }, true],
    ['person in (1,2)', { person: 3 }, false],
    ['person in circle(4)', { person: 14 }, true],
    ["kind in ('InOut','Reason')", { kind: 'Reason' }, true],
    ["person eq 1 and kind eq 'InOut'", { person: 1, kind: 'Reason' }, false],
    ["person eq 1 or kind eq 'InOut'", { person: 2, kind: 'InOut' }, true],
    ["person eq 1 or kind eq 'InOut'", { person: 2, kind: 'Reason' }, false],
    ["person eq 1 and kind eq 'InOut' or person eq 2", { person: 2, kind: 'Reason' }, true],
    ["person eq 1 and kind eq 'InOut' or person eq 2", { person: 1, kind: 'Reason' }, false],
    ['(person eq 1 or person eq 2) and person eq 3', { person: 1 }, false],
    ['person eq 1 and (person eq 2)', { person: 2 }, true],
    ['enabled eq true', { isEnabled: false }, false],
    ['enabled in (false)', { isEnabled: false }, true],
    ['counter-definition eq 3', { counterDefinition: { id: 3 } }, true],
    ["date eq '2026-02-03'", { date: '2026-02-03' }, true],
    ["date ge '2026-02-03'", { date: '2026-02-02' }, false],
    ["date ge '2026-02-01' and date le '2026-02-03'", { date: '2026-02-03' }, true],
    ["date le '2026-02-03'", {}, false],
  ])('%s tests %j: %s', (text, fields, expected) => {
    expect(check(text).matches(record(fields))).toBe(expected)
  })

  it('returns the range of dates that it requests', () => {
    const { start, end } = check("date ge '2026-02-01' and date le '2026-02-03' and person eq 1")
    expect([start, end]).toEqual(['2026-02-01', '2026-02-03'])
  })

  // spec: Filtering: operators
  // spec: Errors: 400 filter
  it.each([
    ['an unknown field', 'name eq 1'],
    ['a JSON name', 'isEnabled eq true'],
    ['a wrong literal', "person eq '1'"],
    ['a number for a text', 'kind eq 1'],
    ['a text for a boolean', "enabled eq 'true'"],
    ['an impossible date', "date ge '2026-02-30'"],
    ['another form of date', "date ge '1/2/2026'"],
    ['a range on a Multiple field', 'person ge 1'],
    ['a list on a Range field', "date in ('2026-02-01')"],
    ['two values of a Single field', 'enabled in (true,false)'],
    ['a repeated Single field', 'enabled eq true and enabled eq false'],
    ['or on a Range field', "date ge '2026-02-01' or date le '2026-02-03'"],
    ['or on a Single field', 'enabled eq true or enabled eq false'],
    ['an unknown group', 'person in team(1)'],
    ['a group of something else', 'counter-definition in circle(1)'],
  ])('is refused for %s', (_, text) => {
    expect(() => check(text)).toThrow('Request not valid')
  })
})
