import { describe, expect, it } from 'vitest'
import type { SettingsSchema } from '../../ground/settings-schema.ts'
import {
  mergeSettings,
  settingsFromEnvironment,
  unknownVariables,
  withoutUnset,
} from './settings.ts'

const schema: SettingsSchema = {
  properties: {
    tenant: { type: 'string' },
    count: { type: 'integer' },
    list: { type: 'array' },
    where: {
      oneOf: [
        { properties: { type: { type: 'string' } } },
        { properties: { type: { type: 'string' }, url: { type: 'string' } } },
      ],
    },
  },
}

describe('settings from the environment', () => {
  it.each([
    ['a text', { TAP_X_TENANT: '007' }, { tenant: '007' }],
    ['a number', { TAP_X_COUNT: '4' }, { count: 4 }],
    ['a list', { TAP_X_LIST: '["a"]' }, { list: ['a'] }],
    ['what is no JSON, for the validation to refuse', { TAP_X_COUNT: 'four' }, { count: 'four' }],
    [
      'a nested text',
      { TAP_X_WHERE_TYPE: 'far', TAP_X_WHERE_URL: 'u' },
      { where: { type: 'far', url: 'u' } },
    ],
    ['an object', { TAP_X_WHERE: '{"type":"far"}' }, { where: { type: 'far' } }],
    [
      'an object, under its members',
      { TAP_X_WHERE: '{"type":"far","url":"u"}', TAP_X_WHERE_TYPE: 'near' },
      { where: { type: 'near', url: 'u' } },
    ],
    ['nothing of an empty variable', { TAP_X_TENANT: '' }, {}],
    ['nothing of others', { TENANT: 'a', TAP_X_OTHER: 'b', TAP_XTENANT: 'c' }, {}],
  ])('take %s', (_name, environment, settings) => {
    expect(settingsFromEnvironment(schema, 'TAP_X', environment)).toEqual(settings)
  })
})

describe('variables that are no setting', () => {
  it("are those of the prefix, but for the log's and Meltano's", () => {
    const known = [
      'TAP_X_TENANT',
      'TAP_X_WHERE',
      'TAP_X_WHERE_URL',
      'TAP_X_LOG_LEVEL',
      'TAP_X_LOG_FORMAT',
    ]
    const others = ['TAP_X__SELECT', 'TENANT', 'TAP_XTENANT']
    const names = [...known, ...others, 'TAP_X_TENNANT', 'TAP_X_WHERE_URI']
    const environment = Object.fromEntries(names.map((name) => [name, 'x']))
    expect(unknownVariables(schema, 'TAP_X', environment)).toEqual([
      'TAP_X_TENNANT',
      'TAP_X_WHERE_URI',
    ])
  })
})

describe('several configurations', () => {
  it('are merged member by member, lists are replaced, the last one wins', () => {
    const merged = mergeSettings([
      { a: 1, where: { type: 'near', url: 'u' }, list: [1, 2] },
      { a: 2, where: { type: 'far' }, list: [3] },
    ])
    expect(merged).toEqual({ a: 2, where: { type: 'far', url: 'u' }, list: [3] })
  })

  it('leave what is no object to the validation', () => {
    expect(mergeSettings([{ a: 1 }, 'text'])).toBe('text')
  })

  it('lose what is null or empty, and keep what is false or nothing', () => {
    const settings = { a: '', b: null, c: false, d: 0, e: [], where: { type: 'far', url: '' } }
    expect(withoutUnset(settings)).toEqual({ c: false, d: 0, e: [], where: { type: 'far' } })
  })
})
