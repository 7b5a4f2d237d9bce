import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { withDuckDb } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { DELETE, SKIP } from '../records/record-batch.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import { type Script, send, sending, streamOf, syncLists } from './testing/list-source.ts'

const { folder, file, rows } = eachWithWarehouse()

const TEXT = { type: ['string', 'null'] }
const NUMBER = { type: ['number', 'null'] }
const object = (properties?: JsonSchema['properties']): JsonSchema => ({
  type: ['object', 'null'],
  ...(properties && { properties }),
})

let warnings: string[]
beforeEach(() => {
  warnings = []
})

const types = async (table: string) => {
  const columns = await rows(`DESCRIBE ${table}`)
  return Object.fromEntries(columns.map((row) => [row['column_name'], row['column_type']]))
}

async function sync(stream: StreamSpec, script: Script) {
  const done = await syncLists(file(), new Map([[stream, script]]))
  expect(done.failures).toEqual([])
  warnings.push(...done.warnings)
  return { ...done, state: done.states.get(stream.name) }
}

it('counts the records that it has to write, but not skipped ones', async () => {
  let counts: object = {}
  await sync(streamOf('jobs', {}), async (output) => {
    const gone = { json: '{"id":3}', op: DELETE } as const
    await send(output, ['{"id":1}', { json: '{"id":2}', op: SKIP }, gone])
    counts = { ...output.counts }
    await output.complete()
  })
  expect(counts).toMatchObject({ records: 1, deletes: 1, isTracked: true })
})

it('makes no file if no stream is named', async () => {
  const asked = syncLists(file(), new Map([[streamOf('jobs', {}), sending()]]), { streams: [] })
  await expect(asked).rejects.toMatchObject({ failure: 'config', id: 'no-stream-named' })
  expect(readdirSync(folder())).toEqual([])
})

describe('the folder of rows beside the file', () => {
  const jobs = streamOf('jobs', {})
  const left = () => `${file()}.protime-0123456789ab`

  it('stays if it is of the next sync, which may begin while this one still publishes', async () => {
    await sync(jobs, async (output) => {
      await output.complete()
      mkdirSync(left())
    })
    expect(existsSync(left())).toBe(true)
  })

  it('is removed with all of its files if a killed sync has left it', async () => {
    mkdirSync(left())
    writeFileSync(join(left(), '1.rows'), '')
    await sync(jobs, sending('{"id":1}'))
    expect(readdirSync(folder())).toEqual(['w.duckdb'])
  })
})

