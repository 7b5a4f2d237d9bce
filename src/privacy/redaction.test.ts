import { describe, expect, it } from 'vitest'
import type { ObjectRules } from '../records/record-batch.ts'
import { rewriteRecord } from '../records/record-rules.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import type { PrivacyMode, PrivacySettings } from './privacy-settings.ts'
import { type RedactionSettings, redactionOf, redactionOfStream, yearOf } from './redaction.ts'
import { leftOf, PSEUDONYMS, rule, settings, stream } from './testing/left-of.ts'

const text = (privacyClass: string, more = {}) => ({
  type: ['string', 'null'],
  'x-privacy': privacyClass,
  ...more,
})

const schema = {
  properties: {
    id: { type: 'integer', 'x-privacy': 'personal' },
    name: text('identifying', { description: 'Name.', 'x-view': 'date' }),
    born: text('identifying', { format: 'date' }),
    pay: { type: ['number', 'null'], 'x-privacy': 'sensitive' },
    pin: { type: ['integer', 'null'], 'x-privacy': 'secret' },
    place: {
      type: ['object', 'null'],
      'x-privacy': 'sensitive',
      properties: { lat: text('sensitive'), town: text('sensitive') },
    },
    references: { type: ['object', 'null'], 'x-privacy': 'identifying' },
    levels: {
      type: ['array', 'null'],
      'x-privacy': 'none',
      items: { 'x-privacy': 'none', properties: { level: text('none'), note: text('secret') } },
    },
  },
}

const RECORD =
  '{"id":1,"name":"Ada","born":"1815-12-10","pay":1.50,"pin":42,"place":{"lat":"1","town":"x"},"references":{"@hr":"9"},"levels":[{"level":"1","note":"n"}],"new":true}'

function left(privacy: Partial<RedactionSettings>, unknown: string[] = []) {
  const redaction = redactionOf(schema, {
    mode: 'complete',
    pseudonyms: PSEUDONYMS,
    rules: [],
    unknownFields: 'keep',
    stream: 'people',
    fixed: ['id'],
    onUnknown: (name, isLeftOut) => unknown.push(`${name} ${isLeftOut ? 'is left out' : 'stays'}`),
    ...privacy,
  })
  const { rules } = redaction
  return {
    ...redaction,
    record: rules === undefined ? RECORD : rewriteRecord(Buffer.from(RECORD), rules),
  }
}

