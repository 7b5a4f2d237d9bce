import { describe, expect, it } from 'vitest'
import { createPseudonyms, guessable } from './pseudonyms.ts'

const KEY = 'Wq3-xkT9_mB7vZ2p'

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

it('gives a value another code than version 0.1.0, whose keys were not stretched', () => {
  const earlier = '"6f12f25f87dd88523e33a4290da753425319a31c43c62f236c382a2fd5b9b387"'
  const { of } = createPseudonyms({ key: 'a-key-of-sixteen-characters', tenant: 'acme' })
  expect(of('people @employee-number')('"42"')).not.toBe(earlier)
})

it.each(['the code of a known value', 'the fingerprint'])(
  'lets nobody try 100 keys a second by %s',
  (what) => {
    const began = performance.now()
    for (let i = 0; i < 2; i++) {
      const { of, fingerprint } = createPseudonyms({ key: `${what} ${i}`, tenant: 'acme' })
      expect(what === 'the fingerprint' ? fingerprint : of('people')('"42"')).not.toBe('')
    }
    expect((performance.now() - began) / 2).toBeGreaterThan(10)
  },
)

it('computes nothing again for a key that it has used', () => {
  const codeOf = () =>
    createPseudonyms({ key: `${KEY} again`, tenant: 'acme' }).of('people')('"42"')
  codeOf()
  const times = Array.from({ length: 10 }, () => {
    const began = performance.now()
    codeOf()
    return performance.now() - began
  })
  expect(Math.min(...times)).toBeLessThan(5)
})

describe('a key', () => {
  it.each([
    ...['aaaaaaaaaaaaaaaaaaaa', '                ', '1212121212121212', 'abcabcabcabcabcabc'],
    ...['Protime2026Acme!', 'a-key-of-sixteen-characters', 'deadbeef'.repeat(8)],
  ])('can be guessed if it has few different characters: %s', (key) => {
    expect(guessable(key)).toBe('has too few different characters')
  })

  it.each([
    ...['abcdefgh12345678', 'qwertyuiopASDFGHJKL', '0123456789abcdefghij', 'zyxwvutsrqponmlk'],
    ...[
      'Correct-Horse-Battery-Staple-2026',
      'azertyuiopQSDFGHJKLM123',
      'Umbrella-Password-1234567890',
    ],
  ])('can be guessed if it consists of words and sequences: %s', (key) => {
    expect(guessable(key, ['umbrella'])).toBe('consists of common words and sequences')
  })

  it.each([
    ...[
      KEY,
      'kH2n0gHc0y3m9tBvI5jqLr8sPz1dWfXe4uAoQ7w6MlE=',
      'Mijn hond eet 7 gele bananen, zonder schil.',
    ],
    ...['1f8a6c0d2b7e94c35d1a4f2760b93e58c1d7a90f3e5b8c2d4a6f7081b9e3c5d2'],
  ])('is accepted otherwise: %s', (key) => {
    expect(guessable(key, ['umbrella'])).toBeUndefined()
  })
})
