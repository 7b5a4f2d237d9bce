import { expect, it } from 'vitest'
import type { Stream } from '../streams/collection.ts'
import { streams } from '../streams/streams.ts'
import type { PrivacyMode } from './privacy-settings.ts'
import { treatmentOfStream } from './treated-stream.ts'

function outcomes(stream: string, mode: PrivacyMode, fields: readonly string[]) {
  const settings = { mode, key: 'k'.repeat(16), rules: [], unknownFields: 'drop' } as const
  const treatment = treatmentOfStream(streams.get(stream) as Stream, settings)
  return fields.map((field) => treatment.outcomes.get(field))
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