describe('a redaction', () => {
  it('does nothing to a stream that is kept completely, unless unknown fields have to be reported', () => {
    const untold = left({ mode: 'complete', onUnknown: undefined })
    expect(untold).toMatchObject({ rules: undefined, fingerprint: '' })
    expect(left({ mode: 'complete' })).toMatchObject({ record: RECORD, fingerprint: '' })
  })

  it('leaves out secrets, including nested ones, and nothing else', () => {
    expect(left({ mode: 'without_secrets' }).record).toBe(
      '{"id":1,"name":"Ada","born":"1815-12-10","pay":1.50,"place":{"lat":"1","town":"x"},"references":{"@hr":"9"},"levels":[{"level":"1"}],"new":true}',
    )
  })

  it('leaves out unknown fields if it has to, and reports them', () => {
    const unknown: string[] = []
    const { record } = left({ mode: 'minimal', unknownFields: 'drop' }, unknown)
    expect(record).toBe('{"id":1,"levels":[{"level":"1"}]}')
    expect(unknown).toEqual(['new is left out'])
  })

  it('replaces values by pseudonyms, which are strings, and dates by years', () => {
    const { record, schema: redacted } = left({ mode: 'pseudonymised' })
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(JSON.parse(record)).toMatchObject({
      name: hash,
      born: '1815-01-01',
      references: { '@hr': hash },
      pay: 1.5,
    })
    expect(JSON.parse(record)).not.toHaveProperty('pin')
    expect(redacted.properties).toMatchObject({
      name: { type: ['string', 'null'], description: 'Name. Replaced by a keyed hash.' },
      references: { type: ['object', 'null'] },
    })
    expect(redacted.properties?.['name']).not.toHaveProperty('x-view')
  })

  it('applies exceptions, of which the last one counts, to a field and its members', () => {
    const rules = [
      rule('*', 'drop'),
      rule('name', 'keep', 'pe*'),
      rule('place.t*', 'keep'),
      rule('references.@hr', 'hash'),
      rule('levels', 'null'),
      rule('name', 'drop', 'clockings'),
    ]
    expect(JSON.parse(left({ rules }).record)).toEqual({
      id: 1,
      name: 'Ada',
      place: { town: 'x' },
      references: { '@hr': expect.stringMatching(/^[0-9a-f]{64}$/) },
      levels: null,
    })
  })

  it('does not apply a rule for members of objects to a value without members', () => {
    const inside = [rule('*.id', 'keep')]
    const [plain, ruled] = [
      left({ mode: 'pseudonymised' }),
      left({ mode: 'pseudonymised', rules: inside }),
    ]
    expect(ruled.record).toBe(plain.record)
    expect(ruled.schema).toEqual(plain.schema)
    const minimal = JSON.parse(left({ mode: 'minimal', rules: inside }).record)
    expect(Object.keys(minimal)).toEqual(['id', 'place', 'references', 'levels', 'new'])
  })

  it.each(['drop', 'null', 'hash'] as const)('keeps the key of records under a rule: %s', (all) => {
    expect(JSON.parse(left({ rules: [rule('*', all)] }).record)).toHaveProperty('id', 1)
  })

  it('has equal fingerprints for redactions with the same effect', () => {
    const one = left({ mode: 'pseudonymised' }).fingerprint
    expect(left({ mode: 'pseudonymised' }).fingerprint).toBe(one)
    const others = [
      left({ mode: 'pseudonymised', pseudonyms: { ...PSEUDONYMS, key: 'zP4!dR8@uY6#cN1%' } }),
      left({ mode: 'pseudonymised', pseudonyms: { ...PSEUDONYMS, tenant: 'other' } }),
      left({ mode: 'pseudonymised', unknownFields: 'drop' }),
      left({ mode: 'pseudonymised', rules: [rule('new', 'drop')] }),
      left({ mode: 'minimal' }),
    ]
    expect(new Set([one, ...others.map(({ fingerprint }) => fingerprint)]).size).toBe(6)
  })

  it('has neither classes nor meanings in the remaining schema', () => {
    const { schema } = redactionOfStream(stream('people'), settings('pseudonymised'))
    expect(JSON.stringify(schema)).not.toMatch(/x-privacy|x-meaning/)
  })
})

it.each([
  ['"1980-05-17"', '"1980-01-01"'],
  ['"1980-05-17T00:00:00"', '"1980-01-01"'],
  [String.raw`"\u0031980\u002d05-17"`, '"1980-01-01"'],
  ['"17 May"', 'null'],
  ['null', 'null'],
  ['1980', 'null'],
])('cuts %s to %s', (json, year) => {
  expect(yearOf(json)).toBe(year)
})

function outcomes(name: string, mode: PrivacyMode, fields: readonly string[]) {
  const redaction = redactionOfStream(stream(name), settings(mode))
  return fields.map((field) => redaction.outcomes.get(field))
}

const ADDRESS = ['address', 'postalCode', 'town']
const COUNTRY = ['countryISOCode', 'countryIsoCode']

it('leaves nothing of the home address in minimal', () => {
  const left = outcomes('people', 'minimal', [...ADDRESS, ...COUNTRY])
  expect(new Set(left)).toEqual(new Set(['drop']))
})

it('hashes the home address in pseudonymised, except for the country', () => {
  expect(outcomes('people', 'pseudonymised', ADDRESS)).toEqual(['hash', 'hash', 'hash'])
  expect(outcomes('people', 'pseudonymised', COUNTRY)).toEqual([undefined, undefined])
})

it.each([
  ['minimal', 'drop'],
  ['pseudonymised', 'hash'],
] as const)('passes no free text on in %s', (mode, outcome) => {
  expect(outcomes('assignments', mode, ['comments'])).toEqual([outcome])
})

