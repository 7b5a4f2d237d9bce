import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ObjectRules } from '../records/record-batch.ts'
import { rewriteRecord } from '../records/record-rules.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import type { Stream } from '../streams/collections.ts'
import { readStreamSchema, streams } from '../streams/streams.ts'
import {
  createPseudonyms,
  createUnknownFields,
  type FieldRule,
  isGuessable,
  leftOutReferences,
  namesSecret,
  type PrivacyMode,
  type PrivacySettings,
  parsePrivacySettings,
  privacyClassOf,
  ruleFaults,
} from './privacy-settings.ts'
import { redactionOfStream } from './redaction.ts'

const LEAST = { tenant: 'Acme', personal_data: 'pseudonymised', field_rules: [] }
const KEY = 'a-key-of-sixteen-characters'

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

const { of } = createPseudonyms({ key: KEY, tenant: 'acme' })
const pseudonym = of('people @employee-number')

describe('equal codes', () => {
  it('belong to a string and a number with the same text', () => {
    expect(pseudonym('42')).toBe(pseudonym('"42"'))
    expect(pseudonym('"042"')).not.toBe(pseudonym('42'))
  })

  it('belong to one string, however it is escaped', () => {
    expect(pseudonym('"\\u00e9"')).toBe(pseudonym('"é"'))
  })

  it('belong to one meaning, in every process', () => {
    const again = createPseudonyms({ key: KEY, tenant: 'acme' }).of('people @employee-number')
    expect(again('"42"')).toBe(pseudonym('"42"'))
  })

  it('belong to all tenants only if no tenant is given', () => {
    const inTenant = (tenant: string | undefined) =>
      createPseudonyms({ key: KEY, tenant }).of('people')('"42"')
    expect(new Set(['acme', 'other', undefined].map(inTenant)).size).toBe(3)
  })
})

it('gives equal values of different meanings different codes', () => {
  const meanings = ['people', 'people ', 'people @employee-number', 'people.mobile', 'acme people']
  expect(new Set(meanings.map((meaning) => of(meaning)('"1234"'))).size).toBe(meanings.length)
})

it('distinguishes numbers by every digit', () => {
  const numbers = ['9007199254740992', '9007199254740993', '1.10', '1.1']
  expect(new Set(numbers.map(pseudonym)).size).toBe(numbers.length)
})

it('keeps null and an empty string, which reveal nothing', () => {
  expect(['null', '""'].map(pseudonym)).toEqual(['null', '""'])
})

it('is a text of 64 letters and digits', () => {
  expect(pseudonym('true')).toMatch(/^"[0-9a-f]{64}"$/)
})

it.each(['aaaaaaaaaaaaaaaaaaaa', '                ', '1212121212121212', 'abcabcabcabcabcabc'])(
  'takes a key of few different characters for one that can be guessed: %s',
  (key) => {
    expect(isGuessable(key)).toBe(true)
  },
)

it('accepts no other key as guessable', () => {
  expect(isGuessable(KEY)).toBe(false)
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
})

describe('a name of a secret is found in any spelling', () => {
  it.each([
    ...[
      'pinCode',
      'PinCode',
      'pincode',
      'PINCODE',
      'pin_code',
      'Pin-Code',
      'pin code',
      'ｐｉｎＣｏｄｅ',
    ],
    ...['pin', 'PIN', 'terminal_pin', 'terminalPIN', 'PINHash', 'pin2', 'p_i_n', 'oldPinCode2'],
    ...['iban', 'IBAN', 'employeeIban', 'employeeiban', 'bank_account', 'bankAccountNumber'],
    ...['@badge-number', 'badge', 'BADGE_NUMBER', 'social security number', 'SSN', 'person.ssn'],
    ...['rijksregisternummer', 'niss', 'password', 'clientSecret', 'access_token', 'pi\u200bnCode'],
  ])('%s', (name) => {
    expect(namesSecret(name)).toBe(true)
  })
})

describe('a name that only contains its letters is not a secret', () => {
  it.each(['shippingDate', 'className', 'spinning', 'secretary', 'mapping', 'opinion', 'tokenize'])(
    '%s',
    (name) => {
      expect(namesSecret(name)).toBe(false)
    },
  )
})

function fieldsOf(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    [name, field] as [string, JsonSchema],
    ...fieldsOf(field.items ?? field),
  ])
}

it('agrees with the schemas on all of their fields', () => {
  const fields = [...streams.keys()].flatMap((stream) => fieldsOf(readStreamSchema(stream)))
  const contradictions = fields.filter(
    ([name, field]) => namesSecret(name) !== (privacyClassOf(field) === 'secret'),
  )
  expect(contradictions.map(([name]) => name)).toEqual([])
})

describe('a field that no schema knows', () => {
  it('names each field once in one sentence, with what happens to it', () => {
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

  it('is undefined if every field is known', () => {
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
})
