import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withId } from '../ground/message-ids.ts'
import { configure, configureFile, parseConfig } from './config.ts'
import { configWarnings } from './config-faults.ts'
import { custom, faultsOf, type Json, LEAST, SECRET } from './testing/least-config.ts'
import { parseWriteSettings } from './write-settings.ts'

describe('a fault', () => {
  const named = (key: string, value: unknown): Json => ({ ...LEAST, [key]: value })

  it.each<[string, unknown, string]>([
    ['no object', 'x', 'It must be an object; it is a text.'],
    ['null', null, 'It must be an object; it is null.'],
    ['a list', [], 'It must be an object; it is a list.'],
    ['a tenant of another type', named('tenant', 5), 'tenant must be a text; it is 5.'],
    [
      'an address as tenant',
      named('tenant', 'acme.eu'),
      'tenant must have the form: letters, digits and hyphens.',
    ],
    ['an empty secret', named('client_secret', ''), 'client_secret is empty.'],
    [
      'a privacy key that can be guessed',
      named('privacy_key', 'short'),
      'privacy_key must have 16 characters or more.',
    ],
    [
      'a privacy key of few different characters',
      named('privacy_key', 'abababababababababab'),
      'privacy_key has too few different characters and can be guessed; docs/privacy.md has a command that creates one.',
    ],
    ['no environment', named('environment', null), 'environment must be an object; it is null.'],
    ['an environment without a type', named('environment', {}), 'environment.type is missing.'],
    [
      'an unknown environment',
      named('environment', { type: 'test' }),
      'environment.type must be one of production, sandbox, custom.',
    ],
    [
      'an environment that is mistyped',
      named('environment', { type: 'producton' }),
      'environment.type must be one of production, sandbox, custom; did you mean production?',
    ],
    [
      'an address as domain',
      custom({ environment_url: 'https://time.test' }),
      'environment.environment_url must have the form: a domain name without https://.',
    ],
    [
      'a domain with a port that does not exist',
      custom({ environment_url: 'time.test:99999' }),
      'environment.environment_url is not the domain of an address.',
    ],
    [
      'no domain and one address',
      custom({ base_url: 'https://a.test' }),
      'environment.environment_url is missing: give it, or both environment.base_url and environment.auth_url.',
    ],
    [
      'the token service of another tenant',
      custom({ base_url: 'https://a.test', auth_url: 'https://b.test/tenants/other/' }),
      'tenant is acme, but environment.auth_url is the token service of the tenant other. Correct one of them.',
    ],
    [
      'an address without https',
      custom({ base_url: 'a.test', auth_url: 'https://b.test' }),
      'environment.base_url must have the form: https://host[:port].',
    ],
    [
      'an address that is none',
      custom({ base_url: 'https://a.test:99999', auth_url: 'https://b.test' }),
      'environment.base_url is not an address.',
    ],
    [
      'a date of another form',
      named('start_date', '1-1-2025'),
      'start_date must have the form: YYYY-MM-DD; it is "1-1-2025".',
    ],
    [
      'a day that no calendar has',
      named('start_date', '2025-02-29'),
      'start_date is not a valid date: 2025-02-29.',
    ],
    [
      'a month that no calendar has',
      named('start_date', '2025-13-01'),
      'start_date is not a valid date: 2025-13-01.',
    ],
    [
      'a day before any record',
      named('start_date', '0001-01-01'),
      'start_date must be 1970-01-01 or later; it is 0001-01-01.',
    ],
    [
      'a number below its bound',
      named('concurrency', 0),
      'concurrency must be a number from 1 to 32; it is 0.',
    ],
    [
      'a number above its bound',
      named('window_days', 366),
      'window_days must be a number from 1 to 365; it is 366.',
    ],
    [
      'a fraction',
      named('future_days', 1.5),
      'future_days must be a whole number from 0 to 3650; it is 1.5.',
    ],
    [
      'a number as text',
      named('requests_per_minute', '60'),
      'requests_per_minute must be a number from 1 to 100000; it is the text "60".',
    ],
    [
      'a reference without names',
      named('external_references', [{ collection: 'people', names: [] }]),
      'external_references.0.names is empty.',
    ],
    [
      'a switch as text',
      named('emit_activate_version_messages', 'no'),
      'emit_activate_version_messages must be true or false; it is the text "no".',
    ],
    [
      'a company of many words',
      named('company', 'x'.repeat(101)),
      'company is longer than 100 characters.',
    ],
    [
      'references of a collection that is mistyped',
      named('external_references', [{ collection: 'peple', names: ['x'] }]),
      'external_references.0.collection is peple, which is not a collection with references; did you mean people?',
    ],
    [
      'references of a collection without them',
      named('external_references', [{ collection: 'clockings', names: ['x'] }]),
      expect.stringMatching(
        /clockings, which is not .* choose one of absence-definitions, .*people/,
      ),
    ],
    [
      'a structure without a level',
      named('activity_structures', [{ structure_version_id: 'a' }]),
      'activity_structures.0.level is missing.',
    ],
  ])('is told in one sentence: %s', (_, input, sentence) => {
    expect(faultsOf(input)).toEqual(sentence)
  })

  it('does not hide another', () => {
    expect(faultsOf({ environment: { type: 'production' }, concurrency: 0 })).toBe(
      'tenant is missing. client_id is missing. client_secret is missing. concurrency must be a number from 1 to 32; it is 0.',
    )
  })

  it.each([
    { ...LEAST, client_secret: { nested: SECRET } },
    { ...LEAST, client_secret: [SECRET] },
    { ...LEAST, client_secret: 123456 },
    { ...LEAST, tenant: `${SECRET}!` },
    { ...LEAST, start_date: SECRET },
    { ...LEAST, environment: { type: SECRET } },
    { ...LEAST, environment: SECRET },
    custom({ base_url: `https://u:${SECRET}@a.test`, auth_url: 'https://b.test' }),
    custom({ base_url: `ftp://${SECRET}`, auth_url: 'https://b.test' }),
  ])('never repeats a value (%#)', (input) => {
    expect(faultsOf(input)).not.toMatch(/never-show-this|123456/)
  })
})

