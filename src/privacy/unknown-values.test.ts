import { describe, expect, it } from 'vitest'
import type { ObjectRules } from '../records/record-batch.ts'
import { rewriteRecord } from '../records/record-rules.ts'
import type { FieldRule } from './field-patterns.ts'
import { redactionOfStream } from './redaction.ts'
import { leftOf, rule, settings, stream } from './testing/left-of.ts'

describe('a rule with a star', () => {
  const record = { pinCode: 1, lastName: 'A', kin: { iban: 'B', name: 'C' } }
  const under = (...rules: readonly FieldRule[]) =>
    leftOf('people', record, settings('minimal', { rules }))

  it.each([rule('*', 'keep'), rule('*', 'keep', '*'), rule('*', 'keep', 'peo*')])(
    'keeps no secret: %j',
    (star) => {
      expect(under(star)).toEqual({ lastName: 'A', kin: { name: 'C' } })
    },
  )

  it('keeps none even if it names the secret for many streams, or with a part of its name', () => {
    expect(under(rule('pinCode', 'keep', '*'), rule('pinC*', 'keep'))).toEqual({})
  })

  it('leaves a secret to the rule that names it', () => {
    expect(under(rule('pinCode', 'keep'), rule('kin.iban', 'keep'), rule('*', 'keep'))).toEqual(
      record,
    )
  })

  it('passes on no reference with the name of a secret', () => {
    const reference = { collection: 'people', name: 'IBAN', value: 'BE1', internalReference: '1' }
    const rules = [rule('*', 'keep', 'external_references')]
    expect(
      leftOf('external_references', reference, settings('without_secrets', { rules })),
    ).toEqual({})
  })
})

describe('a hash', () => {
  it.each([
    ['pseudonymised', []],
    ['complete', [rule('firstName', 'hash'), rule('address', 'hash')]],
  ] as const)('of an object has none of its unknown names: %s', (mode, rules) => {
    const record = { firstName: { Ada: 1 }, address: [{ 'Main Street': 'x' }] }
    const left = leftOf('people', record, settings(mode, { rules, unknownFields: 'keep' }))
    expect(left).toEqual({ firstName: {}, address: [{}] })
  })

  it('of values in a reference has the name of the reference only', () => {
    const record = { externalReferences: { hr: { Ada: 1 } } }
    expect(leftOf('people', record, settings('pseudonymised'))).toEqual({
      externalReferences: { hr: {} },
    })
  })

  it('of unknown fields depends on where their names begin', () => {
    const rules = [rule('a.b', 'hash'), rule('a', 'hash'), rule('a.b', 'hash')]
    const codes = ['{"a":{"b":"1"}}', '{"a.b":"1"}'].map((record) =>
      JSON.stringify(
        leftOf('people', record, settings('complete', { rules, unknownFields: 'keep' })),
      ),
    )
    expect(codes[0]).not.toContain(/[0-9a-f]{64}/.exec(codes[1] ?? '')?.[0] ?? 'no code')
  })
})

