import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Column } from '../../src/warehouse/column.ts'
import { engineOf } from '../../src/warehouse/landings.ts'
import { storedColumns } from '../../src/warehouse/tables.ts'
import { send, sending, streamOf, syncLists } from '../../src/warehouse/testing/list-source.ts'
import { runSettings } from '../histories/property.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
let schemas = 0
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())

type Fields = Readonly<Record<string, unknown>>

/** Names that are words of ours, or that SQL does not take. */
const ODD = [
  ...['', '\0', 'a\0b', '\ud800', 'a\nb', '\u202e', ' ', '"', "'", '""; --', '\\', 'é', 'É', '😀'],
  ...['n'.repeat(100), `${'n'.repeat(99)}m`, 'N'.repeat(100), `${'n'.repeat(62)}é`, 'ΟΔΟΣ', 'İ'],
  ...['xmin', 'XMIN', 'ctid', 'tableoid', 'oid', '_known_from', '_deleted_at', '_protime_row'],
  ...[
    'old',
    'came',
    'changed',
    'batch',
    'last',
    'added',
    'source',
    'shown',
    'one',
    'waits',
    'gone',
  ],
]

const STREAM = streamOf('jobs', {
  count: { type: ['integer', 'null'] },
  share: { type: ['number', 'null'] },
  isOpen: { type: ['boolean', 'null'] },
  day: { type: ['string', 'null'], format: 'date' },
  at: { type: ['string', 'null'], format: 'date-time' },
  name: { type: ['string', 'null'] },
  person: {
    type: ['object', 'null'],
    properties: {
      id: { type: ['integer', 'null'] },
      from: { type: ['string', 'null'], format: 'date' },
      share: { type: ['number', 'string', 'null'] },
      names: { type: ['object', 'null'] },
    },
  },
})

/** Syncs records, and throws unless each value is in the warehouse as it was sent, and the view can be read. */
async function lands(address: string, ...records: readonly Fields[]): Promise<void> {
  const sent = records.map((record) => JSON.stringify(record))
  const { failures } = await syncLists(address, new Map([[STREAM, sending(...sent)]]))
  expect(failures).toEqual([])
  const found = await stored(address)
  for (const record of sent.map((text) => JSON.parse(text) as Fields))
    expect(found.get(String(record['id']))).toEqual(
      Object.fromEntries(
        Object.entries(record)
          .filter(([, value]) => value !== null)
          .map(whole),
      ),
    )
}

/** The rows as JSON, by their ids, and by the names of the service. */
async function stored(address: string): Promise<Map<string, Fields>> {
  const landing = await engineOf(address).read(address, (open) => open())
  try {
    const columns = (await storedColumns(landing)).get('jobs') ?? []
    const { sql } = landing
    const texts = columns.map(({ name, type }) =>
      sql.textOf(`source."${name.replaceAll('"', '""')}"`, type),
    )
    const rows = await landing.query(
      `SELECT ${texts.join(', ')} FROM ${sql.schemas.tables}.jobs AS source`,
    )
    await landing.query(`SELECT * FROM ${sql.schemas.flat}.jobs`)
    const found = rows.map((row) =>
      columns.flatMap((column, i) => {
        const text = row[i] ?? null
        return text === null ? [] : [[column.property, sentAs(column, text)] as const]
      }),
    )
    return new Map(
      found.map((fields) => [String(new Map(fields).get('id')), Object.fromEntries(fields)]),
    )
  } finally {
    await landing.close()
  }
}

function sentAs({ type }: Column, text: string): unknown {
  if (type === 'VARCHAR' || type === 'DATE') return text
  // Times are sent in this form.
  return type === 'TIMESTAMP_NS' ? `${text.slice(0, 23)}Z` : JSON.parse(text)
}

/** No database holds half of a surrogate pair in a value. */
function whole([name, value]: [string, unknown]): [string, unknown] {
  const well = (text: string) => Buffer.from(text).toString()
  const all = (one: unknown): unknown => {
    if (typeof one === 'string') return well(one)
    if (Array.isArray(one)) return one.map(all)
    if (one === null || typeof one !== 'object') return one
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [well(key), all(inner)]))
  }
  return [name, all(value)]
}

const odd = fc.constantFrom<unknown>(
  ...['2026-02-30', '2024-02-29', '0000-01-01', '9999-12-31', 'infinity', 'today', 'NaN', ''],
  ...['2026-01-01T10:00:00.123Z', '2026-01-01T10:00:00+16:00', '1677-01-01T00:00:00.000Z', 'a\0b'],
  ...['a\nb', '\u0001\u0002\u001f', '\\.', 'a\n\\.\nb', '\ud800', '\\u0000', '"', "'", '\r\n'],
  ...[1.5, -0.1, 1e300, 5e-324, 9007199254740991, 1e21, true, null, [], {}, { 'a\0': 1 }, [[null]]],
)
const value = fc.oneof(odd, odd, fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary' }))
const record = fc.record({
  ...{ count: value, share: value, isOpen: value, day: value, at: value, name: value },
  person: fc.oneof(value, fc.record({ id: value, from: value, share: value, names: value })),
  extra: value,
})

describe('in PostgreSQL', () => {
  it('any record lands exactly or in second columns, and every view answers', async () => {
    const address = server.address(`values_${++schemas}`)
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 25 }), (records) =>
        lands(address, ...records.map((one, i) => ({ ...one, id: i + 1 }))),
      ),
      { numRuns: runSettings(24).runs },
    )
  })

  it('a record may have as many fields as a table has columns, and more are refused', async () => {
    const address = server.address(`wide_${++schemas}`)
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 'v'.repeat(21)]))
    await lands(address, { ...fields(312), id: 1 })
    const more = JSON.stringify({ ...fields(390), id: 2 })
    const { failures } = await syncLists(address, new Map([[STREAM, sending(more)]]))
    expect(failures.map(({ error }) => [error.id, error.message])).toEqual([
      ['too-many-members', expect.stringContaining('or in PostgreSQL into another schema')],
    ])
  })

  it('a field may have any name', async () => {
    const words = (await server.query('SELECT word FROM pg_get_keywords()'))
      .split('\n')
      .filter(Boolean)
    for (let at = 0; at < words.length; at += 160) {
      const address = server.address(`names_${++schemas}`)
      const names = [...new Set([...ODD, ...words.slice(at, at + 160)])]
      const valuesFrom = (first: number) =>
        Object.fromEntries(names.map((name, i) => [name, first + i]))
      await lands(address, { ...valuesFrom(0), id: 1 }, { ...valuesFrom(1000), id: 2 })
      await lands(address, { ...valuesFrom(5000), id: 2 }, { ...valuesFrom(9000), id: 3 })
      const again = [
        { ...valuesFrom(7000), id: 1 },
        { ...valuesFrom(9000), id: 3 },
      ]
      await syncLists(
        address,
        new Map([
          [
            STREAM,
            async (output) => {
              await send(
                output,
                again.map((one) => JSON.stringify(one)),
                2,
              )
              await output.checkpoint({ flush: true })
              output.note({ type: 'generation complete', generation: 2 })
              await output.complete()
            },
          ],
        ]),
      )
      expect([...(await stored(address)).values()].map((row) => row['id'])).toEqual(
        expect.arrayContaining([1, 3]),
      )
      expect((await stored(address)).size).toBe(2)
      expect((await stored(address)).get('1')).toMatchObject({ xmin: 7000 + names.indexOf('xmin') })
    }
  })
})
