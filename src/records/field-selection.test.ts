import { describe, expect, it } from 'vitest'
import { schemaUnder, selectionRules } from './field-selection.ts'
import { rewriteRecord } from './record-rewriter.ts'
import type { JsonSchema } from './stream-spec.ts'

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
  it('is none when everything is selected, so that records pass as they came', () => {
    expect(selectionRules(schema, without())).toBeUndefined()
  })

  it('keeps only known members beside a deselected one', () => {
    const rules = selectionRules(schema, without('properties.name'))
    const json = '{"id":1,"name":2,"lines":3,"new":4}'
    expect(rules && rewriteRecord(Buffer.from(json), rules)).toBe('{"id":1,"lines":3}')
  })

  it('looks into objects and lists and leaves their neighbours alone', () => {
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
