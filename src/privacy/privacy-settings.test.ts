import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withId } from '../ground/message-ids.ts'
import type { FieldRule } from './field-patterns.ts'
import {
  leftOutReferences,
  type PrivacyMode,
  type PrivacySettings,
  parsePrivacySettings,
  ruleFaults,
  settingsFingerprint,
} from './privacy-settings.ts'

const LEAST = { tenant: 'Acme', personal_data: 'pseudonymised', field_rules: [] }
const KEY = 'Wq3-xkT9_mB7vZ2p'

it('accepts the key that the command in the documentation creates', () => {
  const page = readFileSync(new URL('../../docs/privacy.md', import.meta.url), 'utf8')
  const command = /```sh\n(.*)\n```/.exec(page)?.[1] ?? ''
  const made = () => execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim()
  const keys = [made(), made()]
  expect(new Set(keys).size).toBe(2)
  for (const privacy_key of keys)
    expect(parsePrivacySettings({ ...LEAST, privacy_key })).toMatchObject({
      pseudonyms: { key: privacy_key },
    })
})

it('includes the tenant in pseudonyms, unless they have to be equal across tenants', () => {
  const tenantOf = (more: object) =>
    (parsePrivacySettings({ ...LEAST, privacy_key: KEY, ...more }) as PrivacySettings).pseudonyms
      ?.tenant
  // Addresses ignore case, so it is the same tenant.
  expect(tenantOf({})).toBe('acme')
  expect(tenantOf({ pseudonyms_across_tenants: true })).toBeUndefined()
})

it('requires a key if anything is hashed', () => {
  const rules = [{ stream: 'people', path: 'x', rule: 'hash' }]
  expect(parsePrivacySettings(LEAST)).toMatch(/^privacy_key is missing: .* personal_data is/)
  expect(parsePrivacySettings({ ...LEAST, personal_data: 'minimal', field_rules: rules })).toMatch(
    /^privacy_key is missing: .* a rule of field_rules hashes/,
  )
})

describe('a field rule', () => {
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

  it('warns of a stream that matches none, and says which was meant', () => {
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

  it('accepts a rule that is meant for an unknown field', () => {
    const rule = { stream: 'people', path: 'shoeSize', rule: 'drop', unknown: true } as const
    expect(ruleFaults([rule])).toEqual([])
  })

  it.each(['drop', 'hash'] as const)('warns of a rule for the key or the version: %s', (rule) => {
    expect(ruleFaults([{ stream: 'people', path: 'id', rule }])).toEqual([
      'field_rules.0.path is id, which stays as it is in every record.',
    ])
  })

  it('accepts the rules in the documentation', () => {
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
    const settings = { mode, rules, unknownFields: 'keep', pseudonyms: undefined } as const
    return leftOutReferences(ASKED, settings).map(withId)
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
          `external_references names references that personal_data, ${mode}, leaves out of every record: ${names}. Name others, or keep them with field_rules. [reference-left-out]`,
      ),
    )
  })

  it.each([
    rule('absences', 'person.externalReferences.@badge-number', 'keep'),
    rule('people', 'externalReferences', 'keep'),
  ])('warns of no reference that a rule keeps in some record: %j', (kept) => {
    expect(asked('without_secrets', kept)).toEqual([])
  })

  it('warns of a secret that a rule hashes, because it is left out', () => {
    expect(asked('without_secrets', rule('*', '*.externalReferences', 'hash'))).toHaveLength(1)
  })
})

it('has another fingerprint than before keys were stretched, so that a warehouse is built anew', () => {
  const earlier = '0adb9b13cc2c92195c80566c7c4c43c593459f32868e9e029f7b65b9f5f8f7ea'
  const pseudonyms = { key: 'a-key-of-sixteen-characters', tenant: 'acme' }
  const settings = { mode: 'pseudonymised', pseudonyms, rules: [], unknownFields: 'drop' } as const
  expect(settingsFingerprint(settings)).not.toBe(earlier)
})
