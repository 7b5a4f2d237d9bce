import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { FieldRule, PrivacyMode } from './privacy-settings.ts'
import { leftOutReferences, ruleFaults } from './rule-faults.ts'

const of = (stream: string, path: string) => ruleFaults([{ stream, path, rule: 'drop' }])

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
    'field_rules.0.stream is clocking, which matches no stream; did you mean clockings?',
  ])
})

it.each([
  ['people', 'lastname', '; did you mean lastName?'],
  ['clockings', 'geolocation.lattitude', '; did you mean geolocation.latitude?'],
  ['people', 'surname', '.'],
])(
  'warns of a path that no known field fits, and says which was meant: %s %s',
  (stream, path, meant) => {
    expect(of(stream, path)).toEqual([
      `field_rules.0.path is ${path}, which matches no field that the schema of ${stream} knows${meant} For a field that the service has added, set "unknown": true.`,
    ])
  },
)

it('takes a rule that is meant for an unknown field', () => {
  const rule = { stream: 'people', path: 'shoeSize', rule: 'drop', unknown: true } as const
  expect(ruleFaults([rule])).toEqual([])
})

it.each(['drop', 'hash'] as const)('warns of a rule for what tells records apart: %s', (rule) => {
  expect(ruleFaults([{ stream: 'people', path: 'id', rule }])).toEqual([
    'field_rules.0.path is id, which stays as it is in every record.',
  ])
})

it('has nothing to say of the rules in the documentation', () => {
  const page = readFileSync(new URL('../../docs/privacy.md', import.meta.url), 'utf8')
  const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? '') as {
    field_rules: FieldRule[]
  }
  expect(example.field_rules).not.toEqual([])
  expect(ruleFaults(example.field_rules)).toEqual([])
})

const ASKED = [
  { collection: 'people', names: ['@badge-number', 'payroll'] },
  { collection: 'shift-definitions', names: ['@shift-code'] },
]

function asked(mode: PrivacyMode, ...rules: readonly FieldRule[]): string[] {
  return leftOutReferences(ASKED, { mode, rules, unknownFields: 'keep', pseudonyms: undefined })
}

const rule = (stream: string, path: string, action: FieldRule['rule']) => ({
  stream,
  path,
  rule: action,
})

it.each([
  ['complete', []],
  ['without_secrets', ['@badge-number of people']],
  ['pseudonymised', ['@badge-number of people']],
  ['minimal', ['@badge-number of people, payroll of people, @shift-code of shift-definitions']],
] as const)('warns once of references that are asked for and left out: %s', (mode, named) => {
  expect(asked(mode)).toEqual(
    named.map(
      (names) =>
        `external_references names references that personal_data, ${mode}, leaves out of every record: ${names}. Name others, or keep them with field_rules.`,
    ),
  )
})

it.each([
  rule('absences', 'person.externalReferences.@badge-number', 'keep'),
  rule('*', 'externalReferences', 'keep'),
])('warns of no reference that a rule keeps in some record: %j', (kept) => {
  expect(asked('without_secrets', kept)).toEqual([])
})

it('warns of a secret that a rule hashes, because it is left out', () => {
  expect(asked('without_secrets', rule('*', '*.externalReferences', 'hash'))).toHaveLength(1)
})
