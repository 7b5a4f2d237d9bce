import { describe, expect, it } from 'vitest'
import { settingRows } from './settings.ts'
import { type About, aboutText } from './singer-program.ts'
import { withoutTwins } from './tap.ts'
import { createVersions, type Versions } from './target.ts'

const about: About = {
  name: 'tap-x',
  version: '1.2.3',
  description: 'Reads x.',
  capabilities: ['catalog', 'state'],
  settings: {
    type: 'object',
    required: ['key'],
    properties: {
      key: { type: 'string', description: 'A | B', airbyte_secret: true },
      where: {
        oneOf: [
          {
            properties: {
              type: { const: 'near', description: 'Close.' },
              token: { airbyte_secret: true },
              api: { default: 'a' },
            },
          },
          {
            properties: {
              type: { const: 'far', description: 'Away.' },
              port: { default: 0 },
              api: { default: 'b' },
            },
          },
        ],
      },
    },
  },
}

describe('--about as JSON', () => {
  const told = JSON.parse(aboutText(about, 'json'))

  it('has the fields that the hub reads', () => {
    expect(Object.keys(told)).toEqual([
      'name',
      'description',
      'version',
      'capabilities',
      'settings',
    ])
  })

  it('marks secrets as Singer does, nested ones too, and in no other way', () => {
    const mark = { secret: true, writeOnly: true }
    expect(told.settings.properties.key).toMatchObject(mark)
    expect(told.settings.properties.where.oneOf[0].properties.token).toEqual(mark)
    expect(JSON.stringify(told)).not.toContain('airbyte_secret')
  })
})

describe('--about as Markdown', () => {
  it('is a table with a row for each setting, whatever its text', () => {
    const rows = aboutText(about, 'markdown')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    expect(rows).toEqual([
      '| `key` | yes |  | A \\| B |',
      '| `where` | no |  |  |',
      '| `where.type` | no |  | `near`: Close. `far`: Away. |',
      '| `where.token` | no |  |  |',
      '| `where.api` | no | `near`: `"a"`; `far`: `"b"` |  |',
      '| `where.port` | no | `0` |  |',
    ])
  })
})

describe('the rows of settings', () => {
  it('name what several alternatives share once', () => {
    expect(settingRows(about.settings).map(({ path }) => path)).toEqual(
      'key where where.type where.token where.api where.port'.split(' '),
    )
  })
})

it('has the first of two names that differ by case only', () => {
  const { properties } = withoutTwins({
    type: 'object',
    properties: { isoCode: {}, ISOCode: {}, id: {} },
  })
  expect(Object.keys(properties ?? {})).toEqual(['isoCode', 'id'])
})

const record = (version?: number) => (versions: Versions) => versions.record('s', version)
const activate = (version: number) => (versions: Versions) => versions.activate('s', version)
const state = (value: object) => (versions: Versions) => versions.state(value)

it.each<[string, ((versions: Versions) => void)[], boolean]>([
  ['its records and then its version', [record(2), record(2), activate(2)], true],
  [
    'the state of another version first',
    [state({ bookmarks: { s: { v: 1 } } }), record(2), activate(2)],
    true,
  ],
  ['its version only behind its records', [record(1), record(2), activate(2)], true],
  ['its version before its records', [activate(2), record(2)], false],
  ['its version at both ends', [activate(2), record(2), activate(2)], true],
  ['its version without records', [activate(2)], false],
  ['records without a version', [record(), activate(2)], false],
  ['records without the end', [record(2)], false],
  ['another reading behind it', [record(2), activate(2), record(3)], false],
  [
    'the rest of a reading',
    [state({ bookmarks: { s: { at: { v: 2 } } } }), record(2), activate(2)],
    false,
  ],
  ['the rest, of a state without bookmarks', [state({ v: '2' }), record(2), activate(2)], false],
])('a stream that sends %s', (_what, steps, isComplete) => {
  const versions = createVersions()
  for (const step of steps) step(versions)
  expect(versions.isComplete('s')).toBe(isComplete)
})
