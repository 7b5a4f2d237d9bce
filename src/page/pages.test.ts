import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastNextLink } from './page-scanner.ts'
import { parseReference, parseReferencePage } from './reference-page.ts'

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
    [
      'the longest names',
      [{ externalReferenceName: 'hr-id', externalReferenceValue: 'A1', id: 5 }],
    ],
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

  it.each(['1234567890123456789012345678901234567890', '9007199254740993', '12.50', '1e2', '-7'])(
    'may have the number %s as a value, of which every digit counts',
    (number) => {
      const text = 'a \\" : 12345678901234567890'
      const one = `{"name":"hr-id","value":${number},"id":5}`
      const body = `[${one},{"name":"${text}","value": "1.50","id":6}]`
      expect(parseReferencePage(body, 'people').references).toEqual([
        { ...ONE, value: number },
        { ...ONE, name: 'a " : 12345678901234567890', value: '1.50', internalReference: '6' },
      ])
    },
  )

  it('may leave out the internal id', () => {
    const { references } = parseReferencePage('[{"name":"hr-id","value":"A1"}]', 'people')
    expect(references).toEqual([{ ...ONE, internalReference: null }])
  })

  it('may continue on another page if its references are by name', () => {
    const body = JSON.stringify({ nextLink: '/next', 'hr-id': { A1: '5' } })
    expect(parseReferencePage(body, 'people')).toEqual({ references: [ONE], nextLink: '/next' })
  })

  it.each(['nextLink', 'NextLink'])('may continue on another page (%s)', (name) => {
    const body = JSON.stringify({ value: [], [name]: '/next' })
    expect(parseReferencePage(body, 'people')).toEqual({ references: [], nextLink: '/next' })
  })

  it.each([['"nextLink":"/next","NextLink":null'], ['"nextLink":"/next","NEXTLINK":""']])(
    'continues if one spelling of the link has it: %s',
    (links) => {
      const page = parseReferencePage(`{"value":[],${links}}`, 'people')
      expect(page.nextLink).toBe('/next')
    },
  )

  it.each(['7', '{"href":"/next"}', '["/next"]'])('does not end with a link like %s', (link) => {
    const body = `{"value":[],"nextLink":${link}}`
    expect(() => parseReferencePage(body, 'people')).toThrow(
      new SyntaxError('its next link is not a text'),
    )
  })

  it.each(['[]', '{"value":[]}', '{"value":[],"nextLink":null}', '{"value":[],"nextLink":""}'])(
    'may be empty and the last (%s)',
    (body) => {
      expect(parseReferencePage(body, 'people')).toEqual({ references: [] })
    },
  )

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
    '{}',
    '{"value":{}}',
    '{"error":{"code":"Busy","message":"Later."}}',
  ])('is damaged when it is %s', (body) => {
    expect(() => parseReferencePage(body, 'people')).toThrow(SyntaxError)
  })

  it.each([
    ['a value without quotes', '[{"referenceName":"badge-number","externalReference":B4711}]'],
    ['short text', 'B4711'],
  ])('repeats nothing of a body that is no JSON: %s', (_, body) => {
    expect(() => parseReferencePage(body, 'people')).toThrow(/^it is not JSON$/)
  })
})

// spec: External reference management: answers
it.each([
  ['values and ids', { A1: '5' }],
  ['a list without the name', [{ value: 'A1', internalReference: '5' }]],
  ['a list under the name', { 'hr-id': [{ value: 'A1', id: 5 }] }],
  ['values under the name', { value: { 'hr-id': { A1: 5 } } }],
  ['a lone object', { value: 'A1', internalReference: '5' }],
])('the list of one name may be %s', (_, body) => {
  const page = parseReferencePage(JSON.stringify(body), 'people', 'hr-id')
  expect(page).toEqual({ references: [ONE] })
})

it.each([{}, { error: 'Busy' }, { error: { code: 'Busy' } }, { items: [{ value: 'A1', id: 5 }] }])(
  'the list of one name is not readable when it is %j',
  (body) => {
    expect(() => parseReferencePage(JSON.stringify(body), 'people', 'hr-id')).toThrow(SyntaxError)
  },
)

