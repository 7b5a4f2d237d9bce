import { describe, expect, it } from 'vitest'
import { rewriteRecord } from '../protocol/record-rewriter.ts'
import type { FieldRule, PrivacySettings } from './privacy-settings.ts'
import { treatmentOf } from './treatment.ts'

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
  const treatment = treatmentOf(schema, {
    mode: 'complete',
    key: 'k'.repeat(16),
    rules: [],
    unknownFields: 'keep',
    stream: 'people',
    fixed: ['id'],
    onUnknown: (name) => unknown.push(name),
    ...privacy,
  })
  const { rules } = treatment
  return {
    ...treatment,
    record: rules === undefined ? RECORD : rewriteRecord(Buffer.from(RECORD), rules),
  }
}

const rule = (path: string, action: FieldRule['rule'], stream = 'people') => ({
  stream,
  path,
  rule: action,
})

describe('a treatment', () => {
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
    const { record, schema: treated } = left({ mode: 'pseudonymised' })
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(JSON.parse(record)).toMatchObject({
      name: hash,
      born: '1815-01-01',
      pin: hash,
      references: { '@badge': hash },
      pay: 1.5,
    })
    expect(treated.properties).toMatchObject({
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

  it('says of two treatments whether they are the same', () => {
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
