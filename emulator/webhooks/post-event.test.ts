import { expect, it } from 'vitest'
import { addressOf, destinationFault, sign } from './post-event.ts'

it.each([
  'http://127.0.0.1:8080/a?b',
  'http://127.9.9.9/',
  'http://localhost:1/',
  'http://[::1]:1/',
  'https://127.0.0.1/',
])('sends to %s', (destination) => {
  const url = new URL(destination)
  expect([destinationFault(destination), addressOf(destination, undefined)]).toEqual([
    undefined,
    { url, host: url.host },
  ])
})

it.each([
  'https://hooks.example/',
  'https://127.0.0.1.hooks.example/',
  'https://localhost.hooks.example/',
  'https://127.0.0.1@hooks.example/',
  'https://[::ffff:192.0.2.1]/',
])('takes %s, and sends nothing there', (destination) => {
  const reached = [undefined, 'http://192.0.2.1', 'http://127.0.0.1@192.0.2.1', 'ftp://127.0.0.1']
  expect([
    destinationFault(destination),
    reached.map((deliverTo) => addressOf(destination, deliverTo)),
  ]).toEqual([undefined, [undefined, undefined, undefined, undefined]])
})

it.each(['http://hooks.example/', 'ftp://127.0.0.1/', '//127.0.0.1/', 'hooks', ''])(
  'refuses "%s"',
  (destination) => expect(destinationFault(destination)).toMatch(/^is no/),
)

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