describe('the table of a stream', () => {
  it('has a typed column per property, even without a record', async () => {
    const properties = {
      changeVersion: TEXT,
      hours: NUMBER,
      isOpen: { type: 'boolean' },
      day: { type: ['string', 'null'], format: 'date' },
      at: { type: ['string', 'null'], format: 'date-time' },
      person: object({ id: { type: 'integer' } }),
      levels: { type: 'array' },
      mixed: { type: ['number', 'string', 'null'] },
    }
    await sync(streamOf('days', properties), sending())
    expect(await types('main.days')).toEqual({
      id: 'BIGINT',
      changeVersion: 'VARCHAR',
      hours: 'DOUBLE',
      isOpen: 'BOOLEAN',
      day: 'DATE',
      at: 'TIMESTAMP_NS',
      person: 'JSON',
      levels: 'JSON',
      mixed: 'JSON',
      _known_from: 'TIMESTAMP WITH TIME ZONE',
    })
    expect(await rows('FROM flat.days')).toEqual([])
  })

  it('distinguishes names that differ only in case', async () => {
    const stream = streamOf('people', { isoCode: TEXT, ISOCode: TEXT })
    await sync(stream, sending('{"ISOCode":"BE","isoCode":"NL","id":1}'))
    expect(await rows('SELECT isoCode, ISOCode_1 FROM people')).toEqual([
      { isoCode: 'NL', ISOCode_1: 'BE' },
    ])
  })

  it('holds every text, and an empty one is not null', async () => {
    const texts = [
      ...['', '\u0000\u0001\u0002\u001f', '\u0002a\u0002', 'a\r\n"b"\\', 'é…😀', 'NULL'],
      'x'.repeat(5_000_000),
    ]
    const records = texts.map((text, id) => JSON.stringify({ id, text }))
    await sync(streamOf('texts', { text: TEXT }), sending(...records, '{"id":9,"text":null}'))
    const found = await rows('SELECT text FROM texts ORDER BY id')
    expect(found.map(({ text }) => text)).toEqual([...texts, null])
  })

  it('replaces a lone surrogate by the replacement character', async () => {
    const record = String.raw`{"id":1,"text":"a\ud83d","name":{"nl":"\ude00b\ud83d\ude00"}}`
    await sync(streamOf('texts', { text: TEXT, name: object() }), sending(record))
    const [row] = await rows("SELECT text, name->>'nl' AS nl FROM texts")
    expect(row).toEqual({ text: 'a\ufffd', nl: '\ufffdb😀' })
  })

  it('stores days and times that the service writes with escapes', async () => {
    const record = String.raw`{"id":1,"day":"2026\u002d11-02","at":"2026-11-02T06:00:00\u002B01:00"}`
    const stream = streamOf('days', {
      day: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
    })
    await sync(stream, sending(record))
    expect(await rows('SELECT day::VARCHAR AS day, "at"::VARCHAR AS time FROM days')).toEqual([
      { day: '2026-11-02', time: '2026-11-02 05:00:00' },
    ])
  })

  it('stores nested values unchanged, with every digit', async () => {
    const place = '{"x": 0.12345678901234567890, "y":[1.50, 1e2 ]}'
    await sync(streamOf('places', { place: object() }), sending(`{"id":1,"place":${place}}`))
    expect(await rows('SELECT place::VARCHAR AS place FROM places')).toEqual([{ place }])
  })

  it.each([
    ['9007199254740993', { type: 'integer' }],
    ['-9223372036854775808', { type: 'integer' }],
    ['123456789012345', NUMBER],
    ['0.1', NUMBER],
    ['100000000000000000000', NUMBER],
    ['1.7976931348623157e308', NUMBER],
  ])('keeps its type for %s', async (value, schema) => {
    await sync(streamOf('values', { value: schema }), sending(`{"id":1,"value":${value}}`))
    expect(warnings).toEqual([])
    const [row] = await rows('SELECT value::VARCHAR AS value FROM values')
    expect(Number(row?.['value'])).toBe(Number(value))
  })

  it('gets a column for a member that is in no schema', async () => {
    const stream = streamOf('jobs', { name: TEXT })
    await sync(stream, sending('{"id":1,"name":"a"}'))
    const unknown = String.raw`{"id":2,"\u006eame":"b","Name":{"x":1},"_known_from":5}`
    await sync(stream, sending(unknown, '{"id":3,"name":"c","other":null}'))
    expect(await rows('SELECT * EXCLUDE _known_from FROM jobs ORDER BY id')).toEqual([
      { id: '1', name: 'a', Name_1: null, _known_from_1: null },
      { id: '2', name: 'b', Name_1: '{"x":1}', _known_from_1: '5' },
      { id: '3', name: 'c', Name_1: null, _known_from_1: null },
    ])
  })

  it('gets a column that a later version of the schema has', async () => {
    await sync(streamOf('jobs', { name: TEXT }), sending('{"id":1,"name":"a"}'))
    await sync(streamOf('jobs', { day: { type: 'string', format: 'date' } }), sending())
    expect(await types('main.jobs')).toMatchObject({ name: 'VARCHAR', day: 'DATE' })
    expect(await types('flat.jobs')).toMatchObject({ day: 'DATE' })
  })
})

describe('the view of a stream', () => {
  const name = object({ default: TEXT, translations: object() })
  const person = object({ id: { type: 'integer' }, externalReferences: object() })
  const stream = streamOf('clockings', { person, name, externalReferences: object() })

  it('has a column for each member of nested objects, including those that are in no schema', async () => {
    const nested = '"name":{"default":"Sick","translations":{"nl":"Ziek","fr":"Malade"}}'
    const references = '{"@employee-number":"E5","a/b~c":"x"}'
    await sync(stream, sending('{"id":1,"person":{"id":5},"name":{"default":"A"}}'))
    await sync(
      stream,
      sending(
        `{"id":2,${nested},"person":{"id":5,"externalReferences":${references}},"externalReferences":{"payroll":"P"}}`,
      ),
    )
    expect(await rows('FROM flat.clockings ORDER BY id')).toEqual([
      {
        ...{ id: '1', person_id: '5', name_default: 'A', name_fr: null, name_nl: null },
        ...{ person_employee_number: null, person_a_b_c: null, payroll: null },
      },
      {
        ...{ id: '2', person_id: '5', name_default: 'Sick', name_fr: 'Malade', name_nl: 'Ziek' },
        ...{ person_employee_number: 'E5', person_a_b_c: 'x', payroll: 'P' },
      },
    ])
    expect((await types('flat.clockings'))['person_id']).toBe('BIGINT')
  })

  it('has dates and numbers that the service sends as strings, and null for other strings', async () => {
    const place = object({ latitude: { type: ['number', 'string', 'null'] } })
    const from = { ...TEXT, 'x-view': 'date' }
    const contracts = streamOf('contracts', { from, place })
    await sync(
      contracts,
      sending(
        '{"id":1,"from":"2026-01-01","place":{"latitude":"51.2"}}',
        '{"id":2,"from":"2026-01-01T00:00:00","place":{"latitude":51.25}}',
        '{"id":3,"from":"soon","place":{"latitude":"north"}}',
      ),
    )
    expect(await types('flat.contracts')).toMatchObject({ from: 'DATE', place_latitude: 'DOUBLE' })
    expect(await rows('SELECT "from", place_latitude FROM flat.contracts ORDER BY id')).toEqual([
      { from: '2026-01-01', place_latitude: 51.2 },
      { from: '2026-01-01', place_latitude: 51.25 },
      { from: null, place_latitude: null },
    ])
    expect(await rows('SELECT "from" FROM contracts WHERE id = 3')).toEqual([{ from: 'soon' }])
  })
})

