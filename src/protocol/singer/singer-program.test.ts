import { describe, expect, it } from 'vitest'
import { settingRows } from './settings.ts'
import { type About, aboutText } from './singer-program.ts'

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
