import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ColumnType } from '../column.ts'
import { fits, fitting } from '../fit.ts'
import { literal, postgresDialect } from './dialect.ts'
import { inProcess } from './testing/pglite.ts'

const sql = postgresDialect('protime')
let server: Awaited<ReturnType<typeof inProcess>>
beforeAll(async () => {
  server = await inProcess()
  await server.query("SET timezone = 'Asia/Tokyo'; SET datestyle = 'SQL, DMY'")
})
afterAll(() => server.end())

async function valuesOf(...expressions: readonly string[]): Promise<(string | null)[]> {
  const { rows } = await server.query(`SELECT ${expressions.join(', ')}`)
  return [...(rows[0] ?? [])]
}

/** The values of texts in a view, as texts. They are in a table: PostgreSQL computes with constants before it asks for conditions. */
async function shown(type: ColumnType, ...texts: readonly string[]): Promise<(string | null)[]> {
  const rows = texts.map((text, i) => `(${i}, ${literal(text)})`).join(', ')
  await server.query(
    `DROP TABLE IF EXISTS given; CREATE TABLE given (i INTEGER, text TEXT); INSERT INTO given VALUES ${rows}`,
  )
  const value = sql.textOf(fitting(sql, '(given.text)', type), type)
  const answer = await server.query(`SELECT ${value} FROM given ORDER BY given.i`)
  return answer.rows.map(([one]) => one ?? null)
}

/** Whether a column can store a JSON value. */
function isStored(type: ColumnType, json: string): boolean {
  const bytes = Buffer.from(` ${json} `)
  const end = bytes.length - 1
  return fits(type, bytes, 1, end) && sql.storable(type, bytes, 1, end)
}

describe('names', () => {
  it.each([
    ['timeOfDayInMinutes', '', 'timeofdayinminutes'],
    ['Été', '_json', 'Été_json'],
    ['x'.repeat(70), '', 'x'.repeat(63)],
    ['x'.repeat(70), '_12', `${'x'.repeat(60)}_12`],
    ['é'.repeat(40), '', 'é'.repeat(31)],
    ['é'.repeat(40), '_1', `${'é'.repeat(30)}_1`],
    [`${'x'.repeat(62)}𝔸`, '', 'x'.repeat(62)],
  ])('%s%s becomes %s', (wanted, suffix, name) => {
    expect(sql.limits.nameOf(wanted, suffix)).toBe(name)
  })

  it('of columns are those that every table has anyway', async () => {
    for (const name of sql.limits.reserved)
      await expect(server.query(`CREATE TABLE taken ("${name}" TEXT)`)).rejects.toThrow(
        'conflicts with a system column',
      )
  })
})

describe('what a column stores', () => {
  it.each<[ColumnType, string, boolean]>([
    ['VARCHAR', '"a\\u0000b"', false],
    ['VARCHAR', '"\\u0000"', false],
    ['VARCHAR', '"a\\\\u0000b"', true],
    ['VARCHAR', '"a\\\\\\u0000b"', false],
    ['VARCHAR', '"a\\u0001b"', true],
    ['JSON', '{"a":{"b\\u0000":1}}', false],
    ['JSON', '["\\\\u0000"]', true],
    ['JSON', '1e200000', true],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00.123456Z"', true],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00.123456000Z"', true],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00.123456001Z"', false],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00.1234567Z"', false],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00+15:59"', true],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00-16:00"', false],
    ['TIMESTAMP_NS', '"2026-01-01T10:00:00\\u002b16:00"', false],
    ['TIMESTAMP_NS', '"2026-01-01"', false],
    ['BIGINT', '9223372036854775807', true],
    ['BIGINT', '9223372036854775808', false],
    ['DOUBLE', '5e-324', true],
    ['DATE', '"9999-12-31"', true],
  ])('%s %s: %s', (type, json, isKept) => {
    expect(isStored(type, json)).toBe(isKept)
  })
})

