import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  acquireBuffer,
  createJsonBatch,
  type MemberRule,
  type ObjectRules,
  releaseBuffer,
  SKIP,
  SOFT_DELETE,
} from './record-batch.ts'
import { createBatchRewriter, rewriteRecord, schemaUnder, selectionRules } from './record-rules.ts'
import type { JsonSchema } from './stream-spec.ts'

/** Any character, half of a surrogate pair too: the unit 'binary' takes a second to be made. */
const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))

type Json = null | boolean | string | Digits | Json[] | { [name: string]: Json }

/** A number as its text, because its digits count. */
class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const names = fc.constantFrom('id', 'name', 'lines', 'x', 'é', '"', '\\', '{', '__proto__')
const digits = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.option(fc.stringMatching(/^[0-9]{1,30}$/)),
    fc.option(fc.integer({ min: -99, max: 99 })),
  )
  .map(
    ([whole, part, power]) =>
      new Digits(`${whole}${part === null ? '' : `.${part}`}${power === null ? '' : `E${power}`}`),
  )

const { record } = fc.letrec<{ value: Json; record: { [name: string]: Json } }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.string({ unit: character }),
    digits,
    tie('record'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  record: fc.dictionary(names, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}))

const toNull = () => 'null'
const REPLACED = '"replaced"'

/** Rules by name, with one for other names. */
function rulesOf(members: readonly (readonly [string, MemberRule])[], others: MemberRule) {
  const known = new Map(members)
  return {
    ruleOf: (name: string) => known.get(name) ?? others,
    values: others === 'drop' ? toNull : ('keep' as const),
  }
}

const rules: fc.Memo<ObjectRules> = fc.memo((depth) => {
  const rule = fc.oneof(
    fc.constantFrom<MemberRule>('keep', 'drop', () => REPLACED),
    ...(depth <= 1 ? [] : [rules(depth - 1)]),
  )
  return fc
    .tuple(fc.array(fc.tuple(names, rule), { maxLength: 5 }), rule)
    .map(([members, others]) => rulesOf(members, others))
})

/** JSON text with white space between all tokens. */
function written(json: Json, space: string): string {
  const list = (texts: string[], open: string, close: string) =>
    `${open}${space}${texts.join(`${space},${space}`)}${space}${close}`
  if (json instanceof Digits) return json.text
  if (Array.isArray(json))
    return list(
      json.map((one) => written(one, space)),
      '[',
      ']',
    )
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  const members = Object.entries(json).map(
    ([name, one]) => `${JSON.stringify(name)}${space}:${space}${written(one, space)}`,
  )
  return list(members, '{', '}')
}

/** The simple implementation, which works on the parsed value. */
function rewritten(json: Json, rule: MemberRule): Json {
  if (typeof rule === 'function') return 'replaced'
  if (typeof rule === 'string' || 'nested' in rule) return json
  if (Array.isArray(json)) return json.map((one) => rewritten(one, rule))
  const isObject = typeof json === 'object' && json !== null && !(json instanceof Digits)
  if (!isObject) return rule.values === 'keep' ? json : null
  return Object.fromEntries(
    Object.entries(json)
      .filter(([name]) => rule.ruleOf(name) !== 'drop')
      .map(([name, one]) => [name, rewritten(one, rule.ruleOf(name))]),
  )
}

it('has the same result as rewriting parsed records, but keeps the digits of every number', () => {
  fc.assert(
    fc.property(record, rules(3), fc.constantFrom('', ' ', '\n\t '), (json, drawn, space) => {
      const text = rewriteRecord(Buffer.from(written(json, space)), drawn)
      const expected = written(rewritten(json, drawn), '')
      // Copied values keep their white space.
      expect(
        text.replaceAll(/"(?:[^"\\]|\\.)*"|\s+/g, (all) => (all.startsWith('"') ? all : '')),
      ).toBe(expected)
      expect(JSON.parse(text)).toEqual(JSON.parse(expected))
    }),
    { numRuns: 1500 },
  )
})

it('reads a record in the middle of a larger buffer', () => {
  const page = Buffer.from('[{"id":1,"name":2.50}]')
  const rules = rulesOf([['name', 'keep']], 'drop')
  expect(rewriteRecord(page.subarray(1, -1), rules)).toBe('{"name":2.50}')
})

it('gives a replacement the JSON text of the value', () => {
  const rules = rulesOf([['n', (json) => `[${json},${json}]`]], 'keep')
  expect(rewriteRecord(Buffer.from('{"a":1,"n":{"x":[1.0, "é"]}}'), rules)).toBe(
    '{"a":1,"n":[{"x":[1.0, "é"]},{"x":[1.0, "é"]}]}',
  )
})

