import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMask, withoutValues } from './mask.ts'
import { type SettingsSchema, secretsOf } from './settings-schema.ts'

function masked(secret: string, text: string): string {
  const mask = createMask()
  mask.add(secret)
  return mask.text(text)
}

/** Any character, half of a surrogate pair too: the unit 'binary' takes a second to be made. */
const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))

describe('a secret in a text', () => {
  const secret = 'p/ss "wörd"+\\&=%'

  it.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in a URL', encodeURIComponent(secret)],
    [
      'in a URL with small digits',
      encodeURIComponent(secret).replace(/%../g, (c) => c.toLowerCase()),
    ],
    ['in a form', new URLSearchParams([['k', secret]]).toString().slice(2)],
    ['in a URL that is in a URL', encodeURIComponent(encodeURIComponent(secret))],
    ['in capitals', secret.toUpperCase()],
    ['in HTML', 'p/ss &quot;w&#246;rd&quot;+\\&amp;=%'],
    ['in HTML by numbers', 'p&#x2F;ss &#34;wörd&#x22;&#x2b;&#092;&#38;&#61;&#37;'],
    ['in JSON by numbers', escapedUnits(secret)],
    ['in hexadecimal digits', Buffer.from(secret).toString('hex')],
    ['in large hexadecimal digits', Buffer.from(secret).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64 of URLs', Buffer.from(secret).toString('base64url')],
    ['in base64 in JSON', Buffer.from(secret).toString('base64').replaceAll('/', '\\/')],
  ])('is replaced %s', (_, form) => {
    expect(masked(secret, `before ${form}, ${form} after`)).toBe('before ****, **** after')
  })

  it.each(['', 'a', 'ab', 'abc', 'client'])('is replaced in base64 behind %j', (before) => {
    const text = Buffer.from(`${before}:${secret}`).toString('base64')
    const left = masked(secret, `it is ${text}, or so`)
    expect(left).toMatch(/^it is [\w+/]*\*{4}, or so$/)
    const told = /^it is ([\w+/]*)/.exec(left)?.[1] ?? ''
    // The remaining digit belongs to the text before the secret.
    expect(`${before}:`.startsWith(Buffer.from(told, 'base64').toString('latin1'))).toBe(true)
  })

  it('is replaced line by line if it has several', () => {
    expect(masked('first line\r\nsecond line', 'say second line, say first line')).toBe(
      'say ****, say ****',
    )
  })

  it('is replaced completely if it contains another one', () => {
    const mask = createMask()
    mask.add('inner')
    mask.add('the inner one')
    expect(mask.text('it is the inner one')).toBe('it is ****')
  })

  it('does not hide ordinary words if it is short', () => {
    expect(masked('abc', 'the abc of it')).toBe('the abc of it')
  })

  it('takes little time, whatever the service makes of it', () => {
    const mask = createMask()
    for (const piece of ['\\', '\\/', '\\"', '%', '%25', '&', '&amp;', '+ '])
      mask.add(piece.repeat(100))
    const began = process.cpuUsage()
    for (const piece of ['\\', '\\\\/', '\\\\"', '%25', '%2525', '&amp;', '&amp;amp;', '+', 'A'])
      mask.text(`${piece.repeat(5000)}!`)
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5000)
  })

  it.each([1024, 1025, 16_000, 100_000])('may have %d characters', (length) => {
    // Not periodic, as no token is.
    const blocks = Array.from({ length: length / 32 + 1 }, (_, i) => hash('sha256', `${i}`, 'hex'))
    const secret = blocks.join('').slice(0, length)
    const forms = [secret, encodeURIComponent(secret), Buffer.from(`a${secret}`).toString('base64')]
    for (const form of forms) {
      const left = masked(secret, `%41 ${form} \\ &amp;`)
      expect(left).toMatch(/^%41 [\w+/]{0,4}[*]{4}[\w+/*]* \\ &amp;$/)
      expect(left.replaceAll('*', '').length).toBeLessThan(250)
    }
  })

  it('may contain a lone surrogate', () => {
    expect(masked('half \ud83d', 'it is half \ud83d.')).toBe('it is ****.')
  })

  it('is never left, whatever it is and wherever it occurs', () => {
    const text = fc.string({ unit: character })
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 4 }), text, text, (value, a, b) => {
        fc.pre(!value.includes('*') && !(a + b).includes(value))
        expect(masked(value, `${a} ${value} ${b}`)).not.toContain(value)
      }),
    )
  })
})

it('credentials of a header are replaced even if they are unknown', () => {
  const text = 'Authorization: Basic aWQ6cGFzcw==, authorization: bearer eyJ.a-b_c~d+/='
  expect(createMask().text(text)).toBe('Authorization: Basic ****, authorization: bearer ****')
})

it('words that look like credentials are kept', () => {
  const text = 'Basic authentication is off; a bearer token is needed.'
  expect(createMask().text(text)).toBe(text)
})

function escapedUnits(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

it('accepts hundreds of secrets quickly, each once', () => {
  const mask = createMask()
  const secrets = Array.from({ length: 300 }, (_, i) => `${i}-${'key+/'.repeat(9)}`)
  const began = process.cpuUsage()
  for (const secret of [...secrets, ...secrets]) mask.add(secret)
  // Compiling all patterns again for each secret would take minutes.
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000)
  expect(mask.text(`one ${secrets[299]}`)).toBe('one ****')
})

describe('a parameter that gives access', () => {
  it.each([
    ['/x?deltaToken=abc&delta', '/x?deltaToken=****&delta'],
    ['/x?a=1&CONTINUATIONTOKEN=abc', '/x?a=1&CONTINUATIONTOKEN=****'],
    ['x%3FdeltaToken%3Dabc', 'x%3FdeltaToken%3Dabc'],
    ['next?deltaToken%3Dabc', 'next?deltaToken%3D****'],
    ['{"access_token": "abc", "a": 1}', '{"access_token": "****", "a": 1}'],
    ['client_secret=abc&x=1', 'client_secret=****&x=1'],
    ['/x?pageToken=abc', '/x?pageToken=abc'],
    ['no tokens here', 'no tokens here'],
  ])('in %s is replaced without being known', (text, expected) => {
    expect(createMask(['deltaToken', 'continuationToken']).text(text)).toBe(expected)
  })
})

it.each([
  ['E-1042 belongs to 7', 'E-1042', '**** belongs to 7'],
  ['a/b?c belongs to 7', 'a/b?c', '**** belongs to 7'],
  ['a%2Fb is too long', 'a/b', '**** is too long'],
  ['The value E1 is not E10', 'E1', 'The value **** is not E10'],
  ['jan janssens is linked, JAN%20JANSSENS too', 'Jan Janssens', '**** is linked, **** too'],
  ['Rene\u0301 is linked', 'REN\u00c9', '**** is linked'],
  ['Jan is linked', ' Jan ', '**** is linked'],
])('%j without the value %j is %j', (text, value, left) => {
  expect(withoutValues(text, [value])).toBe(left)
})

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
