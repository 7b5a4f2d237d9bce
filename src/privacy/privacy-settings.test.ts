import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  createPseudonyms,
  isGuessable,
  type PrivacySettings,
  parsePrivacySettings,
} from './privacy-settings.ts'

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
  expect(parsePrivacySettings(LEAST)).toMatch(/^privacy_key is missing: .* personal_data is/)
  expect(parsePrivacySettings({ ...LEAST, personal_data: 'minimal', field_rules: rules })).toMatch(
    /^privacy_key is missing: .* a rule of field_rules hashes/,
  )
})

const { of } = createPseudonyms({ key: KEY, tenant: 'acme' })
const pseudonym = of('people @employee-number')

describe('equal codes', () => {
  it('are those of a text and a number that are written alike', () => {
    expect(pseudonym('42')).toBe(pseudonym('"42"'))
    expect(pseudonym('"042"')).not.toBe(pseudonym('42'))
  })

  it('are those of one text, however it is escaped', () => {
    expect(pseudonym('"\\u00e9"')).toBe(pseudonym('"é"'))
  })

  it('are those of one meaning, in every process', () => {
    const again = createPseudonyms({ key: KEY, tenant: 'acme' }).of('people @employee-number')
    expect(again('"42"')).toBe(pseudonym('"42"'))
  })

  it('are those of all tenants only where no tenant is named', () => {
    const inTenant = (tenant: string | undefined) =>
      createPseudonyms({ key: KEY, tenant }).of('people')('"42"')
    expect(new Set(['acme', 'other', undefined].map(inTenant)).size).toBe(3)
  })
})

it('gives equal values of different meanings different codes', () => {
  const meanings = ['people', 'people ', 'people @employee-number', 'people.mobile', 'acme people']
  expect(new Set(meanings.map((meaning) => of(meaning)('"1234"'))).size).toBe(meanings.length)
})

it('tells numbers apart by every digit', () => {
  const numbers = ['9007199254740992', '9007199254740993', '1.10', '1.1']
  expect(new Set(numbers.map(pseudonym)).size).toBe(numbers.length)
})

it('leaves null and an empty text, which tell nothing', () => {
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

it('takes no other key for one', () => {
  expect(isGuessable(KEY)).toBe(false)
})
