import { describe, expect, it } from 'vitest'
import { parseReferencePage } from './reference-page.ts'

const ONE = { collection: 'people', name: 'hr-id', value: 'A1', internalReference: '5' }

describe('the list of references', () => {
  // spec: External reference management: answers
  it.each([
    ['a bare list', [{ name: 'hr-id', value: 'A1', internalReference: '5' }]],
    ['a list in value', { value: [{ name: 'hr-id', value: 'A1', internalReference: '5' }] }],
    [
      'the names of the path',
      { Value: [{ ReferenceName: 'hr-id', ExternalReference: 'A1', InternalReference: 5 }] },
    ],
    ['an id', [{ name: 'hr-id', value: 'A1', id: 5 }]],
    ['lists by name', { 'hr-id': [{ value: 'A1', internalReference: '5' }] }],
    ['values and ids by name', { value: { 'hr-id': { A1: '5' } } }],
    ['values and objects by name', { 'hr-id': { A1: { internalReference: 5 } } }],
    [
      'a list in an object of its name',
      { referenceName: 'hr-id', references: [{ value: 'A1', id: 5 }] },
    ],
  ])('may be %s', (_, body) => {
    expect(parseReferencePage(JSON.stringify(body), 'people')).toEqual({ references: [ONE] })
  })

  it('may hold several references of several names', () => {
    const body = { a: { A1: '5', A2: '6' }, b: { B1: '5' } }
    const { references } = parseReferencePage(JSON.stringify(body), 'people')
    expect(references.map((row) => [row.name, row.value, row.internalReference])).toEqual([
      ['a', 'A1', '5'],
      ['a', 'A2', '6'],
      ['b', 'B1', '5'],
    ])
  })

  it('may leave out the internal id', () => {
    const { references } = parseReferencePage('[{"name":"hr-id","value":"A1"}]', 'people')
    expect(references).toEqual([{ ...ONE, internalReference: null }])
  })

  it.each(['nextLink', 'NextLink'])('may go on at another page (%s)', (name) => {
    const body = JSON.stringify({ value: [], [name]: '/next' })
    expect(parseReferencePage(body, 'people')).toEqual({ references: [], nextLink: '/next' })
  })

  it.each([
    '[]',
    '{}',
    '{"value":[]}',
    '{"value":[],"nextLink":null}',
    '{"value":[],"nextLink":""}',
  ])('may be empty and the last (%s)', (body) => {
    expect(parseReferencePage(body, 'people')).toEqual({ references: [] })
  })

  // spec: External reference management: answers
  it.each([
    '',
    'no JSON',
    '5',
    '"text"',
    'null',
    '[5]',
    '[{"value":"A1"}]',
    '[{"name":"hr-id","internalReference":"5"}]',
    '{"a":5}',
  ])('is damaged when it is %s', (body) => {
    expect(() => parseReferencePage(body, 'people')).toThrow(SyntaxError)
  })
})
