import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Emulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'
import {
  documentedCollections,
  documentedRelations,
  readSchemaCollections,
  schemaCollection,
} from './collections.ts'

const documented = Object.entries(documentedCollections).map(([name, facts]) => {
  const file = `schemas/${name.replaceAll('-', '_')}.json`
  return { name, facts, schema: JSON.parse(readFileSync(file, 'utf8')) }
})

describe.each(documented)('the schema of $name', ({ name, facts, schema }) => {
  const derived = schemaCollection(name, schema)

  it('contains the documented facts', () => {
    const { softDeletes, hasGuids } = facts
    expect(derived.facts).toMatchObject({
      softDeletes,
      ...(hasGuids && { hasGuids }),
      ...(facts.dateField === 'date' && { dateField: 'date', yearOnly: facts.yearOnly }),
    })
  })

  it('requires no filter on date if none is documented', () => {
    const { dateField, isDateOptional = false } = derived.facts
    expect(dateField === undefined || isDateOptional).toBe(facts.dateField !== 'date')
  })

  it('contains the collections that its records refer to', () => {
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

const person = { id: { type: ['integer', 'null'], description: 'joins to people.id.' } }
const shiftSwaps = {
  properties: {
    id: { type: 'integer' },
    changeVersion: { type: ['string', 'null'] },
    person: { properties: person },
    replacement: { properties: person },
    date: { type: ['string', 'null'], format: 'date' },
    requestedOn: { type: ['string', 'null'], format: 'date' },
    status: { type: ['string', 'null'], description: 'Known values: Agreed, Deleted.' },
    comment: { type: ['string', 'null'] },
  },
  examples: [
    {
      id: 7,
      changeVersion: '00000A1000005C20001F',
      person: { id: 41, externalReferences: { '@badge-number': '1' } },
      replacement: { id: 42 },
      date: '2026-03-16',
      requestedOn: '2026-03-14',
      status: 'Agreed',
      comment: 'For the wedding',
    },
  ],
}

let root: string
let start: (options: object) => Promise<Emulator>
let emulator: Emulator
let client: TestClient

// A package with the emulator and the schemas only: it needs no other files of the connector.
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'emulator-'))
  cpSync('dist/emulator', join(root, 'dist/emulator'), { recursive: true })
  cpSync('package.json', join(root, 'package.json'))
  mkdirSync(join(root, 'schemas'))
  writeFileSync(join(root, 'schemas/shift_swaps.json'), JSON.stringify(shiftSwaps))
  const main = pathToFileURL(join(root, 'dist/emulator/emulator.js')).href
  start = (await import(/* @vite-ignore */ main)).startEmulator
})
afterAll(() => rmSync(root, { recursive: true }))

const filter = "filter=date ge '2026-10-20'"

describe('a collection that has only a schema', () => {
  beforeEach(async () => {
    emulator = await start({ people: 5, months: 1 })
    client = await connect(emulator)
  })
  afterEach(() => emulator.close())

  it('has records like the example, for the people and days of the tenant', () => {
    const records = emulator.all('shift-swaps')
    const people = emulator.all('people').map(({ id }) => id)
    expect(records.length).toBeGreaterThan(20)
    for (const { date, requestedOn, ...record } of records) {
      expect(record).toMatchObject({ status: 'Agreed', comment: 'For the wedding' })
      expect(Date.parse(String(date)) - Date.parse(String(requestedOn))).toBe(2 * 86_400_000)
      const someone = people.map((id) => ({ id }))
      expect(someone).toContainEqual(record['person'])
      expect(someone).toContainEqual(record['replacement'])
    }
  })

  it('does not change the rest of the tenant', async () => {
    const { startEmulator } = await import('../emulator.ts')
    const without = await startEmulator({ people: 5, months: 1 })
    for (const name of ['people', 'clockings', 'departments'])
      expect(emulator.all(name)).toEqual(without.all(name))
    await without.close()
  })

  it('has a list, which needs a filter on date, and shows the references of both people', async () => {
    expect(await client.get('/shift-swaps')).toMatchObject({ status: 400 })
    const wanted = 'externalReferences=(people,@badge-number)'
    const { items } = await client.walk(`/shift-swaps?${filter}&${wanted}`)
    const references = [{ collection: 'people', name: '@badge-number' }]
    expect(items).toEqual(emulator.all('shift-swaps', references))
    expect(items[0]?.person.externalReferences).toBeDefined()
  })

  it('has a delta, which reports inserts, updates, soft deletes and deletes', async () => {
    const { items, deltaLink = '' } = await client.walk(`/shift-swaps?delta&${filter}`)
    const [updated, marked, removed] = items.map(({ id }) => id) as [number, number, number]
    const { id: inserted } = emulator.insert('shift-swaps')
    const [before] = emulator.all('shift-swaps')
    const after = emulator.update('shift-swaps', updated)
    expect(after).not.toEqual({ ...before, changeVersion: after['changeVersion'] })
    emulator.softDelete('shift-swaps', marked)
    emulator.remove('shift-swaps', removed)
    const told = (await client.walk(deltaLink)).items
    expect(told.map(({ changeType, data }) => [changeType, data.id])).toEqual([
      ['InsertOrUpdate', inserted],
      ['InsertOrUpdate', updated],
      ['InsertOrUpdate', marked],
      ['Delete', removed],
    ])
  })

  it('takes part in changes all over the tenant', () => {
    const counts = emulator.randomChanges({ inserts: 300, updates: 300, deletes: 100 })
    expect(counts['shift-swaps']).toEqual({
      inserts: expect.any(Number),
      updates: expect.any(Number),
      deletes: expect.any(Number),
      softDeletes: 0,
    })
  })
})
