import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonDigest, roundedNumber } from './json-digest.ts'

function digestOf(json: string, digest = new JsonDigest()): string {
  const bytes = Buffer.from(`${json} `)
  const end = digest.value(bytes, 0)
  expect(bytes.toString('utf8', 0, end).trim()).toBe(json.trim())
  return `${digest.high} ${digest.low}`
}

/** The same value in another form: members turned round, more white space, every character escaped. */
function rewritten(value: unknown): string {
  if (typeof value === 'string')
    return `"${[...value.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
  if (Array.isArray(value)) return `[ ${value.map(rewritten).join(' , ')} ]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, one]) => `${rewritten(name)}\t: ${rewritten(one)}`,
  )
  return `{ ${members.reverse().join(' ,\n')} }`
}

/** Without what counts as nothing: members that are null. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value === 'number') return value + 0
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, canonical(one)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

const values = fc.jsonValue({ maxDepth: 4 })

describe('the digest of a JSON value', () => {
  it('is the same for every way to write it', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(digestOf(rewritten(value))).toBe(digestOf(JSON.stringify(value)))
      }),
      { numRuns: 500 },
    )
  })

  it('is another one for another value', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const isSame = JSON.stringify(canonical(a)) === JSON.stringify(canonical(b))
        expect(digestOf(JSON.stringify(a)) === digestOf(JSON.stringify(b))).toBe(isSame)
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['1', '1.0'],
    ['100', '1e2'],
    ['-0.0', '0'],
    ['0.1', '1E-1'],
    ['{"a":null}', '{}'],
    ['"é"', '"\\u00e9"'],
    ['"\\ud800"', '"\\ufffd"'],
  ])('of %s is that of %s', (a, b) => {
    expect(digestOf(a)).toBe(digestOf(b))
  })

  it.each([
    ['1', '"1"'],
    ['true', '"true"'],
    ['true', 'false'],
    ['[]', '{}'],
    ['[1,2]', '[2,1]'],
    ['[[1],2]', '[[1,2]]'],
    ['[null]', '[]'],
    ['{"a":1,"b":2}', '{"a":2,"b":1}'],
    ['{"a":{"b":1}}', '{"a":1,"b":1}'],
    ['12345678901234567890', '12345678901234567891'],
    ['0.12345678901234567890', '0.12345678901234567891'],
    ['""', 'null'],
    ['0', 'null'],
    ['{}', 'null'],
  ])('of %s is not that of %s', (a, b) => {
    expect(digestOf(a)).not.toBe(digestOf(b))
  })

  it('of rounded numbers forgets what databases do not keep', () => {
    const digest = () => new JsonDigest(roundedNumber)
    expect(digestOf('51.12345678901', digest())).toBe(digestOf('51.123456789', digest()))
    expect(digestOf('51.12345678', digest())).not.toBe(digestOf('51.12345679', digest()))
    expect(digestOf('1.500000000', digest())).toBe(digestOf('1.5', digest()))
  })
})