describe('pseudonyms', () => {
  const pseudonymised = settings('pseudonymised')

  it('of the employee number equal those of its reference, in every stream', () => {
    const references = { '@employee-number': '1234', hr: '1234' }
    const person = { id: 1, employeeNumber: '1234', externalReferences: references }
    const clocking = { id: 2, person: { id: 1, externalReferences: references } }
    const ofPerson = leftOf('people', person, pseudonymised)
    const ofClocking = leftOf('clockings', clocking, pseudonymised)
    expect(ofClocking).toMatchObject({
      person: {
        externalReferences: {
          '@employee-number': ofPerson['employeeNumber'],
          hr: ofPerson.externalReferences?.['hr'],
        },
      },
    })
  })

  it('of a custom reference equal those in the stream external_references', () => {
    const reference = { collection: 'people', name: 'hr', value: 'E-7', internalReference: '1' }
    const record = { id: 1, externalReferences: { hr: 'E-7' } }
    expect(leftOf('external_references', reference, pseudonymised)['value']).toBe(
      leftOf('people', record, pseudonymised).externalReferences?.['hr'],
    )
  })

  it('of equal digits differ if they mean something else', () => {
    const references = { '@employee-number': '1234', hr: '1234', payroll: '1234' }
    const person = { mobile: '1234', telephone: '1234', passportNumber: '1234' }
    const left = [
      leftOf(
        'people',
        { ...person, employeeNumber: '1234', externalReferences: references },
        pseudonymised,
      ),
      leftOf('contracts', { externalReferences: { hr: '1234' } }, pseudonymised),
      leftOf('assignments', { comments: '1234' }, pseudonymised),
    ]
    const codes = JSON.stringify(left).match(/[0-9a-f]{64}/g) ?? []
    // The employee number is a reference, too.
    expect([codes.length, new Set(codes).size]).toEqual([9, 8])
  })

  it('of numbers in an object depend on all of their digits', () => {
    const record = '{"externalReferences":{"hr":[9007199254740992,9007199254740993,1.0,1]}}'
    const { externalReferences } = leftOf('people', record, pseudonymised)
    expect(new Set(externalReferences?.['hr'] as string[]).size).toBe(4)
  })

  it('are never made of PIN codes, badges and accounts, because they could be found by trying', () => {
    const { rules } = redactionOfStream(stream('people'), pseudonymised)
    const codes = new Map<string, number>()
    const people = Array.from({ length: 10_000 }, (_, i) => {
      const [pinCode, badgeNumber] = [(i * 7919) % 10_000, String((i * 104_729) % 10_000)]
      const person = {
        id: i,
        employeeNumber: String(i),
        pinCode,
        badgeNumber,
        bankAccount: `BE${i}`,
      }
      const text = rewriteRecord(Buffer.from(JSON.stringify(person)), rules as ObjectRules)
      const left = JSON.parse(text) as Record<string, unknown>
      codes.set(left['employeeNumber'] as string, i)
      return left
    })
    expect(codes.size).toBe(10_000)
    const found = people.filter(({ employeeNumber, ...others }) =>
      Object.values(others).some((value) => codes.has(String(value))),
    )
    expect(found).toEqual([])
    expect(new Set(people.flatMap(Object.keys))).toEqual(new Set(['id', 'employeeNumber']))
  })

  it('of a secret are not made by a rule, either', () => {
    const rules = [rule('*', 'hash')]
    const left = leftOf(
      'people',
      { pinCode: 1, lastName: 'A', pin: '2', kin: { iban: 'B', name: 'C' } },
      settings('complete', { rules, unknownFields: 'keep' }),
    )
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(left).toEqual({ lastName: hash, kin: {} })
  })
})

describe('secrets', () => {
  const SPELLINGS = [
    'PinCode',
    'pincode',
    'PIN_CODE',
    'pin-code',
    'pin code',
    'iban',
    '@badge-number',
  ]

  it.each(['without_secrets', 'pseudonymised', 'minimal'] as const)(
    'are left out by %s in any spelling, at any depth, of known and unknown fields',
    (mode) => {
      const secrets = Object.fromEntries(SPELLINGS.map((name) => [name, 'SECRET']))
      const record = {
        ...secrets,
        data: { ...secrets, list: [[{ ...secrets, deeper: { ...secrets } }]] },
        terminalGroup: { id: 1, ...secrets, more: secrets },
        externalReferences: secrets,
        payGroup: { code: 'A', ...secrets },
        birthDate: secrets,
        lastName: [secrets],
      }
      const left = leftOf('people', record, settings(mode, { unknownFields: 'keep' }))
      expect(JSON.stringify(left)).not.toContain('SECRET')
      expect(left).toMatchObject({ data: { list: [[{ deeper: {} }]] }, terminalGroup: { id: 1 } })
    },
  )

  it('stay in complete, and if a rule keeps them', () => {
    const record = { pinCode: 1, kin: { iban: 'B' } }
    expect(leftOf('people', record, settings('complete', { unknownFields: 'keep' }))).toEqual(
      record,
    )
    const rules = [rule('pinCode', 'keep'), rule('kin', 'keep')]
    expect(leftOf('people', record, settings('minimal', { rules }))).toEqual(record)
  })

  it('are not in the stream of references, unless its values are kept', () => {
    const reference = { collection: 'people', name: 'IBAN', value: 'BE1', internalReference: '1' }
    expect(leftOf('external_references', reference, settings('without_secrets'))).toEqual({})
    const rules = [rule('value', 'keep', 'external_references')]
    expect(leftOf('external_references', reference, settings('minimal', { rules }))).toEqual(
      reference,
    )
  })
})

