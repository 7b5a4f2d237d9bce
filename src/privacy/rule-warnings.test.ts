import { expect, it } from 'vitest'
import { ruleWarnings } from './rule-warnings.ts'

const of = (stream: string, path: string) => ruleWarnings([{ stream, path, rule: 'drop' }])

it.each([
  ['people', 'lastName'],
  ['*', 'person.externalReferences'],
  ['cl*', 'geolocation.*'],
  ['people', 'externalReferences.@badge-number'],
  ['activity_durations', 'activityLevels.level'],
])('%s %s fits something', (stream, path) => {
  expect(of(stream, path)).toEqual([])
})

it('warns of a stream that nothing fits, and says which was meant', () => {
  expect(of('clocking', 'kind')).toEqual([
    'field_rules.0.stream is clocking, which fits no stream; did you mean clockings?',
  ])
})

it('warns of a path that no known field fits', () => {
  expect(of('people', 'lastname')).toEqual([
    'field_rules.0.path is lastname, which fits no field that the schema of people knows; it counts for unknown fields only.',
  ])
})

it('warns of a rule that leaves out what tells records apart', () => {
  expect(of('people', 'id')).toEqual(['field_rules.0.path is id, which stays in every record.'])
})
