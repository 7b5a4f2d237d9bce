import { expect, it } from 'vitest'
import { sign } from './signature.ts'

const text = '{"changeVersion":"00000A1000005C200020","id":4712,"date":"2026-02-03","name":"Zoë €"}'
const key = 'k3y-é/+='

// spec: Authentication 9
// spec: Events 2
it('signs the UTF-8 bytes of the body with those of the key as it was given out', () => {
  expect(sign(text, key)).toEqual({
    body: Buffer.from(text),
    authorization: 'HMAC-SHA256 teKv+Ux5PJfR6hmRGxCkb92E5gGcHHbs+XWBTuyWhak=',
  })
})

it('changes a byte after signing, and leaves the body JSON', () => {
  const { body, authorization } = sign(text, key, 'tamper')
  expect([JSON.parse(body.toString()).changeVersion, authorization]).toEqual([
    '10000A1000005C200020',
    sign(text, key).authorization,
  ])
})

it.each([
  ['wrong-key', /^HMAC-SHA256 (?!teKv)[\w+/]{43}=$/],
  ['other-scheme', /^HMAC-SHA512 [\w+/]{86}==$/],
  ['unsigned', /^undefined$/],
] as const)('signs wrongly by the fault %s', (fault, pattern) => {
  expect(String(sign(text, key, fault).authorization)).toMatch(pattern)
})