describe('a sync', () => {
  const stream = streamOf('jobs', { changeVersion: TEXT, name: TEXT })
  const NAMES = 'SELECT id::INTEGER AS id, name FROM jobs ORDER BY id'

  it('keeps the last row of a key, in one commit or in two', async () => {
    const first = ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}', '{"id":1,"name":"c"}']
    await sync(stream, sending(...first))
    await sync(stream, sending('{"id":2,"name":"d"}', { json: '{"id":1}', op: DELETE }))
    await sync(stream, sending('{"id":3,"name":"e"}'))
    expect(await rows(NAMES)).toEqual([
      { id: 2, name: 'd' },
      { id: 3, name: 'e' },
    ])
  })

  it('removes what a complete generation does not have', async () => {
    await sync(stream, sending('{"id":1,"name":"a"}', '{"id":2,"name":"b"}'))
    await sync(stream, async (output) => {
      await send(output, ['{"id":2,"name":"b"}'], 2)
      output.note({ type: 'generation complete', generation: 2 })
      await output.complete()
    })
    expect(await rows(NAMES)).toEqual([{ id: 2, name: 'b' }])
  })

  it('has rows of a later generation only when its read is complete, also if one commit has both', async () => {
    const { commits } = await sync(stream, async (output) => {
      await send(output, ['{"id":1}', '{"id":2}'], 1)
      await send(output, ['{"id":3}'], 3_000_000_000)
      await send(output, ['{"id":4}'], 1)
    })
    expect(commits).toBe(1)
    const ids = 'SELECT id::INTEGER AS id FROM jobs ORDER BY id'
    expect(await rows(ids)).toEqual([{ id: 1 }, { id: 2 }, { id: 4 }])
    await sync(stream, async (output) => {
      await send(output, ['{"id":5}'], 3_000_000_000)
      output.note({ type: 'generation complete', generation: 3_000_000_000 })
      await output.complete()
    })
    expect(await rows(ids)).toEqual([{ id: 3 }, { id: 5 }])
  })

  it('returns the state that was committed with the rows', async () => {
    expect((await sync(stream, sending('{"id":1}'))).state).toBeUndefined()
    expect((await sync(stream, sending('{"id":2}'))).state).toEqual({ syncs: 1 })
  })

  it('commits a required state before it continues', async () => {
    const seen: unknown[] = []
    await sync(stream, async (output) => {
      await send(output, ['{"id":1,"name":"a"}'])
      await output.checkpoint({ flush: true })
      seen.push(output.counts.records)
    })
    expect(seen).toEqual([1])
    expect(await rows(NAMES)).toEqual([{ id: 1, name: 'a' }])
  })

  it('stops at records with more different members than a table can have columns', async () => {
    const many = Array.from({ length: 501 }, (_, i) => [`m${i}`, 1])
    const record = JSON.stringify({ id: 1, ...Object.fromEntries(many) })
    const { failures } = await syncLists(file(), new Map([[stream, sending(record)]]))
    expect(failures).toMatchObject([
      { stream: 'jobs', error: { message: expect.stringContaining('500 different members') } },
    ])
  })

  it('does not tell the value that an index of somebody else refuses', async () => {
    const people = streamOf('people', { name: TEXT })
    const unique = 'CREATE UNIQUE INDEX mine ON people (name)'
    await sync(people, sending('{"id":1,"name":"Ann"}'))
    await withDuckDb(file(), (connection) => connection.run(unique))
    const { failures } = await syncLists(
      file(),
      new Map([[people, sending('{"id":2,"name":"Ann"}')]]),
    )
    expect(failures).toMatchObject([
      { stream: 'people', error: { message: expect.stringContaining('unique constraint') } },
    ])
    expect(failures[0]?.error.message).not.toContain('Ann')
    expect(await rows("SELECT contains(failure, 'Ann') AS tells FROM _protime.streams")).toEqual([
      { tells: false },
    ])
  })

  it('refuses an unknown stream', async () => {
    const scripts = new Map([[stream, sending()]])
    await expect(syncLists(file(), scripts, { streams: ['jops'] })).rejects.toMatchObject({
      id: 'misspelled-stream',
      message: 'jops: There is no stream of this name; did you mean jobs?',
    })
  })
})
