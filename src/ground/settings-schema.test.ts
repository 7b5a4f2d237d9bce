import { describe, expect, it } from 'vitest'
import { type SettingsSchema, secretsOf } from './settings-schema.ts'

const password: SettingsSchema = { type: 'string', airbyte_secret: true }
const schema: SettingsSchema = {
  properties: {
    host: { type: 'string' },
    password,
    login: { oneOf: [{ properties: { user: {} } }, { properties: { password } }] },
    keys: { items: { properties: { password } } },
  },
}

describe('the secrets of settings', () => {
  it.each<[string, unknown, string[]]>([
    ['are those that the schema marks', { host: 'h', password: 'p' }, ['p']],
    ['are known also when the settings are not valid', { host: 5, password: 'p', x: 1 }, ['p']],
    ['may stand in an alternative', { login: { user: 'u', password: 'p' } }, ['p']],
    ['may stand in a list', { keys: [{ password: 'p' }, { password: 'q' }] }, ['p', 'q']],
    ['are none when they are empty', { password: '' }, []],
    ['are none when they are no texts', { password: { nested: 'p' } }, []],
    ['are none when there are no settings', null, []],
  ])('%s', (_, settings, expected) => {
    expect(secretsOf(schema, settings)).toEqual(expected)
  })
})
