import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { rewriteRecord } from '../records/record-rewriter.ts'
import type { Stream } from '../streams/collection.ts'
import { streams } from '../streams/streams.ts'
import type { FieldRule, PrivacyMode, PrivacySettings } from './privacy-settings.ts'
import { createPseudonyms, redactionOf, redactionOfStream, yearOf } from './redaction.ts'

const text = (privacyClass: string, more = {}) => ({
  type: ['string', 'null'],
  'x-privacy': privacyClass,
  ...more,
})

const schema = {
  properties: {
    id: { type: 'integer', 'x-privacy': 'personal' },
    name: text('identifying', { description: 'Name.' }),
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
  '{"id":1,"name":"Ada","born":"1815-12-10","pay":1.50,"pin":42,"place":{"lat":"1","town":"x"},"references":{"@badge":"9"},"levels":[{"level":"1","note":"n"}],"new":true}'

function left(privacy: Partial<PrivacySettings>, unknown: string[] = []) {
  const redaction = redactionOf(schema, {
    mode: 'complete',
    key: 'k'.repeat(16),
    rules: [],
    unknownFields: 'keep',
    stream: 'people',
    fixed: ['id'],
    onUnknown: (name) => unknown.push(name),
    ...privacy,
  })
  const { rules } = redaction
  return {
    ...redaction,
    record: rules === undefined ? RECORD : rewriteRecord(Buffer.from(RECORD), rules),
  }
}

const rule = (path: string, action: FieldRule['rule'], stream = 'people') => ({
  stream,
  path,
  rule: action,
})

describe('a redaction', () => {
  it('does nothing to a stream of which everything stays', () => {
    expect(left({ mode: 'complete' })).toMatchObject({ rules: undefined, fingerprint: '' })
  })

  it('leaves out secrets, nested ones too, and nothing else', () => {
    expect(left({ mode: 'without_secrets' }).record).toBe(
      '{"id":1,"name":"Ada","born":"1815-12-10","pay":1.50,"place":{"lat":"1","town":"x"},"references":{"@badge":"9"},"levels":[{"level":"1"}],"new":true}',
    )
  })

  it('leaves out what is unknown when it is to, and tells of it', () => {
    const unknown: string[] = []
    const { record } = left({ mode: 'minimal', unknownFields: 'drop' }, unknown)
    expect(record).toBe('{"id":1,"levels":[{"level":"1"}]}')
    expect(unknown).toEqual(['new'])
  })

  it('makes pseudonyms, which are texts, and years', () => {
    const { record, schema: redacted } = left({ mode: 'pseudonymised' })
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(JSON.parse(record)).toMatchObject({
      name: hash,
      born: '1815-01-01',
      pin: hash,
      references: { '@badge': hash },
      pay: 1.5,
    })
    expect(redacted.properties).toMatchObject({
      name: { type: ['string', 'null'], description: 'Name. Replaced by a keyed hash.' },
      pin: { type: ['string', 'null'] },
      references: { type: ['object', 'null'] },
    })
  })

  it('takes exceptions, of which the last counts, for a field and for what is in it', () => {
    const rules = [
      rule('*', 'drop'),
      rule('name', 'keep', 'pe*'),
      rule('place.t*', 'keep'),
      rule('references.@badge', 'hash'),
      rule('levels', 'null'),
      rule('name', 'drop', 'clockings'),
    ]
    expect(JSON.parse(left({ rules }).record)).toEqual({
      id: 1,
      name: 'Ada',
      place: { town: 'x' },
      references: { '@badge': expect.stringMatching(/^[0-9a-f]{64}$/) },
      levels: null,
    })
  })

  it.each(['drop', 'null', 'hash'] as const)('keeps the key of records under a rule: %s', (all) => {
    expect(JSON.parse(left({ rules: [rule('*', all)] }).record)).toHaveProperty('id', 1)
  })

  it('says of two redactions whether they are the same', () => {
    const one = left({ mode: 'pseudonymised' }).fingerprint
    expect(left({ mode: 'pseudonymised' }).fingerprint).toBe(one)
    const others = [
      left({ mode: 'pseudonymised', key: 'another-key-of-mine' }),
      left({ mode: 'pseudonymised', unknownFields: 'drop' }),
      left({ mode: 'pseudonymised', rules: [rule('new', 'drop')] }),
      left({ mode: 'minimal' }),
    ]
    expect(new Set([one, ...others.map(({ fingerprint }) => fingerprint)]).size).toBe(5)
  })

  it('has no classes in the schema of what is left', () => {
    expect(JSON.stringify(left({ mode: 'minimal' }).schema)).not.toContain('x-privacy')
  })
})

const KEY = 'a-key-of-sixteen-characters'
const pseudonym = createPseudonyms(KEY)
const hmac = (text: string) => createHmac('sha256', KEY).update(text).digest('hex')

it('gives a text and a number that are written alike the same pseudonym', () => {
  expect([pseudonym('"042"'), pseudonym('42'), pseudonym('"42"')]).toEqual(
    ['042', '42', '42'].map((text) => JSON.stringify(hmac(text))),
  )
})

it('knows a text by what it says, however it is escaped', () => {
  expect(pseudonym('"\\u00e9"')).toBe(pseudonym('"é"'))
})

it('leaves null and an empty text, which tell nothing', () => {
  expect(['null', '""'].map(pseudonym)).toEqual(['null', '""'])
})

it('replaces each value in an object or a list', () => {
  expect(JSON.parse(pseudonym('{"a":["x",null,{"b":1}]}'))).toEqual({
    a: [hmac('x'), null, { b: hmac('1') }],
  })
})

it.each([
  ['"1980-05-17"', '"1980-01-01"'],
  ['"1980-05-17T00:00:00"', '"1980-01-01"'],
  ['"17 May"', 'null'],
  ['null', 'null'],
  ['1980', 'null'],
])('cuts %s to %s', (json, year) => {
  expect(yearOf(json)).toBe(year)
})

function outcomes(stream: string, mode: PrivacyMode, fields: readonly string[]) {
  const settings = { mode, key: 'k'.repeat(16), rules: [], unknownFields: 'drop' } as const
  const redaction = redactionOfStream(streams.get(stream) as Stream, settings)
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
