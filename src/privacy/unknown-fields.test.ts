import { describe, expect, it } from 'vitest'
import { createUnknownFields } from './unknown-fields.ts'

describe('a field that no schema knows', () => {
  it('names each field once in one sentence, with what happens to it', () => {
    const fields = createUnknownFields()
    const [people, clockings] = [fields.of('people'), fields.of('clockings')]
    people('shoeSize', false)
    clockings('note', false)
    people('iban', true)
    people('shoeSize', false)
    expect(fields.warning()).toEqual({
      id: 'unknown-fields',
      message:
        'The service sends fields that the schemas do not know; they may be personal data. They are passed on: clockings.note, people.shoeSize. They are left out: people.iban. The settings unknown_fields and field_rules decide.',
    })
  })

  it('is undefined if every field is known', () => {
    expect(createUnknownFields().warning()).toBeUndefined()
  })

  it('names 500 of a service that sends a new field in each record', () => {
    const fields = createUnknownFields()
    for (let i = 0; i < 1000; i++) fields.of('people')(`f${i}`, false)
    const sentence = fields.warning()?.message ?? ''
    expect(sentence.match(/people\.f\d+/g)).toHaveLength(500)
    expect(sentence).toContain(' and more than 500 in all.')
  })
})
