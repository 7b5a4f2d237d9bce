import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonFault, repeatedMember } from './json.ts'

/** The text with the place marked. */
function marked(text: string): string {
  const at = jsonFault(text)
  return `${text.slice(0, at)}^${text.slice(at)}`
}

describe('the place where a text stops being JSON', () => {
  it.each([
    '^',
    '  ^',
    '^hello',
    '{"a": ^x}',
    '{"a": 1 ^"b": 2}',
    '{"a": 1, ^}',
    '{^a: 1}',
    '{"a" ^1}',
    '{"a": 1^',
    '{"a": [1, 2^}',
    '{"a": ^"x\n"}',
    '{"a": ^"x\\q"}',
    '{"a": ^"x',
    '[1, ^]',
    '[0^1]',
    '[^\u00a01]',
    '{"a": 1}\n^{"a": 2}',
    '^nul',
  ])('is marked: %j', (text) => {
    expect(marked(text.replace('^', ''))).toBe(text)
  })

  it('is the end of what was cut off, wherever that is not a word', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, cut) => {
        const text = json.slice(0, cut % json.length)
        const at = jsonFault(text)
        expect(text.slice(at)).toMatch(/^(".*|[\w.+-]*)$/s)
      }),
    )
  })

  it('is the end of a whole text', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(jsonFault(json)).toBe(json.length)
      }),
    )
  })
})

describe('a member that comes twice in one object', () => {
  it.each([
    ['{"a":1,"a":1}', ['a']],
    ['{"a":{"b":1,"c":[],"b":2}}', ['a', 'b']],
    ['{"a":[{"b":1},{"c":"x","c":"\\",\\"c\\":"}]}', ['a', 'c']],
    ['{"_deleted":false,"_del\\u0065ted":true}', ['_deleted']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ])('is found: %s', (json, path) => {
    expect(repeatedMember(json)).toEqual(path)
  })

  it('is none where it comes once in each', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(repeatedMember(JSON.stringify(value))).toBeUndefined()
      }),
    )
  })
})