describe('a text in a view', () => {
  it.each<[ColumnType, string, string | null]>([
    ['BIGINT', '7', '7'],
    ['BIGINT', '-9223372036854775808', '-9223372036854775808'],
    ['BIGINT', '9223372036854775808', null],
    ['BIGINT', '9'.repeat(400), null],
    ['BIGINT', '1.5', null],
    ['BIGINT', '07', null],
    ['BIGINT', '7\n', null],
    ['DOUBLE', '50.85', '50.85'],
    ['DOUBLE', '-0.0', '-0'],
    ['DOUBLE', '1e5', '100000'],
    ['DOUBLE', '1.7976931348623157e308', '1.7976931348623157e+308'],
    ['DOUBLE', '1.7976931348623159e308', null],
    ['DOUBLE', '5e-324', '5e-324'],
    ['DOUBLE', '1e-400', null],
    ['DOUBLE', '1e400', null],
    ['DOUBLE', '1e200000', null],
    ['DOUBLE', '1e-200000', null],
    ['DOUBLE', '0.1234567890123456789', null],
    ['DOUBLE', `0.${'0'.repeat(400)}1`, null],
    ['DOUBLE', '9'.repeat(2000), null],
    ['DOUBLE', 'NaN', null],
    ['DOUBLE', ' 1', null],
    ['BOOLEAN', 'true', 'true'],
    ['BOOLEAN', 'yes', null],
    ['DATE', '2024-02-29', '2024-02-29'],
    ['DATE', '2023-02-29', null],
    ['DATE', '0001-01-01', '0001-01-01'],
    ['DATE', '0000-01-01', null],
    ['DATE', '9999-12-31', '9999-12-31'],
    ['DATE', 'today', null],
    ['DATE', '2026-01-01\nx', null],
    ['TIMESTAMP_NS', '2026-01-01T10:00', '2026-01-01T10:00:00.000000000'],
    ['TIMESTAMP_NS', '2026-01-01 10:00:00', '2026-01-01T10:00:00.000000000'],
    ['TIMESTAMP_NS', '2026-01-01T10:00:00+02:00', '2026-01-01T08:00:00.000000000'],
    ['TIMESTAMP_NS', '2026-01-01T10:00:00.123456Z', '2026-01-01T10:00:00.123456000'],
    ['TIMESTAMP_NS', '2026-01-01T10:00:00.123456789Z', null],
    ['TIMESTAMP_NS', '2026-01-01T10:00:00+16:00', null],
    ['TIMESTAMP_NS', '2026-01-01T10:00:00+02:75', null],
    ['TIMESTAMP_NS', '2026-02-30T10:00:00Z', null],
  ])('as %s: %j is %j', async (type, text, value) => {
    expect(await shown(type, text)).toEqual([value])
  })

  it('never fails a query, and is shown exactly when a column would store it', async () => {
    const piece = fc.constantFrom(
      ...['-', '+', '.', 'e', 'E', 'T', ' ', ':', 'Z', '0', '1', '2', '9', '00', '12', '29', '30'],
      ...['2024', '1677', '2262', '9999', '0000', '-02-', '-12-31', 'T23:59', ':60', '\n', 'true'],
      ...['000000', '123456789', '999999999999', '+15:59', '-16:00', "'", '\\', 'ab', 'é'],
    )
    const text = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''))
    const types = ['BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP_NS'] as const
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 60 }), async (texts) => {
        for (const type of types) {
          const json = (text: string) =>
            type === 'DATE' || type === 'TIMESTAMP_NS' ? JSON.stringify(text) : text
          const found = await shown(type, ...texts)
          expect(texts.map((text, i) => [type, text, found[i] !== null])).toEqual(
            texts.map((text) => [type, text, isStored(type, json(text))]),
          )
        }
      }),
      { numRuns: 20 },
    )
  })
})

it('a text of any characters is a literal, whatever the server is set to', async () => {
  for (const setting of ['on', 'off']) {
    await server.query(`SET standard_conforming_strings = ${setting}`)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 30 }), async (text) => {
        const written = text.replaceAll('\0', '\ufffd')
        expect(await valuesOf(literal(text))).toEqual([written])
      }),
    )
  }
  await server.query('SET standard_conforming_strings = on')
  expect(await valuesOf(literal("it's \\ and \0"))).toEqual(["it's \\ and \ufffd"])
})

it.each<[ColumnType, string, string | null]>([
  ['DATE', "DATE '2026-02-03'", '2026-02-03'],
  ['DATE', "DATE '0044-03-15 BC'", '0044-03-15 BC'],
  ['DATE', "DATE '-infinity'", '-infinity'],
  ['DATE', 'CAST(NULL AS DATE)', null],
  ['DATE', "'someday'::TEXT", 'someday'],
  ['TIMESTAMP_NS', "TIMESTAMPTZ '2026-02-03T04:05:06.7Z'", '2026-02-03T04:05:06.700000000'],
  ['TIMESTAMP_NS', "TIMESTAMPTZ '0044-03-15T00:00:00Z BC'", '0044-03-15T00:00:00 BC'],
  ['TIMESTAMP_NS', "TIMESTAMPTZ 'infinity'", 'infinity'],
  ['TIMESTAMP_NS', 'CAST(NULL AS TIMESTAMPTZ)', null],
])('the text of a %s with %s is that of no other value', async (type, value, text) => {
  expect(await valuesOf(sql.textOf(value, type))).toEqual([text])
})

describe('a value in JSON', () => {
  const value = (json: string) => `CAST(${literal(json)} AS JSON)`

  it.each([
    ['{"a":{"b/c~d":0.12345678901234567890}}', '/a/b~1c~0d', '0.12345678901234567890'],
    ['{"a":"x\\"y"}', '/a', 'x"y'],
    ['{"a":null}', '/a', null],
    ['{"a":[1]}', '/b', null],
    ['[1]', '/a', null],
    ['5', '/a', null],
    ['"whole"', '', 'whole'],
  ])('%s at %j as text is %j', async (json, pointer, text) => {
    expect(await valuesOf(sql.textAt(value(json), pointer))).toEqual([text])
    expect(await valuesOf(sql.numberAt(value(json), pointer))).toEqual([text])
  })

  it('stays as it is written', async () => {
    const json = '{"a":{"c": 1e2,"b":1.10,"c":2}}'
    expect(await valuesOf(sql.jsonAt(value(json), '/a'))).toEqual(['{"c": 1e2,"b":1.10,"c":2}'])
  })

  it('has its members listed once and in order, and only if it is an object', async () => {
    const values = [
      '{"o":{"b":1,"a":2}}',
      '{"o":{"é":1,"b":1,"B":1}}',
      '{"o":[1]}',
      '{"o":null}',
      '5',
    ]
    await server.query(
      `CREATE TABLE objects AS SELECT CAST(value AS JSON) AS one FROM (VALUES (${values.map(literal).join('), (')}), (NULL)) AS given (value)`,
    )
    const { rows } = await server.query(
      sql.members('"one"', '/o', 'objects AS added WHERE true', 3),
    )
    expect(rows).toEqual([['B'], ['a'], ['b']])
  })
})
