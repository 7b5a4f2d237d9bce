import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonDigest, roundedNumber } from '../records/json-digest.ts'
import { dayNumber, keyOf, NO_DAY, RowDigest, type RowKey } from './digests.ts'
import {
  createExactReader,
  createLooseReader,
  instant,
  markOf,
  type RowShape,
} from './record-reader.ts'
import { RowTable } from './row-table.ts'

function digestOf(json: string, digest = new JsonDigest()): string {
  const bytes = Buffer.from(`${json} `)
  const end = digest.value(bytes, 0)
  expect(bytes.toString('utf8', 0, end).trim()).toBe(json.trim())
  return `${digest.high} ${digest.low}`
}

it.each([300, 342, 400, 5_000, 2_000_000])(
  'the digest of the first text of %i characters does not depend on how it came',
  (length) => {
    const text = 'x'.repeat(length)
    const digest = new JsonDigest()
    digest.text(text)
    expect(`${digest.high} ${digest.low}`).toBe(digestOf(JSON.stringify(text)))
  },
)

/** The same value in another form: members in reverse order, more white space, every character escaped. */
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

/** Without members that are null, which count as missing. */
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

  it('of rounded numbers ignores digits that databases do not store', () => {
    const digest = () => new JsonDigest(roundedNumber)
    expect(digestOf('51.12345678901', digest())).toBe(digestOf('51.123456789', digest()))
    expect(digestOf('51.12345678', digest())).not.toBe(digestOf('51.12345679', digest()))
    expect(digestOf('1.500000000', digest())).toBe(digestOf('1.5', digest()))
  })
})

const schema = {
  properties: {
    id: { type: ['integer'] },
    changeVersion: { type: ['string', 'null'] },
    date: { type: ['string', 'null'], format: 'date' },
    minutes: { type: ['integer', 'null'] },
    rate: { type: ['number', 'null'] },
    isOpen: { type: ['boolean', 'null'] },
    kind: { type: ['string', 'null'] },
    person: { type: ['object', 'null'] },
    countryISOCode: { type: ['string', 'null'] },
    countryIsoCode: { type: ['string', 'null'] },
  },
}
const shape: RowShape = { schema, key: ['id'], version: 'changeVersion', dateField: 'date' }

/** The digest of a record. */
function looseDigest(json: string) {
  const { row, version, read } = createLooseReader(shape)
  expect(read(Buffer.from(json), 0)).toBe(Buffer.byteLength(json))
  const { key, day, high, low } = row
  return { key, version: version(), day, high, low }
}

const sent =
  '{"id":7,"changeVersion":"0A","date":"2026-11-20","minutes":480,"rate":1.5,"isOpen":true,"kind":"In","person":{"id":3},"countryIsoCode":"BE"}'

describe('a row that a warehouse printed is the record of the service', () => {
  it.each([
    [
      'in lower case',
      sent.toLowerCase().replace('"in"', '"In"').replace('"be"', '"BE"').replace('0a', '0A'),
    ],
    ['in snake case', sent.replaceAll(/(?<=[a-z])([A-Z][a-z])/g, (two) => `_${two.toLowerCase()}`)],
    [
      'in another order, with columns of its own',
      `{"_sdc_batched_at":"x","mine":1,${sent.slice(1)}`,
    ],
    [
      'with null for what is missing',
      sent.replace('}}', '}}').replace(/}$/, ',"countryISOCode":null}'),
    ],
    ['with a time behind its day', sent.replace('2026-11-20', '2026-11-20T00:00:00Z')],
    ['with numbers in texts', sent.replace('480', '"480"').replace('1.5', '"1.500000000"')],
    ['with an id in a text', sent.replace('"id":7', '"id":"7"')],
    ['with an id that is a decimal', sent.replace('"id":7', '"id":7.0')],
    ['with a boolean in a text', sent.replace('true', '"t"')],
    ['with JSON in a text', sent.replace('{"id":3}', '"{\\"id\\": 3}"')],
  ])('%s', (_, printed) => {
    expect(printed).not.toBe(sent)
    expect(looseDigest(printed)).toEqual(looseDigest(sent))
  })

  it.each([
    ['2026-11-20', '2026-11-21'],
    ['480', '481'],
    ['1.5', '1.500001'],
    ['true', 'false'],
    ['"In"', '"in"'],
    ['{"id":3}', '{"id":4}'],
    ['"BE"', '"NL"'],
    ['480', 'null'],
  ])('but not with %s in place of %s', (from, to) => {
    expect(looseDigest(sent.replace(from, to)).low).not.toBe(looseDigest(sent).low)
  })
})

