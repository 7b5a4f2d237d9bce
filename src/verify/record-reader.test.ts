import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import {
  createExactReader,
  createLooseReader,
  instant,
  markOf,
  type RowShape,
} from './record-reader.ts'

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

/** What a reader makes of a record. */
function looseDigest(json: string) {
  const { row, read } = createLooseReader(shape)
  expect(read(Buffer.from(json), 0)).toBe(Buffer.byteLength(json))
  const { key, version, day, high, low } = row
  return { key, version, day, high, low }
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

it('of a member that comes twice the last counts, in a file as in the records', () => {
  const read = (json: string) => {
    const reader = createExactReader(shape, [])
    reader.read(Buffer.from(json), 0)
    return [reader.row.key, reader.row.high, reader.row.low]
  }
  expect(read('{"id":1,"a":5,"b":6,"a":null}')).toEqual(read('{"id":1,"b":6}'))
  expect(read('{"id":1,"a":5,"a":7}')).toEqual(read('{"a":7, "id":1}'))
})

it('a time is the one that DuckDB keeps of it', async () => {
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
