import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readSchemaCollections, schemaCollection } from './collections.ts'
import { documentedCollections, documentedRelations } from './documented-collections.ts'

const documented = Object.entries(documentedCollections).map(([name, facts]) => {
  const file = `schemas/${name.replaceAll('-', '_')}.json`
  return { name, facts, schema: JSON.parse(readFileSync(file, 'utf8')) }
})

describe.each(documented)('the schema of $name', ({ name, facts, schema }) => {
  const derived = schemaCollection(name, schema)

  it('tells the facts that are documented', () => {
    const { softDeletes, hasGuids } = facts
    expect(derived.facts).toMatchObject({
      softDeletes,
      ...(hasGuids && { hasGuids }),
      ...(facts.dateField === 'date' && { dateField: 'date', yearOnly: facts.yearOnly }),
    })
  })

  it('requires no filter on date where none is documented', () => {
    const { dateField, isDateOptional = false } = derived.facts
    expect(dateField === undefined || isDateOptional).toBe(facts.dateField !== 'date')
  })

  it('tells the collections that its records refer to', () => {
    expect({ ...documentedRelations, ...derived.relations }).toMatchObject(documentedRelations)
    const targets = facts.dateField ? facts.references.list : []
    expect(derived.facts.references.list).toEqual(expect.arrayContaining([...targets]))
  })
})

it('only a collection that is not documented is read from its schema', () => {
  const read = Object.keys(readSchemaCollections())
  expect(read.filter((name) => name in documentedCollections)).toEqual([])
  expect(read).not.toContain('external-references')
})

it('a schema without examples is refused by its name', () => {
  const schema = { properties: { id: { type: 'integer' } } }
  expect(() => schemaCollection('shift-swaps', schema)).toThrow('shift-swaps has no examples')
})
