import { expect, it } from 'vitest'
import type { ObjectRules } from '../records/record-batch.ts'
import { rewriteRecord } from '../records/record-rewriter.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import type { PrivacySettings } from './privacy-settings.ts'
import { createUnknownFields, redactionOfStream } from './redaction.ts'

it('names each field once in one sentence, with what becomes of it', () => {
  const fields = createUnknownFields()
  const [people, clockings] = [fields.of('people'), fields.of('clockings')]
  people('shoeSize', false)
  clockings('note', false)
  people('iban', true)
  people('shoeSize', false)
  expect(fields.sentence()).toBe(
    'The service sends fields that the schemas do not know; they may be personal data. They are passed on: clockings.note, people.shoeSize. They are left out: people.iban. The settings unknown_fields and field_rules decide.',
  )
})

it('has nothing to say where every field is known', () => {
  expect(createUnknownFields().sentence()).toBeUndefined()
})

it('names a hundred of a service that sends a new field in each record', () => {
  const fields = createUnknownFields()
  for (let i = 0; i < 1000; i++) fields.of('people')(`f${i}`, false)
  const sentence = fields.sentence() ?? ''
  expect(sentence.match(/people\.f\d+/g)).toHaveLength(100)
  expect(sentence).toContain(' and more.')
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
