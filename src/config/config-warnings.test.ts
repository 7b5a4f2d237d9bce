import { expect, it } from 'vitest'
import { configWarnings } from './config-warnings.ts'

const reference = (collection: string) => ({ collection, names: ['x'] })

it.each<[unknown, string[]]>([
  [{ start_dat: '2026-01-01' }, ['start_dat is no setting; did you mean start_date?']],
  [{ client_secert: 'x' }, ['client_secert is no setting; did you mean client_secret?']],
  [{ other: {} }, ['other is no setting and is ignored.']],
  [
    { constructor: 1, toString: 1 },
    ['constructor is no setting and is ignored.', 'toString is no setting and is ignored.'],
  ],
  [
    { environment: { type: 'custom', bas_url: 'x' } },
    ['environment.bas_url is no setting; did you mean environment.base_url?'],
  ],
  [
    { environment: { bas_url: 'x' } },
    ['environment.bas_url is no setting; did you mean environment.base_url?'],
  ],
  [
    { environment: { type: 'production', base_url: 'x' } },
    ['environment.base_url is no setting of the environment production and is ignored.'],
  ],
  [{ mirror: true, relink: false, rejected_records: 'rejected.jsonl' }, []],
  [{ mirrror: true }, ['mirrror is no setting; did you mean mirror?']],
  [{ base_url: 'x' }, ['base_url is no setting; did you mean environment.base_url?']],
  [
    { external_references: [{ collection: 'people', name: ['x'] }] },
    ['external_references.0.name is no setting; did you mean external_references.0.names?'],
  ],
  [
    { external_references: [reference('people'), reference('circles')] },
    [
      'external_references: the service adds the references of circles to no record; they are in the stream external_references.',
    ],
  ],
  [{ __injected_declarative_manifest: {}, _comment: 'x', tenant: 'acme' }, []],
  [{ environment: 'production', external_references: {}, activity_structures: [null] }, []],
  [null, []],
  ['x', []],
  [[], []],
])('%j is warned of: %j', (input, warnings) => {
  expect(configWarnings(input)).toEqual(warnings)
})