it.each(['_sdc_deleted_at', '_ab_cdc_deleted_at', '_deleted_at'])(
  'a row that %s marks is deleted',
  (column) => {
    const marked = [markOf({ id: 1, [column]: '2026-11-20T08:00:00Z' }), markOf({ [column]: null })]
    expect(marked).toEqual([{ isDeleted: true }, { isDeleted: false }])
  },
)

it('of a repeated member, the last one counts, in a file as in the records', () => {
  const read = (json: string) => {
    const reader = createExactReader(shape, [])
    reader.read(Buffer.from(json), 0)
    return [reader.row.key, reader.row.high, reader.row.low]
  }
  expect(read('{"id":1,"a":5,"b":6,"a":null}')).toEqual(read('{"id":1,"b":6}'))
  expect(read('{"id":1,"a":5,"a":7}')).toEqual(read('{"a":7, "id":1}'))
})

it.each([
  ['7', '"2026-02-28"'],
  ['0', '"2024-02-29T10:00:00Z"'],
  ['007', '"2026-02-31"'],
  ['-7', '"2026-13-01"'],
  ['7.0', '"1969-12-31"'],
  ['1e3', '"2026-1-011"'],
  ['999999999999999', '"9999-12-31"'],
  ['1000000000000000', '"2026"'],
  ['"7"', '20261129'],
  ['null', 'null'],
])('the key %s and the day %s are read from bytes as from texts', (id, date) => {
  const reader = createExactReader(shape, [])
  // Another record first: what it had is not kept.
  for (const text of [`{"id":5,"date":"2026-11-29"}`, `{"id":${id},"date":${date}}`])
    reader.read(Buffer.from(text), 0)
  const content: unknown = JSON.parse(date)
  const day = dayNumber(typeof content === 'string' ? content : undefined)
  expect([reader.row.key, reader.row.day]).toEqual([keyOf([id]), day])
})

it('a time has the form in which DuckDB stores it', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  for (const text of [
    '2026-11-20T08:15:30.123456789Z',
    '2026-11-20T08:15:30.5+02:00',
    '2026-11-20 23:59:59-01:00',
    '2026-11-20T08:15:30',
    '2026-11-20T08:15',
    '1969-12-31T23:59:59.999Z',
  ]) {
    const reader = await connection.runAndReadAll(
      `SELECT strftime(CAST('${text}' AS TIMESTAMP_NS), '%Y-%m-%dT%H:%M:%S.%n')`,
    )
    expect(reader.getRows()).toEqual([[instant(text)]])
  }
  connection.closeSync()
  instance.closeSync()
})

/** A row of two fields. */
function rowOf(key: RowKey, ...fields: readonly number[]): RowDigest {
  const row = new RowDigest(2)
  row.clear()
  row.key = key
  for (const [place, value] of fields.entries()) row.set(place, value, value)
  row.high = fields.reduce((sum, value) => sum + value, 0)
  return row
}

