import { expect, it } from 'vitest'
import { recordTable } from './preview-action.ts'

const records = [
  '{"id":1,"person":{"id":7,"externalReferences":{"@badge":"A"}},"tags":[1,2]}',
  '{"id":22,"note":"two\\nlines","person":null}',
]

it('has a column for each member, and joins the names of nested ones', () => {
  expect(recordTable(records, 100).split('\n')).toEqual([
    '  id  person.id  person.externalReferences.@badge  tags   note       person',
    '  1   7          A                                 [1,2]',
    '  22                                                      two lines',
  ])
})

it('names the columns that do not fit', () => {
  expect(recordTable(records, 20).split('\n')).toEqual([
    '  id  person.id',
    '  1   7',
    '  22',
    '  and 4 more columns: person.externalReferences.@badge, tags, note, person',
  ])
})

it('shows names and values that move no cursor and begin no line', () => {
  const record = JSON.stringify({ ['a\u001b[2Jb\nERROR forged\u202e']: '\u009b31mred\u2066' })
  const [header, row] = recordTable([record], 100).split('\n')
  expect([header, row]).toEqual(['  a [2Jb ERROR forged', '   31mred'])
})

it('cuts what is long, and shows one column however narrow the terminal is', () => {
  const [, row] = recordTable([`{"text":"${'x'.repeat(99)}"}`], 5).split('\n')
  expect(row).toBe(`  ${'x'.repeat(31)}…`)
})