it('replaces values in objects and lists', () => {
  const rules = rulesOf(
    [
      ['a', (json) => `"a${json}"`],
      ['b', { ruleOf: () => (json) => `"in b${json}"`, values: (json) => `"b${json}"` }],
    ],
    'keep',
  )
  expect(rewriteRecord(Buffer.from('{"a":1,"b":[1,{"x":1}],"c":1}'), rules)).toBe(
    '{"a":"a1","b":["b1",{"x":"in b1"}],"c":1}',
  )
})

it.each(['{', '{"a', '{"a":', '{"a":"\\', '{"a":[{', '{"a":[1,', '{"a":{"b":1'])(
  'ends with an error where a record is no JSON: %s',
  (record) => {
    const rules: ObjectRules = { ruleOf: () => rules, values: 'keep' }
    expect(() => rewriteRecord(Buffer.from(record), rules)).toThrow()
  },
)

const PARTS = {
  prefix: Buffer.from('<'),
  suffix: Buffer.from(',"deleted":false}\n'),
  deleteSuffix: Buffer.from(',"deleted":true}\n'),
}

function batchOf(count: number) {
  return createJsonBatch(
    Array.from({ length: count }, (_, i) => ({ json: `{"id":${i},"pin":1234}`, key: String(i) })),
  )
}

const withoutPin = {
  ruleOf: (name: string) => (name === 'pin' ? ('drop' as const) : ('keep' as const)),
  values: 'keep' as const,
}

it('has the lines of its records, including deleted rows, but not of dropped ones', () => {
  const batch = batchOf(3)
  batch.ops.set([SOFT_DELETE, SKIP], 0)
  const lines = createBatchRewriter(withoutPin)(batch).lines(PARTS)
  expect(Buffer.from(lines).toString()).toBe(
    '<{"id":0,"deleted":true}\n<{"id":2,"deleted":false}\n',
  )
})

it('passes a batch to which its rules were already applied, and rewrites others', () => {
  const rewrite = createBatchRewriter(withoutPin)
  const batch = { ...batchOf(1), selection: withoutPin }
  expect(rewrite(batch)).toBe(batch)
  const other = rewrite({ ...batchOf(1), selection: { ...withoutPin } })
  expect(Buffer.from(other.record(0)).toString()).toBe('{"id":0}')
  expect(Buffer.from(other.lines(PARTS)).toString()).toBe('<{"id":0,"deleted":false}\n')
})

describe('a buffer', () => {
  it('reuses a buffer after it was released, and not before', () => {
    const first = acquireBuffer(100_000)
    const second = acquireBuffer(100_000)
    expect(second.buffer).not.toBe(first.buffer)
    releaseBuffer(first)
    expect(acquireBuffer(90_000).buffer).toBe(first.buffer)
  })

  it('does not reuse a buffer twice that was released twice', () => {
    const buffer = acquireBuffer(300_000)
    releaseBuffer(buffer)
    releaseBuffer(buffer)
    expect(acquireBuffer(300_000).buffer).not.toBe(acquireBuffer(300_000).buffer)
  })

  it('ignores bytes that it did not allocate', () => {
    const foreign = Buffer.alloc(1_000_000)
    releaseBuffer(foreign)
    expect(acquireBuffer(1_000_000).buffer).not.toBe(foreign.buffer)
  })
})

const schema: JsonSchema = {
  properties: {
    id: {},
    name: { type: 'object', properties: { default: {}, translations: {} } },
    lines: { items: { properties: { id: {}, text: {} } } },
  },
}

/** A selection of everything but these fields. */
function without(...fields: string[]) {
  return (breadcrumb: readonly string[]) => !fields.includes(breadcrumb.join('.'))
}

describe('selectionRules', () => {
  it('is undefined if everything is selected, so that records pass unchanged', () => {
    expect(selectionRules(schema, without())).toBeUndefined()
  })

  it('keeps only known members beside a deselected one', () => {
    const rules = selectionRules(schema, without('properties.name'))
    const json = '{"id":1,"name":2,"lines":3,"new":4}'
    expect(rules && rewriteRecord(Buffer.from(json), rules)).toBe('{"id":1,"lines":3}')
  })

  it('applies to objects and arrays, and leaves their neighbours unchanged', () => {
    const rules = selectionRules(
      schema,
      without('properties.name.properties.default', 'properties.lines.items.properties.text'),
    )
    const json =
      '{"id":1,"new":2,"name":{"default":3,"translations":4},"lines":[{"id":5,"text":6},null]}'
    const left = rules && rewriteRecord(Buffer.from(json), rules)
    expect(left).toBe('{"id":1,"new":2,"name":{"translations":4},"lines":[{"id":5},null]}')
  })
})

describe('schemaUnder', () => {
  it('leaves out the same fields, deep ones too', () => {
    const selection = without('properties.id', 'properties.lines.items.properties.text')
    expect(schemaUnder(schema, selectionRules(schema, selection))).toEqual({
      properties: {
        name: schema.properties?.['name'],
        lines: { items: { properties: { id: {} } } },
      },
    })
  })
})