describe('a table of rows', () => {
  it('finds each of many rows by its key again, whatever the kind of key', () => {
    const table = new RowTable()
    const keys: RowKey[] = Array.from({ length: 30_000 }, (_, i) =>
      i % 3 === 0 ? `"text-${i}"` : i * (i % 3 === 1 ? 1 : 2 ** 33),
    )
    expect(keys.every((key) => table.add(rowOf(key, 1, 2), 2))).toBe(true)
    expect(keys.map((key) => table.keyOf(table.find(key)))).toEqual(keys)
    expect(new Set(keys.map((key) => table.find(key))).size).toBe(table.count)
    expect([table.find('"text-1"'), table.find(-1), table.find(0.5)]).toEqual([-1, -1, -1])
  })

  it('keeps every row when the last has been added', () => {
    const table = new RowTable()
    const keys = Array.from({ length: 4100 }, (_, i) => i)
    for (const key of keys) table.add(rowOf(key, key % 300, key), 2)
    table.end()
    expect(keys.map((key) => table.find(key))).toEqual(keys)
    expect(keys.every((key) => table.isSame(key, rowOf(key, key % 300, key)))).toBe(true)
    expect(table.changedPlaces(4099, rowOf(4099, 1, 4099), 2)).toEqual([0])
    expect(table.changedPlaces(4099, rowOf(4099, 4099 % 300, 1), 2)).toEqual([1])
    table.markFound(4099)
    expect([table.isFound(4099), table.isFound(4098)]).toEqual([true, false])
  })

  it('accepts a key once, wherever it comes again', () => {
    const table = new RowTable()
    const keys = ['"é"', '"é"', 5, 9, 7, 9, 5, 7, 8, 10, 8, 10]
    const added = [true, false, true, true, true, false, false, false, true, true, false, false]
    expect(keys.map((key) => table.add(rowOf(key, 1), 1))).toEqual(added)
    expect(table.count).toBe(6)
  })

  it('keeps rows apart whose keys rise, and those between them', () => {
    const table = new RowTable()
    // Every third key comes late. The others are near to each other at first, then far from each other.
    const keys = Array.from({ length: 20_000 }, (_, i) => i + 1).map((n) =>
      n % 3 === 0 ? n : n * (n < 9000 ? 100 : 7_000_001),
    )
    for (const key of keys) table.add(rowOf(key, key % 7, key), 2)
    table.end()
    for (const key of keys) {
      const index = table.find(key)
      expect([table.keyOf(index), table.dayOf(index), table.isFound(index)]).toEqual([
        key,
        NO_DAY,
        false,
      ])
      expect(table.changedPlaces(index, rowOf(key, key % 7, key + 1), 2)).toEqual([1])
      table.markFound(index)
    }
    expect(Array.from({ length: table.count }, (_, i) => table.isFound(i))).not.toContain(false)
  })

  it('keeps a key that is longer than the buffers of the others', () => {
    const table = new RowTable()
    const long = JSON.stringify('x'.repeat(3_000_000))
    for (const key of ['"a"', long, '"b"']) table.add(rowOf(key, 1), 1)
    expect([0, 1, 2].map((i) => table.keyOf(i))).toEqual(['"a"', long, '"b"'])
  })

  it('names the fields of a row that differ, including those that it cannot have', () => {
    const table = new RowTable()
    table.add(rowOf(7, 10, 20), 2)
    table.end()
    expect(table.changedPlaces(0, rowOf(7, 10, 21), 2)).toEqual([1])
    expect(table.changedPlaces(0, rowOf(7, 0, 20), 2)).toEqual([0])
    expect(table.changedPlaces(0, rowOf(7, 10, 20, 30), 3)).toEqual([2])
  })

  it('knows which rows another table has unchanged, and which neither has', () => {
    const [one, other] = [new RowTable(), new RowTable()]
    for (const key of [1, 2, 3]) one.add(rowOf(key, key), 1)
    other.add(rowOf(1, 1), 1)
    other.add(rowOf(2, 9), 1)
    for (const table of [one, other]) table.end()
    expect([1, 2, 3, 4].map((key) => one.hasSame(key, other))).toEqual([true, false, false, true])
  })
})

describe('the key of a row', () => {
  it.each([
    [['7'], 7],
    [['"7"'], '"7"'],
    [['-7'], '-7'],
    [['12345678901234567890'], '12345678901234567890'],
    [['"\\u00e9"'], '"é"'],
    [['"a"', '1'], '["a",1]'],
  ])('of %j is %j', (texts, key) => {
    expect(keyOf(texts)).toBe(key)
  })
})