it('the settings of the writer have defaults, and do not change those of the reader', () => {
  expect(parseWriteSettings({ tenant: 'acme', environment: { type: 'production' } })).toEqual({
    relink: true,
    missingFields: 'keep',
    mirror: false,
    maxDeletes: { percent: 20 },
    maxRejected: 0,
    dryRun: false,
    jobCategoryReference: undefined,
    workLocationReference: undefined,
    rejectedRecords: undefined,
  })
})

it.each([
  [{ missing_fields: 'kept' }, /missing_fields must be one of keep, empty/],
  [{ max_rejected: -1 }, /max_rejected must be a number from 0/],
  [{ max_deletes: '1.5' }, /max_deletes must have the form: a whole number, or one with %/],
  [{ relink: 'yes' }, /relink must be true or false/],
  [{ job_category_reference: '@x' }, /job_category_reference must have the form/],
])('%j is a fault', (input, message) => {
  expect(() => parseWriteSettings(input)).toThrow(message)
})

it.each([
  ['DEPLOYMENT_MODE', 'cloud'],
  ['PROTIME_PUBLIC_ONLY', '1'],
])('a file of the machine is refused where others configure it: %s=%s', (variable, value) => {
  const writing = { mirror: true, rejected_records: '/etc/profile.d/x.sh' }
  expect(parseWriteSettings(writing).rejectedRecords).toBe('/etc/profile.d/x.sh')
  vi.stubEnv(variable, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(() => parseWriteSettings(writing)).toThrow(
    'The configuration is not valid. rejected_records names a file of the machine',
  )
})

const CODE = '1'.repeat(72)

describe.each([
  ['Airbyte and Singer', configure],
  ['protime', configureFile],
  ['a destination', (input: unknown) => ({ ...parseConfig(input), ...parseWriteSettings(input) })],
] as const)('a restriction of personal data that would have no effect, for %s,', (_, read) => {
  const rule = (more: object) => ({
    field_rules: [{ stream: 'people', path: 'lastName', rule: 'drop', ...more }],
  })

  it.each<[object, string]>([
    [{ personaldata: 'minimal' }, 'personaldata is not a setting; did you mean personal_data?'],
    [{ personalData: 'minimal' }, 'personalData is not a setting; did you mean personal_data?'],
    [{ personal_dat: 'minimal' }, 'personal_dat is not a setting; did you mean personal_data?'],
    [{ privacy: 'minimal' }, 'privacy is not a setting.'],
    [{ 'unknown-fields': 'drop' }, 'unknown-fields is not a setting; did you mean unknown_fields?'],
    [
      { suppressed_persons: [] },
      'suppressed_persons is not a setting; did you mean suppressed_people?',
    ],
    [{ peopleSuppressed: [] }, 'peopleSuppressed is not a setting.'],
    [
      { suppressed_people: [CODE] },
      'privacy_key is missing: the codes of suppressed_people were made with it.',
    ],
    [
      { suppressed_people: [CODE], privacy_key: 'Wq3-xkT9_mB7vZ2p' },
      'suppressed_people.0 was made with another privacy_key or for another tenant, so it would match nobody. Remove it, or replace it by the code that the present settings give.',
    ],
    [
      { suppressed_people: ['42'] },
      'suppressed_people.0 must have the form: a code of 72 characters that protime person erase has printed.',
    ],
    [{ retainMonths: 3 }, 'retainMonths is not a setting; did you mean retain_months?'],
    [{ retention: [{ months: 3 }] }, 'retention is not a setting.'],
    [{ mask_fields: ['lastName'] }, 'mask_fields is not a setting.'],
    // Of taps that are made with the Singer SDK.
    [{ stream_maps: { people: { lastName: null } } }, 'stream_maps is not a setting.'],
    [{ fieldRules: [] }, 'fieldRules is not a setting; did you mean field_rules?'],
    [
      { environment: { type: 'production', personal_data: 'minimal' } },
      'environment.personal_data is not a setting; did you mean personal_data?',
    ],
    [rule({ comment: 'x' }), 'field_rules.0.comment is not a setting.'],
    [
      rule({ stream: 'People' }),
      'field_rules.0.stream is People, which matches no stream; did you mean people?',
    ],
    [
      rule({ path: 'lastname' }),
      'field_rules.0.path is lastname, which matches no field that the schema of people knows; did you mean lastName? For a field that the service has added, set "unknown": true.',
    ],
    [rule({ path: 'id' }), 'field_rules.0.path is id, which stays as it is in every record.'],
  ])('is a fault: %j', (more, sentence) => {
    const log = { warn() {} }
    expect(() => read({ ...LEAST, ...more }, log)).toThrow(
      `The configuration is not valid. ${sentence}`,
    )
  })
})

const reference = (collection: string) => ({ collection, names: ['x'] })

it.each<[unknown, string[]]>([
  [
    { start_dat: '2026-01-01' },
    ['start_dat is not a setting; did you mean start_date? [unknown-setting]'],
  ],
  [
    { client_secert: 'x' },
    ['client_secert is not a setting; did you mean client_secret? [unknown-setting]'],
  ],
  [{ other: {} }, ['other is not a setting. [unknown-setting]']],
  [
    { constructor: 1, toString: 1 },
    [
      'constructor is not a setting. [unknown-setting]',
      'toString is not a setting. [unknown-setting]',
    ],
  ],
  [
    { environment: { type: 'custom', bas_url: 'x' } },
    ['environment.bas_url is not a setting; did you mean environment.base_url? [unknown-setting]'],
  ],
  [
    { environment: { bas_url: 'x' } },
    ['environment.bas_url is not a setting; did you mean environment.base_url? [unknown-setting]'],
  ],
  [
    { environment: { type: 'production', base_url: 'x' } },
    [
      'environment.base_url is not a setting of the environment production. [setting-of-another-environment]',
    ],
  ],
  [{ mirror: true, relink: false, rejected_records: 'rejected.jsonl' }, []],
  [{ mirrror: true }, ['mirrror is not a setting; did you mean mirror? [unknown-setting]']],
  [
    { base_url: 'x' },
    ['base_url is not a setting; did you mean environment.base_url? [unknown-setting]'],
  ],
  [
    { external_references: [{ collection: 'people', name: ['x'] }] },
    [
      'external_references.0.name is not a setting; did you mean external_references.0.names? [unknown-setting]',
    ],
  ],
  [
    { external_references: [reference('people'), reference('circles')] },
    [
      'external_references: the service adds the references of circles to no record; they are only in the stream external_references. [reference-not-embedded]',
    ],
  ],
  [{ __injected_declarative_manifest: {}, _comment: 'x', tenant: 'acme' }, []],
  [{ environment: 'production', external_references: {}, activity_structures: [null] }, []],
  [null, []],
  ['x', []],
  [[], []],
])('%j is warned of: %j', (input, warnings) => {
  expect(configWarnings(input).map(withId)).toEqual(warnings)
})

it.each([configure, configureFile])(
  'references that personal_data leaves out are warned of once: %o',
  (read) => {
    const warnings: string[] = []
    const asked = [{ collection: 'people', names: ['@badge-number', '@employee-number'] }]
    read(
      { ...LEAST, external_references: asked },
      { warn: (message) => void warnings.push(withId(message)) },
    )
    expect(warnings).toEqual([
      expect.stringContaining('every record: @badge-number of people. Name'),
    ])
  },
)
