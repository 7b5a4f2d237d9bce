import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask, withDuckDb } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { DELETE } from '../records/record-batch.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import { type Script, send, sending, streamOf, syncLists } from './testing/list-source.ts'

const { file, rows } = eachWithWarehouse()

const TEXT = { type: ['string', 'null'] }
const NUMBER = { type: ['number', 'null'] }
const INTEGER = { type: ['integer', 'null'] }
const DAY = { type: ['string', 'null'], format: 'date' }
const TIME = { type: ['string', 'null'], format: 'date-time' }

/** At night; by day a value that is longer than DuckDB's buffer is enough, and needs more memory than others, too. */
const LONG_MB = process.env['HISTORIES_SCALE'] === undefined ? 9 : 45

const typesOf = async (table: string) =>
  Object.fromEntries(
    (await rows(`DESCRIBE ${table}`)).map((row) => [row['column_name'], row['column_type']]),
  )

async function sync(script: Script, schema: JsonSchema = DAY) {
  const stream = streamOf('clockings', { day: schema, name: TEXT, place: { type: 'object' } })
  const done = await syncLists(file(), new Map([[stream, script]]))
  expect(done.failures).toEqual([])
  return done
}

/** A complete reading: what it does not send is gone. */
const reading =
  (generation: number, ...records: readonly string[]): Script =>
  async (output) => {
    await send(output, records, generation)
    output.note({ type: 'generation complete', generation })
    await output.complete()
  }

