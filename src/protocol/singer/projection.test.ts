import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../stream-spec.ts'
import {
  type Projection,
  projectionOf,
  projectJson,
  projectSchema,
  withoutTwins,
} from './projection.ts'

type Json = null | boolean | string | Digits | Json[] | { [name: string]: Json }

/** A number by its text, because its digits are what counts. */
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
    fc.string({ unit: 'binary' }),
    digits,
    tie('record'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  record: fc.dictionary(names, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}))

const projections: fc.Memo<Projection> = fc.memo((depth) =>
  fc.record({
    kept: fc.option(
      fc.uniqueArray(names).map((list) => new Set(list)),
      { nil: undefined },
    ),
    nested:
      depth <= 1
        ? fc.constant(new Map<string, Projection>())
        : fc
            .array(fc.tuple(names, projections(depth - 1)), { maxLength: 3 })
            .map((list) => new Map(list)),
  }),
)

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

/** The plain way: by the parsed value. */
function projected(json: Json, projection: Projection | undefined): Json {
  if (projection === undefined || json instanceof Digits) return json
  if (Array.isArray(json)) return json.map((one) => projected(one, projection))
  if (typeof json !== 'object' || json === null) return json
  const { kept, nested } = projection
  return Object.fromEntries(
    Object.entries(json)
      .filter(([name]) => kept?.has(name) ?? true)
      .map(([name, one]) => [name, projected(one, nested.get(name))]),
  )
}

describe('projectJson', () => {
  it('leaves what a plain projection of the parsed record leaves, with the digits of every number', () => {
    fc.assert(
      fc.property(
        record,
        projections(3),
        fc.constantFrom('', ' ', '\n\t '),
        (json, projection, space) => {
          const text = projectJson(Buffer.from(written(json, space)), projection)
          const expected = written(projected(json, projection), '')
          // Values that are copied whole keep their white space.
          expect(
            text.replaceAll(/"(?:[^"\\]|\\.)*"|\s+/g, (all) => (all.startsWith('"') ? all : '')),
          ).toBe(expected)
          expect(JSON.parse(text)).toEqual(JSON.parse(expected))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('reads a record in the middle of a larger buffer', () => {
    const page = Buffer.from('[{"id":1,"name":2.50}]')
    const kept = new Set(['name'])
    expect(projectJson(page.subarray(1, -1), { kept, nested: new Map() })).toBe('{"name":2.50}')
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

describe('projectionOf', () => {
  it('is none when everything is selected, so that records pass as they came', () => {
    expect(projectionOf(schema, without())).toBeUndefined()
  })

  it('keeps only known members beside a deselected one', () => {
    const projection = projectionOf(schema, without('properties.name'))
    expect([...(projection?.kept ?? [])]).toEqual(['id', 'lines'])
  })

  it('looks into objects and lists and leaves their neighbours alone', () => {
    const projection = projectionOf(
      schema,
      without('properties.name.properties.default', 'properties.lines.items.properties.text'),
    )
    const json =
      '{"id":1,"new":2,"name":{"default":3,"translations":4},"lines":[{"id":5,"text":6},null]}'
    const left = projectJson(
      Buffer.from(json),
      projection ?? { kept: new Set(), nested: new Map() },
    )
    expect(left).toBe('{"id":1,"new":2,"name":{"translations":4},"lines":[{"id":5},null]}')
  })
})

describe('projectSchema', () => {
  it('leaves out the same fields, deep ones too', () => {
    const selection = without('properties.id', 'properties.lines.items.properties.text')
    expect(projectSchema(schema, projectionOf(schema, selection))).toEqual({
      properties: {
        name: schema.properties?.['name'],
        lines: { items: { properties: { id: {} } } },
      },
    })
  })
})

describe('withoutTwins', () => {
  it('has the first of two names that differ by case only', () => {
    const { properties } = withoutTwins({
      type: 'object',
      properties: { isoCode: {}, ISOCode: {}, id: {} },
    })
    expect(Object.keys(properties ?? {})).toEqual(['isoCode', 'id'])
  })
})
