import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type PrivacySettings, parsePrivacySettings } from './privacy-settings.ts'

const LEAST = { tenant: 'Acme', personal_data: 'pseudonymised', field_rules: [] }
const KEY = 'a-key-of-sixteen-characters'

it('takes the key that the command of the documentation makes', () => {
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

it('has the name of the tenant in pseudonyms, unless they are to be equal across tenants', () => {
  const tenantOf = (more: object) =>
    (parsePrivacySettings({ ...LEAST, privacy_key: KEY, ...more }) as PrivacySettings).pseudonyms
      ?.tenant
  // Addresses know no capitals: it is the same tenant.
  expect(tenantOf({})).toBe('acme')
  expect(tenantOf({ pseudonyms_across_tenants: true })).toBeUndefined()
})

it('asks for a key wherever something is hashed', () => {
  const rules = [{ stream: 'people', path: 'x', rule: 'hash' }]
  expect(parsePrivacySettings(LEAST)).toMatch(/^privacy_key is missing: personal_data is/)
  expect(parsePrivacySettings({ ...LEAST, personal_data: 'minimal', field_rules: rules })).toMatch(
    /^privacy_key is missing: a rule of field_rules hashes/,
  )
})
