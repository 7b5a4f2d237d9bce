import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementsOf, jsonFault, repeatedMember } from './json.ts'
import { clean, logLines, nearest, withoutControls } from './text.ts'

/** Any character, half of a surrogate pair too: the unit 'binary' takes a second to be made. */
const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))

describe('a text for a terminal or a log', () => {
  it.each([
    ['plain words, also of Zoë and 李, stay', 'plain words, also of Zoë and 李, stay'],
    ['two\nlines', 'two lines'],
    ['two\r\nlines', 'two lines'],
    ['a\u2028line\u2029and\u0085more', 'a line and more'],
    ['\u001b]0;title\u0007\u001b[2Jgone', ']0;title [2Jgone'],
    ['\u009b31mred', '31mred'],
    ['a\u202eb\u2066c\u200f', 'a b c'],
    ['a\u200bb\ufeffc', 'a b c'],
    ['a\0b', 'a b'],
    ['half \ud83d of one', 'half of one'],
    ['a\ttab', 'a tab'],
  ])('%j becomes %j', (text, expected) => {
    expect(clean(text).replace(/ +/g, ' ').trim()).toBe(expected)
  })

  it('has 1,000 characters at most', () => {
    expect([clean('x'.repeat(1000)).length, clean('x'.repeat(1001))]).toEqual([
      1000,
      `${'x'.repeat(999)}…`,
    ])
    expect([...clean('😀'.repeat(2000))]).toHaveLength(1000)
    expect(clean('abcdef', 4)).toBe('abc…')
  })

  it('is one printable line, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 3000 }), (text) => {
        expect(clean(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
        expect([...clean(text)].length).toBeLessThanOrEqual(1000)
      }),
    )
  })
})

const NAMES = ['people', 'jobs', 'job-categories', 'start_date']

it.each([
  ['peple', 'people'],
  ['poeple', 'people'],
  ['start_dat', 'start_date'],
  ['startdate', 'start_date'],
  ['job', 'jobs'],
  ['clockings', undefined],
  ['x', undefined],
  ['', undefined],
])('%j was meant to be %j', (mistyped, name) => {
  expect(nearest(mistyped, NAMES)).toBe(name)
})

/** The text with the position marked. */
function marked(text: string): string {
  const at = jsonFault(text)
  return `${text.slice(0, at)}^${text.slice(at)}`
}

describe('the position at which a text stops being JSON', () => {
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

  it('is the end of a text that was cut off, unless that is within a word', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, cut) => {
        const text = json.slice(0, cut % json.length)
        const at = jsonFault(text)
        expect(text.slice(at)).toMatch(/^(".*|[\w.+-]*)$/s)
      }),
    )
  })

  it('is the end of a complete text', () => {
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

  it('is none if it comes once in each', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(repeatedMember(JSON.stringify(value))).toBeUndefined()
      }),
    )
  })
})

it.each([
  [
    '{"items":[{"id":1,"total":9007199254740993},{"id":2}],"cursor":"a"}',
    ['{"id":1,"total":9007199254740993}', '{"id":2}'],
  ],
  [
    '{\n  "items": [\n    { "a": [1, {"b": "x, ]"}] },\n    1.50\n  ]\n}',
    ['{"a":[1,{"b":"x, ]"}]}', '1.50'],
  ],
  ['{"other":{"items":[7]},"x":["items",[8]],"items":[]}', []],
  ['{"item\\u0073":["a"]}', ['"a"']],
  ['{"items":{"a":[1]}}', []],
  ['[[1]]', []],
])('the elements of a list are taken out as they are written: %s', (json, elements) => {
  expect(elementsOf(json, 'items')).toEqual(elements)
})

it('writes the control characters of a JSON text as escapes, and changes no value', () => {
  const value = { name: 'a\u009b31m\u202eb\u2028\u{e0001}', line: 'é\n😀' }
  const json = withoutControls(JSON.stringify(value))
  expect(json).not.toMatch(/[\u0080-\u009f\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(JSON.parse(json)).toEqual(value)
  expect(json).toContain('é\\n😀')
})

describe('the lines of a message', () => {
  const names = Array.from({ length: 300 }, (_, i) => `people.field${i}`)

  it('have each name of a long list, in one line', () => {
    const lines = logLines(`They are passed on: ${names.join(', ')}. Then more.`)
    expect(lines.length).toBeGreaterThan(3)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(1000)
    expect(lines.slice(1).every((line) => line.startsWith('… '))).toBe(true)
    const words = lines.flatMap((line) => line.split(/[ ,.]+(?!field)/u))
    expect(names.filter((name) => !words.includes(name))).toEqual([])
  })

  it('are one if the message is short, and cut a word that is no name', () => {
    expect(logLines('short  enough ')).toEqual(['short  enough '])
    expect(logLines('x'.repeat(5000)).map(({ length }) => length)).toEqual([1000])
  })
})
