import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CatalogStream } from './columns.ts'
import { type Destination, openDestination } from './destination.ts'

const people: CatalogStream = {
  name: 'people',
  json_schema: {
    properties: {
      id: { type: 'integer' },
      changeVersion: { type: ['string', 'null'] },
      name: { type: ['object', 'null'] },
      countryISOCode: { type: ['string', 'null'] },
      countryIsoCode: { type: ['string', 'null'] },
      _ab_cdc_deleted_at: { type: ['string', 'null'], format: 'date-time' },
      _generation: { type: ['integer', 'null'] },
    },
  },
  default_cursor_field: ['changeVersion'],
  source_defined_primary_key: [['id']],
}
const references: CatalogStream = {
  name: 'external_references',
  json_schema: {
    properties: {
      name: { type: 'string' },
      value: { type: 'string' },
      owner: { type: 'string' },
      _generation: { type: ['integer', 'null'] },
    },
  },
  default_cursor_field: ['_generation'],
  source_defined_primary_key: [['name'], ['value']],
}
const DELETED = '2026-11-20T03:00:00.000Z'

let folder: string
let destination: Destination

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'destination-'))
  destination = await openDestination(':memory:')
})

afterEach(() => {
  destination.close()
  rmSync(folder, { recursive: true })
})

/** Loads records that were emitted at the times 1, 2, 3, ..., or as `at` says. */
function load(stream: CatalogStream, records: readonly object[], at: readonly number[] = []) {
  const lines = records.map((data, i) =>
    JSON.stringify({
      type: 'RECORD',
      record: { stream: stream.name, emitted_at: at[i] ?? i + 1, data },
    }),
  )
  const file = join(folder, 'records.ndjson')
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
  return destination.load(stream, file)
}

async function rows(stream: CatalogStream): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const text of destination.rows(stream)) found.push(JSON.parse(text))
  return found
}

const person = (id: number, changeVersion: string | null, name: string, more = {}) => ({
  id,
  changeVersion,
  name: { default: name },
  ...more,
})
const names = async () => (await rows(people)).map((row) => (row as { name: unknown }).name)

describe('the final table', () => {
  it('holds the highest changeVersion of a key, whatever was emitted last', async () => {
    await load(people, [person(1, '00B', 'new'), person(1, '00A', 'old')])
    expect(await names()).toEqual([{ default: 'new' }])
  })

  it('orders changeVersions as text, not as numbers', async () => {
    await load(people, [person(1, '9', 'new'), person(1, '10', 'old')])
    expect(await names()).toEqual([{ default: 'new' }])
  })

  it('holds the one emitted last of equal versions', async () => {
    await load(people, [person(1, '00A', 'second'), person(1, '00A', 'first')], [7, 6])
    expect(await names()).toEqual([{ default: 'second' }])
  })

  it('holds the later line of versions emitted in the same millisecond', async () => {
    await load(people, [person(1, '00A', 'first'), person(1, '00A', 'second')], [7, 7])
    expect(await names()).toEqual([{ default: 'second' }])
  })

  it('prefers any version to none', async () => {
    await load(people, [person(1, '00A', 'known'), person(1, null, 'unknown')])
    expect(await names()).toEqual([{ default: 'known' }])
  })

  it('leaves out a row whose winner is a deletion', async () => {
    await load(people, [
      person(1, '00A', 'gone'),
      { id: 1, changeVersion: '00B', _ab_cdc_deleted_at: DELETED },
    ])
    expect(await names()).toEqual([])
  })

  it('keeps a row that lives on above an older deletion', async () => {
    await load(people, [
      { id: 1, changeVersion: '00A', _ab_cdc_deleted_at: DELETED },
      person(1, '00B', 'back', { _ab_cdc_deleted_at: null }),
    ])
    expect(await names()).toEqual([{ default: 'back' }])
  })

  it('is made of the rows of all loads', async () => {
    await load(people, [person(1, '00C', 'kept')])
    await load(people, [person(1, '00B', 'late'), person(2, '00D', 'other')])
    expect((await names()).length).toBe(2)
  })

  it('orders integer cursors as numbers, below a key of two columns', async () => {
    const reference = (owner: string, _generation: number) => ({
      name: 'a',
      value: 'b',
      owner,
      _generation,
    })
    await load(references, [reference('new', 10), reference('old', 9)])
    expect(await rows(references)).toEqual([{ name: 'a', value: 'b', owner: 'new' }])
  })

  it('keeps properties apart whose names differ by case only', async () => {
    await load(people, [person(1, '00A', 'Ada', { countryISOCode: 'BE', countryIsoCode: 'NL' })])
    expect(await rows(people)).toEqual([
      person(1, '00A', 'Ada', { countryISOCode: 'BE', countryIsoCode: 'NL' }),
    ])
  })
})

describe('the outcome of a load', () => {
  it('counts rows that are new, different and gone', async () => {
    await load(people, [person(1, '00A', 'a'), person(2, '00A', 'b'), person(3, '00A', 'c')])
    const outcome = await load(people, [
      person(1, '00B', 'changed'),
      { id: 2, changeVersion: '00B', _ab_cdc_deleted_at: DELETED },
      person(4, '00A', 'new'),
    ])
    expect(outcome).toEqual({ rows: 3, changed: 2, deleted: 1 })
  })

  it('counts no change when the same rows come again in another generation', async () => {
    await load(people, [person(1, '00A', 'a', { _generation: 1 })])
    const outcome = await load(people, [person(1, '00A', 'a', { _generation: 2 })])
    expect(outcome).toEqual({ rows: 1, changed: 0, deleted: 0 })
  })

  it('is an empty table for a stream without records', async () => {
    expect(await destination.load(people, undefined)).toEqual({ rows: 0, changed: 0, deleted: 0 })
  })
})