describe('a value that does not fit into its column', () => {
  const cases: readonly (readonly [what: string, schema: JsonSchema, good: string, bad: string])[] =
    [
      ['more digits than a double has', NUMBER, '0.5', '0.12345678901234567890'],
      ['an integer that a double would round', NUMBER, '0.5', '9007199254740993'],
      ['a number that is no BIGINT', INTEGER, '7', '9223372036854775808'],
      ['a fraction among integers', INTEGER, '-7', '12.5'],
      ['a day of the year 0, which SQL does not have', DAY, '"0001-02-28"', '"0000-02-28"'],
      ['a day that there is not', DAY, '"2026-02-28"', '"2026-02-30"'],
      [
        'a time with a zone and without seconds',
        TIME,
        '"2026-02-28T10:00:00Z"',
        '"2026-02-28T10:00Z"',
      ],
      [
        'a time that nanoseconds do not reach',
        TIME,
        '"2261-12-31T10:00:00Z"',
        '"2262-12-31T10:00:00Z"',
      ],
      ['a number among texts', TEXT, '"a"', '5'],
      ['an object among texts', TEXT, '"a"', String.raw`{"é":["\n"]}`],
    ]

  describe('is null there, and as it came beside it', () => {
    let path: string
    const before: string[] = []
    let warnings: readonly string[]
    const table = (i: number) => `stream_${i}`
    const typeIn = async (schema: string, i: number, column: string) => {
      const types = await ask(path, `DESCRIBE ${schema}.${table(i)}`)
      return types.find((row) => row['column_name'] === column)?.['column_type']
    }
    // A stream for each case, so that all share three syncs.
    const syncAll = (recordsOf: (good: string, bad: string) => readonly string[]) =>
      syncLists(
        path,
        new Map(
          cases.map(([, schema, good, bad], i) => [
            streamOf(table(i), { day: schema }),
            sending(...recordsOf(good, bad)),
          ]),
        ),
      )
    beforeAll(async () => {
      const own = mkdtempSync(join(tmpdir(), 'warehouse-variants-'))
      path = join(own, 'w.duckdb')
      await syncAll((good) => [`{"id":1,"day":${good}}`])
      for (const i of cases.keys()) before.push(String(await typeIn('main', i, 'day')))
      const done = await syncAll((good, bad) => [
        `{"id":2,"day":${good}}`,
        `{"id":3,"day":${bad}}`,
        `{"id":4,"day":${bad}}`,
      ])
      warnings = done.warnings
      await syncAll((good) => [`{"id":5,"day":${good}}`])
      return () => rmSync(own, { recursive: true })
    })

    it.each(cases.map(([what, , , bad], i) => [what, bad, i] as const))('%s', async (_, bad, i) => {
      for (const schema of ['main', 'flat'])
        expect([await typeIn(schema, i, 'day'), await typeIn(schema, i, 'day_json')]).toEqual([
          before[i],
          'JSON',
        ])
      expect(
        await ask(path, `SELECT id::INTEGER AS id, day_json FROM ${table(i)} WHERE day IS NULL`),
      ).toEqual([
        { id: 3, day_json: bad },
        { id: 4, day_json: bad },
      ])
      expect(warnings).toContain(
        `${table(i)}: day is not a valid ${before[i]} in 2 records: there it is null, and day_json has the original value. [value-of-another-type]`,
      )
      expect(warnings).toHaveLength(cases.length)
    })
  })

  it.each([
    ['a day in December', DAY, '"2026-12-31"'],
    ['true', { type: ['boolean', 'null'] }, 'true'],
    ['false', { type: ['boolean', 'null'] }, 'false'],
  ])('is none, and stays in its column: %s', async (_what, schema, value) => {
    const { warnings } = await sync(sending(`{"id":1,"day":${value}}`), schema)
    expect(warnings).toEqual([])
    expect(await rows('SELECT day::VARCHAR AS day FROM clockings')).toEqual([
      { day: String(JSON.parse(value)) },
    ])
  })

  it('does not change queries about dates and strings', async () => {
    const good = Array.from(
      { length: 9 },
      (_, i) => `{"id":${i},"day":"2026-01-0${i + 1}","name":"n${i}"}`,
    )
    await sync(sending(...good, '{"id":9,"day":"2026-02-30","name":{"x":1}}'))
    expect(
      await rows("SELECT count(*)::INTEGER AS n FROM flat.clockings WHERE day >= '2025-01-01'"),
    ).toEqual([{ n: 9 }])
    expect(await rows("SELECT id::INTEGER AS id FROM clockings WHERE name = 'n5'")).toEqual([
      { id: 5 },
    ])
  })

  it('is reported in one sentence for a single record', async () => {
    const { warnings } = await sync(sending('{"id":1,"day":5}'))
    expect(warnings).toEqual([
      expect.stringContaining('day is not a valid DATE in 1 record: there it'),
    ])
  })

  it('is removed when a valid one comes, and its column when a complete read has none', async () => {
    await sync(sending('{"id":1,"day":5}', '{"id":2,"day":"2026-01-01"}'))
    await sync(sending('{"id":1,"day":"2026-01-02"}'))
    expect(
      await rows('SELECT id::INTEGER AS id, day, day_json FROM clockings ORDER BY id'),
    ).toEqual([
      { id: 1, day: '2026-01-02', day_json: null },
      { id: 2, day: '2026-01-01', day_json: null },
    ])
    await sync(reading(2, '{"id":1,"day":5}'))
    expect(await typesOf('clockings')).toMatchObject({ day: 'DATE', day_json: 'JSON' })
    await sync(reading(3, '{"id":1,"day":"2026-01-02"}'))
    for (const table of ['main.clockings', 'flat.clockings'])
      expect(Object.keys(await typesOf(table))).not.toContain('day_json')
    await sync(sending('{"id":2,"day":5}'))
    expect(await rows('SELECT id::INTEGER AS id, day_json FROM clockings ORDER BY id')).toEqual([
      { id: 1, day_json: null },
      { id: 2, day_json: '5' },
    ])
  })

  it('counts with its last occurrence if a member comes twice', async () => {
    const { warnings } = await sync(
      sending(
        '{"id":1,"day":5,"day":"2026-01-01"}',
        '{"id":2,"day":"2026-01-01","day":5}',
        '{"id":3,"day":5,"day":null}',
        '{"id":4}',
      ),
    )
    expect(await rows('SELECT day, day_json FROM clockings ORDER BY id')).toEqual([
      { day: '2026-01-01', day_json: null },
      { day: null, day_json: '5' },
      { day: null, day_json: null },
      { day: null, day_json: null },
    ])
    expect(warnings).toEqual([expect.stringContaining('in 1 record:')])
  })

  it('has a column with a name that the service does not use', async () => {
    await sync(sending('{"id":1,"day_json":"theirs","day":5}'))
    expect(await rows('SELECT day_json, day_json_1 FROM clockings')).toEqual([
      { day_json: '"theirs"', day_json_1: '5' },
    ])
  })
})