describe('a field that is not in the schema', () => {
  it('is a known field if only the spelling differs', () => {
    const record = { LASTNAME: 'A', first_name: 'B', birthdate: '1980-05-17', Pay_Group: 'C' }
    const left = leftOf('people', record, settings('minimal', { unknownFields: 'keep' }))
    expect(left).toEqual({ Pay_Group: 'C' })
  })

  it('follows a rule for the field that it is a spelling of, if that comes after a broader one', () => {
    const record = { lastname: 'A', PIN_CODE: 1, firstname: 'B' }
    const rules = [
      { stream: 'people', path: '*', rule: 'keep' },
      { stream: 'people', path: 'lastName', rule: 'drop' },
      { stream: 'people', path: 'pinCode', rule: 'drop' },
    ] as const
    expect(leftOf('people', record, settings('minimal', { rules }))).toEqual({ firstname: 'B' })
    const swapped = settings('minimal', { rules: rules.toReversed() })
    expect(leftOf('people', record, swapped)).toEqual({ lastname: 'A', firstname: 'B' })
  })

  it('is also a string in place of an object, or an object in place of a string', () => {
    const record = { person: 'Ada', kind: { name: 'Ada' }, status: 'Auto' }
    expect(leftOf('clockings', record, settings('minimal'))).toEqual({
      person: null,
      kind: {},
      status: 'Auto',
    })
  })

  it.each([
    ['keep', 'stays'],
    ['drop', 'is left out'],
  ] as const)('is told where unknown_fields is %s, in every object', (unknownFields, fate) => {
    for (const mode of ['complete', 'without_secrets', 'minimal'] as const) {
      const told: string[] = []
      const { rules } = redactionOfStream(
        stream('people'),
        settings(mode, { unknownFields, rules: [rule('decided', 'keep')] }),
        (name, isLeftOut) => told.push(`${name} ${isLeftOut ? 'is left out' : 'stays'}`),
      )
      const record = '{"id":1,"shoeSize":40,"decided":1,"terminalGroup":{"id":1,"name":"x"}}'
      rewriteRecord(Buffer.from(record), rules as ObjectRules)
      expect(told, mode).toEqual([`shoeSize ${fate}`, `terminalGroup.name ${fate}`])
    }
  })

  it.each<[more: Partial<PrivacySettings>, expected: object]>([
    [{}, { nl: 'Bureau', fr: {}, de: [{}, 'x'] }],
    [
      { rules: [{ stream: 'jobs', path: 'name.translations.fr.note', rule: 'keep' }] },
      { nl: 'Bureau', fr: { note: 'Ada' }, de: [{}, 'x'] },
    ],
    [
      { rules: [{ stream: 'jobs', path: 'name.translations', rule: 'keep' }] },
      { nl: 'Bureau', fr: { note: 'Ada' }, de: [{ note: 'Ada' }, 'x'] },
    ],
    [{ unknownFields: 'keep' }, { nl: 'Bureau', fr: { note: 'Ada' }, de: [{ note: 'Ada' }, 'x'] }],
  ])(
    'takes the members of an object among the texts of a map for unknown ones, under %j',
    (more, expected) => {
      const translations = { nl: 'Bureau', fr: { note: 'Ada' }, de: [{ note: 'Ada' }, 'x'] }
      const settings = {
        mode: 'minimal',
        pseudonyms: undefined,
        rules: [],
        unknownFields: 'drop',
      } as const
      const { rules } = redactionOfStream(streams.get('jobs') as Stream, { ...settings, ...more })
      const record = Buffer.from(JSON.stringify({ id: 1, name: { translations } }))
      expect(JSON.parse(rewriteRecord(record, rules as ObjectRules))).toEqual({
        id: 1,
        name: { translations: expected },
      })
    },
  )
})
