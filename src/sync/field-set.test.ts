import { expect, it } from 'vitest'
import { addedFields, writeFields } from './field-set.ts'

const FEW = ['id', 'name', 'person.id']

it.each([
  ['the same fields', FEW, FEW.toReversed()],
  ['fewer fields', FEW, ['id']],
  ['some of all fields', undefined, FEW],
  ['all fields again', undefined, undefined],
])('no field is added by %s', (_, before, now) => {
  expect(addedFields(writeFields(before), now)).toBeUndefined()
})

it('a field is added that was not there before', () => {
  expect(addedFields(writeFields(FEW), [...FEW, 'person.name', 'town'])).toEqual([
    'person.name',
    'town',
  ])
})

it('fields that no schema knows are added where some were before', () => {
  expect(addedFields(writeFields(FEW), undefined)).toEqual(['every other field'])
})

it('nothing is said of a state of before, which does not tell its fields', () => {
  expect(addedFields(null, FEW)).toBeUndefined()
})