describe('a key that does not fit into its column', () => {
  it('identifies rows nevertheless', async () => {
    await sync(sending('{"id":"a","name":"x"}', '{"id":2,"name":"y"}', '{"id":"b","name":"z"}'))
    await sync(
      sending('{"id":"a","name":"again"}', '{"id":2,"name":"too"}', {
        json: '{"id":"b"}',
        op: DELETE,
      }),
    )
    await sync(async (output) => {
      await send(output, ['{"id":2,"name":"third"}'], 2)
      await output.checkpoint({ flush: true })
      await send(output, ['{"id":10,"name":"new"}'], 2)
      await output.complete()
    })
    expect(await rows('SELECT id, id_json, name FROM clockings ORDER BY name')).toEqual([
      { id: null, id_json: '"a"', name: 'again' },
      { id: '10', id_json: null, name: 'new' },
      { id: '2', id_json: null, name: 'third' },
    ])
  })
})

describe('a value', () => {
  it('with an escaped backslash before the letters of a surrogate is not changed', async () => {
    const place = String.raw`{"a":"\\ud800","b":"\ud83d\ude00","c":"\\\ud800","d":"\udc00\ud800"}`
    await sync(sending(`{"id":1,"place":${place}}`))
    const [row] = await rows('SELECT place::VARCHAR AS place FROM clockings')
    expect(JSON.parse(String(row?.['place']))).toEqual({
      a: String.raw`\ud800`,
      b: '😀',
      c: '\\\ufffd',
      d: '\ufffd\ufffd',
    })
  })

  it('that looks like rows is a string even if DuckDB begins to read in the middle of it', async () => {
    const name = '\n0\x1f7\x1f2026-03-31\x1fx\x1f{}\x1f1'.repeat(50_000)
    const records = Array.from({ length: 10 }, (_, i) => JSON.stringify({ id: i + 1, name }))
    await sync(sending(...records))
    expect(
      await rows(`SELECT count(*)::INTEGER AS count, min(name) = max(name) AS same,
        min(length(name))::INTEGER AS length, max(id)::INTEGER AS last FROM clockings`),
    ).toEqual([{ count: 10, same: true, length: name.length, last: 10 }])
  })

  it.each([
    ['text with escapes', (long: string) => String.raw`"name":"\u0001${long}"`],
    ['object', (long: string) => `"place":{"x":"${long}"}`],
    ['value that does not fit', (long: string) => `"day":["${long}"]`],
  ])(`of ${LONG_MB} MB is taken: a %s`, async (_kind, member) => {
    const long = 'x'.repeat(LONG_MB * 1_000_000)
    await sync(sending('{"id":1,"name":"a"}', `{"id":2,${member(long)}}`, '{"id":3,"name":"c"}'))
    const lengths = await withDuckDb(file(), async (connection) => {
      const reader = await connection.runAndReadAll(
        `SELECT id::INTEGER, length(concat(name, place${member('') === '"day":[""]' ? ', day_json' : ''})) > ${LONG_MB - 1}000000 FROM clockings ORDER BY id`,
      )
      return reader.getRows()
    })
    expect(lengths).toEqual([
      [1, false],
      [2, true],
      [3, false],
    ])
  })
})