describe('a secret in an unknown value', () => {
  const clean = (value: unknown) =>
    leftOf('people', { data: value }, settings('without_secrets', { unknownFields: 'keep' }))[
      'data'
    ]

  it.each([
    [[{ name: 'pinCode', value: 'S' }], [{ name: 'pinCode' }]],
    [{ label: 'Rijksregisternr.', content: { text: 'S' } }, { label: 'Rijksregisternr.' }],
    [
      [
        ['badge', 'S'],
        ['size', 40],
      ],
      [['badge'], ['size', 40]],
    ],
    [{ a: [{ b: { key: 'IBAN', data: ['S'] } }, 1] }, { a: [{ b: { key: 'IBAN' } }, 1] }],
    // The service has names with translations.
    [
      { name: { default: 'Code', translations: { nl: 'Pincode' } }, value: 'S' },
      { name: { translations: { nl: 'Pincode' } } },
    ],
    [
      { definition: { id: 7, name: { default: 'IBAN' } }, value: 'S' },
      { definition: { name: { default: 'IBAN' } } },
    ],
    [{ fields: ['badge', 'size'], values: ['S', 40] }, { fields: ['badge'] }],
    [
      ['size', 40, 'badge', 'S', 'age', 5],
      ['size', 40, 'badge', 'age', 5],
    ],
  ])('that is a pair of name and value is left out: %j', (value, left) => {
    expect(clean(value)).toEqual(left)
  })

  it.each([
    ['{"pinCode":"S","size":40}', '{"size":40}'],
    ['[{"name":"pinCode","value":"S"}]', '[{"name":"pinCode"}]'],
    [JSON.stringify('{"note":{"iban":"S"}}'), JSON.stringify('{"note":{}}')],
    ['see {"pinCode": "S"', null],
    ['{"pinCod\u0065":"S",}', null],
    ['{"a":1}\n{"name":"pinCode","value":"S"}', null],
    ['[{"name":"IBAN", "value":"S', null],
  ])('that is in a text of JSON is left out: %s', (text, left) => {
    expect(clean(text)).toBe(left)
    expect(clean({ list: [text] })).toEqual({ list: [left] })
  })

  it('is not looked for in a text with more levels than a record may have, which is left out', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}"size"${']'.repeat(levels)}`
    expect([clean(nested(256)), clean(nested(5_000))]).toEqual([nested(256), null])
  })

  it('is found if its object has two members of that name', () => {
    const record = '{"data":{"a":{"pinCode":"S"},"a":1}}'
    const { rules } = redactionOfStream(
      stream('people'),
      settings('without_secrets', { unknownFields: 'keep' }),
    )
    expect(rewriteRecord(Buffer.from(record), rules as ObjectRules)).toBe('{"data":{"a":1}}')
  })

  it('is left out beside rules for members of the value', () => {
    const rules = [rule('*.note', 'drop')]
    const record = { data: { note: 1, list: [{ name: 'pinCode', value: 'S' }] } }
    expect(
      leftOf('people', record, settings('without_secrets', { rules, unknownFields: 'keep' })),
    ).toEqual({ data: { list: [{ name: 'pinCode' }] } })
  })

  it.each([
    [[{ name: 'pinCode', value: 'S' }], [{ name: 'pinCode' }]],
    [{ name: 'pinCode', value: 'S' }, { name: 'pinCode' }],
    ['{"pinCode":"a text of a known field"}', '{"pinCode":"a text of a known field"}'],
  ])('is found in an object or a list in place of a known text: %j', (lastName, left) => {
    const privacy = settings('without_secrets', { unknownFields: 'keep' })
    expect(leftOf('people', { lastName }, privacy)).toEqual({ lastName: left })
  })

  it('is found in a list in place of references', () => {
    const record = { externalReferences: [{ name: 'pinCode', value: 'S' }] }
    expect(
      leftOf('people', record, settings('without_secrets', { unknownFields: 'keep' })),
    ).toEqual({ externalReferences: [{ name: 'pinCode' }] })
  })

  it('leaves every other value as it is, with all digits', () => {
    const record = String.raw`{"data": {"n":[1.50,9007199254740993], "t":"say \"hi\": \u00e9"},"s":"{\"n\":1.0}"}`
    const { rules } = redactionOfStream(
      stream('people'),
      settings('without_secrets', { unknownFields: 'keep' }),
    )
    expect(rewriteRecord(Buffer.from(record), rules as ObjectRules)).toBe(record)
    const digits = '{"data":{"pin":1,"n":[1.50,9007199254740993,-1E+5],"t":"\uffff#1-"}}'
    expect(rewriteRecord(Buffer.from(digits), rules as ObjectRules)).toBe(
      '{"data":{"n":[1.50,9007199254740993,-1E+5],"t":"\uffff#1-"}}',
    )
  })
})
