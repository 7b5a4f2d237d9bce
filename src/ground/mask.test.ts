import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMask } from './mask.ts'

function masked(secret: string, text: string): string {
  const mask = createMask()
  mask.add(secret)
  return mask.text(text)
}

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
  ])('is replaced %s', (_, form) => {
    expect(masked(secret, `before ${form}, ${form} after`)).toBe('before ****, **** after')
  })

  it('is replaced line by line when it has several', () => {
    expect(masked('first line\r\nsecond line', 'say second line, say first line')).toBe(
      'say ****, say ****',
    )
  })

  it('is replaced whole when it contains another one', () => {
    const mask = createMask()
    mask.add('inner')
    mask.add('the inner one')
    expect(mask.text('it is the inner one')).toBe('it is ****')
  })

  it('does not begin to hide innocent words when it is short', () => {
    expect(masked('abc', 'the abc of it')).toBe('the abc of it')
  })

  it('may hold half a character', () => {
    expect(masked('half \ud83d', 'it is half \ud83d.')).toBe('it is ****.')
  })

  it('is never left, whatever it is and wherever it stands', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 4 }), text, text, (value, a, b) => {
        fc.pre(!value.includes('*') && !(a + b).includes(value))
        expect(masked(value, `${a} ${value} ${b}`)).not.toContain(value)
      }),
    )
  })
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