// spec: External reference management: answers
it.each([
  ['an object', '{"collection":"people","name":"hr-id","value":"A1","internalReference":"5"}', '5'],
  ['the id in an object', '{"internalReference":5}', '5'],
  ['the id', '5', '5'],
  ['the id as text', '"5"', '5'],
  ['a list of one', '[{"externalReference":"A1","internalReference":"5"}]', '5'],
  ['a page', '{"value":[{"name":"hr-id","value":"A1","id":5}]}', '5'],
  ['an object that does not tell the id', '{"value":"A1"}', null],
  ['empty', '', null],
])('one reference may be %s', (_, body, internalReference) => {
  const { collection, name, value } = ONE
  expect(parseReference(body, { collection, name, value })).toEqual({ ...ONE, internalReference })
})

it.each([
  ['a value that leads to nothing', '{"A1":null}', 'A1'],
  ['a value that is called as its name', '{"hr-id":null}', 'hr-id'],
])('the list of one name may have %s', (_, body, value) => {
  expect(parseReferencePage(body, 'people', 'hr-id')).toEqual({
    references: [{ ...ONE, value, internalReference: null }],
  })
})

describe('one reference among others', () => {
  const ask = (...values: string[]) => {
    const body = values.map((value, id) => ({ name: 'hr-id', value, id }))
    return parseReference(JSON.stringify(body), ONE)
  }

  it('is the one with exactly the requested value', () => {
    expect(ask('a1', 'A1', 'A2')).toEqual({ ...ONE, internalReference: '1' })
  })

  it('is otherwise the one that differs only in case, as the service writes it', () => {
    expect(ask('A2', 'a1')).toEqual({ ...ONE, value: 'a1', internalReference: '1' })
  })
})

const LINK = '/connector/svcapi/api/v1/people?continuationToken=a%2Fb'

function linkOf(page: string): string | undefined {
  return lastNextLink([Buffer.from(page)])
}

describe('the next link at the end of a page', () => {
  it.each([
    ['behind the records', `{"value":[{"id":1}],"nextLink":"${LINK}"}`],
    ['in an indented page', `{\n  "value": [ ],\n  "nextLink": "${LINK}"\n}\n`],
    ['with escapes', `{"value":[],"nextLink":"${LINK.replaceAll('/', '\\/')}"}`],
    ['in a page of nothing else', `{"nextLink":"${LINK}"}`],
  ])('is found %s', (_where, page) => {
    expect(linkOf(page)).toBe(LINK)
  })

  it.each([
    ['is missing', '{"value":[]}'],
    ['is null', '{"value":[],"nextLink":null}'],
    ['is empty', '{"value":[],"nextLink":""}'],
    ['stands before the records', `{"nextLink":"${LINK}","value":[]}`],
    ['is only a record’s', `{"value":[{"nextLink":"${LINK}"}]}`],
    ['is only a text of a record', `{"value":[{"id":",\\"nextLink\\":\\"${LINK}\\"}"}]}`],
    ['is only the end of another name', `{"value":[],"x\\"nextLink":"${LINK}"}`],
    ['is cut off', `{"value":[],"nextLink":"${LINK}`],
    ['is longer than any link', `{"value":[],"nextLink":"${'x'.repeat(5000)}"}`],
  ])('is left to the scanner where it %s', (_how, page) => {
    expect(linkOf(page)).toBeUndefined()
  })

  it('is that of the page or none, whatever the page contains and wherever it is cut', () => {
    const text = fc.string({
      unit: fc.constantFrom('"', '\\', ',', '{', '}', 'nextLink', ':', 'é'),
    })
    const member = fc.tuple(fc.constantFrom('nextLink', 'deltaLink', 'value', 'x'), text)
    const page = fc.array(member).map((members) => JSON.stringify(Object.fromEntries(members)))
    fc.assert(
      fc.property(page, fc.nat(), (body, cut) => {
        const bytes = Buffer.from(body)
        const at = cut % (bytes.length + 1)
        const found = lastNextLink([bytes.subarray(0, at), bytes.subarray(at)])
        if (found !== undefined) expect(found).toBe(JSON.parse(body).nextLink)
        const names = Object.keys(JSON.parse(body))
        if (names.at(-1) === 'nextLink' && JSON.parse(body).nextLink !== '')
          expect(found).toBeDefined()
      }),
    )
  })
})
