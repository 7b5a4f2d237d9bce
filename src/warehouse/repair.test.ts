import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withDuckDb } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { ConnectorError } from '../ground/errors.ts'
import { readStatus } from './status.ts'
import { type Script, send, sending, streamOf, syncLists } from './testing/list-source.ts'

const { folder, file, rows, change } = eachWithWarehouse()

const TEXT = { type: ['string', 'null'] }
const jobs = streamOf('jobs', { name: TEXT, person: { type: 'object', properties: {} } })

/** A complete read of a stream without a state, else changes. */
const whole =
  (records: readonly string[], generation = 7): Script =>
  async (output) => {
    await send(output, records, generation)
    output.note({ type: 'generation complete', generation })
    await output.complete()
  }
const sync = (...records: string[]) => syncLists(file(), new Map([[jobs, whole(records)]]))

describe('what somebody else has changed in a table or view of a sync', () => {
  const SHOWN = 'SELECT id::INTEGER AS id, name FROM flat.jobs ORDER BY 1'

  it('is not put right as long as an index depends on it, and the message says so', async () => {
    await sync('{"id":1,"name":"a"}')
    await change('ALTER TABLE jobs ALTER name TYPE INTEGER USING length(name)')
    await change('CREATE INDEX mine ON jobs (name)')
    const refused = await sync('{"id":1,"name":"a"}').catch((error) => error)
    expect(refused).toMatchObject({ id: 'objects-depend', failure: 'config' })
    await change('DROP INDEX mine')
    expect((await sync('{"id":1,"name":"a"}')).failures).toEqual([])
  })

  it.each([
    ['id', 'ALTER TABLE jobs ALTER id TYPE DOUBLE'],
    ['id', 'ALTER TABLE jobs ALTER id TYPE INTEGER'],
    ['name', 'ALTER TABLE jobs ALTER name TYPE INTEGER USING length(name)'],
    ['_known_from', 'ALTER TABLE jobs ALTER _known_from TYPE VARCHAR'],
  ])('is put right and told: the type of %s, %s', async (column, sql) => {
    await sync('{"id":1,"name":"a"}', '{"id":2,"name":"bb"}')
    const before = await rows('DESCRIBE jobs')
    await change(sql)
    const { failures, warnings, startedOver } = await sync(
      '{"id":1,"name":"a"}',
      '{"id":2,"name":"bb"}',
    )
    expect(failures).toEqual([])
    expect([...startedOver]).toEqual(['jobs'])
    expect(warnings).toEqual([
      expect.stringContaining(`jobs: columns of its table have another type, ${column}, though`),
    ])
    expect(await rows('DESCRIBE jobs')).toEqual(before)
    expect(await rows(SHOWN)).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: 'bb' },
    ])
    expect((await sync()).warnings).toEqual([])
  })

  it.each([
    'CREATE OR REPLACE VIEW flat.jobs AS SELECT id + 1 AS id, name FROM jobs',
    'DROP VIEW flat.jobs',
  ])('is put right and told: %s', async (sql) => {
    await sync('{"id":1,"name":"a"}')
    await change(sql)
    const { warnings } = await sync('{"id":1,"name":"a"}')
    expect(warnings).toEqual([expect.stringContaining('jobs: the view flat.jobs was changed')])
    expect(await rows(SHOWN)).toEqual([{ id: 1, name: 'a' }])
    expect((await sync('{"id":1,"name":"a"}')).warnings).toEqual([])
  })

  it('is put right although the sync that saw it has read nothing', async () => {
    await sync('{"id":1,"name":"a"}', '{"id":2,"name":"b"}', '{"id":3,"name":"c"}')
    await change('ALTER TABLE jobs DROP COLUMN name')
    const unreachable: Script = (output) =>
      output.failed(new ConnectorError('transient', 'unexpected', 'down'))
    await syncLists(file(), new Map([[jobs, unreachable]]))
    const again = whole(['{"id":1,"name":"a"}', '{"id":2,"name":"b"}'], 8)
    const { startedOver } = await syncLists(file(), new Map([[jobs, again]]))
    expect([...startedOver]).toEqual(['jobs'])
    expect(await rows(SHOWN)).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ])
    expect(await rows('SELECT rows FROM _protime.streams')).toEqual([{ rows: '2' }])
  })

  it('is not seen in a stream whose name has capitals', async () => {
    const sync = () => syncLists(file(), new Map([[streamOf('Jobs', {}), whole(['{"id":1}'])]]))
    await sync()
    const { warnings, startedOver } = await sync()
    expect([warnings, [...startedOver]]).toEqual([[], []])
  })

  it.each([
    ['of another key', false, 'INSERT INTO jobs (id) VALUES (5)'],
    ['of another key, with a history', true, 'INSERT INTO jobs (id) VALUES (5)'],
    ['without a key', false, "INSERT INTO jobs (name) VALUES ('x')"],
    ['of the same key', false, 'INSERT INTO jobs FROM jobs WHERE id = 1'],
  ])('is put right by a complete read: a row %s', async (_, keepsHistory, sql) => {
    const again = (generation: number) =>
      syncLists(file(), new Map([[jobs, whole(['{"id":1}', '{"id":2}'], generation)]]), {
        keepsHistory,
      })
    await again(7)
    await change(sql)
    await again(8)
    expect(await rows('SELECT id::INTEGER AS id FROM flat.jobs ORDER BY id')).toEqual([
      { id: 1 },
      { id: 2 },
    ])
  })
})

it('a row that somebody else has written twice keeps its history, and values in columns of others', async () => {
  const again = (generation: number) =>
    syncLists(file(), new Map([[jobs, whole(['{"id":1,"name":"a"}', '{"id":2}'], generation)]]), {
      keepsHistory: true,
    })
  await again(7)
  await change("ALTER TABLE jobs ADD COLUMN mine VARCHAR; UPDATE jobs SET mine = 'x'")
  const before = await rows('FROM history.jobs ORDER BY id')
  await change(
    "INSERT INTO jobs FROM jobs WHERE id = 1; INSERT INTO jobs (id, name, _known_from) VALUES (1, 'b', now()); INSERT INTO jobs (id) VALUES (2)",
  )
  await again(8)
  expect(await rows('FROM history.jobs WHERE name IS NOT NULL')).toEqual(before.slice(0, 1))
  expect(await rows('SELECT mine FROM jobs')).toEqual([{ mine: 'x' }, { mine: 'x' }])
})

describe('a column of a view', () => {
  it('keeps its meaning for life, whatever field or reference of its name comes later', async () => {
    const people = streamOf('people', { externalReferences: { type: ['object', 'null'] } })
    const into = (record: string) => syncLists(file(), new Map([[people, sending(record)]]))
    await into('{"id":1,"costCenter":"field"}')
    await into('{"id":2,"externalReferences":{"costCenter":"reference"}}')
    await into('{"id":3}')
    expect(await rows('FROM flat.people ORDER BY id')).toEqual([
      { id: '1', costCenter_1: null, costCenter: '"field"' },
      { id: '2', costCenter_1: 'reference', costCenter: null },
      { id: '3', costCenter_1: null, costCenter: null },
    ])
  })

  it('rounds nothing, and takes nothing for something else', async () => {
    const number = { type: ['number', 'string', 'null'] }
    const clockings = streamOf('clockings', {
      person: { type: 'object', properties: { id: { type: ['integer', 'null'] } } },
      place: { type: 'object', properties: { latitude: number } },
      from: { ...TEXT, 'x-view': 'date' },
    })
    const records = ['3.5', '"1_0"', '"7"', '7', '4e2', 'true', '9223372036854775808'].map(
      (id, i) => `{"id":${i},"person":{"id":${id}}}`,
    )
    const places = ['"4_3.5"', '"nan"', '51.250', '"51.25"', '51.2000000000000000001'].map(
      (at, i) => `{"id":${i + 10},"place":{"latitude":${at}}}`,
    )
    const days = [
      '2026-01-05garbage',
      'epoch',
      '2026-01-05',
      '2026-01-05T00:00:00',
      '2026-01-05T08:00:00',
    ].map((day, i) => `{"id":${i + 20},"from":"${day}"}`)
    await syncLists(file(), new Map([[clockings, sending(...records, ...places, ...days)]]))
    const shown = async (column: string, from: number) =>
      (
        await rows(
          `SELECT ${column} AS value FROM flat.clockings WHERE id BETWEEN ${from} AND ${from + 9} ORDER BY id`,
        )
      ).map(({ value }) => value)
    expect(await shown('person_id', 0)).toEqual([null, null, '7', '7', null, null, null])
    expect(await shown('place_latitude', 10)).toEqual([null, null, 51.25, 51.25, null])
    expect(await shown('"from"', 20)).toEqual([null, null, '2026-01-05', '2026-01-05', null])
  })
})

describe('a file that cannot be opened', () => {
  const OPENING = [
    ['a sync', () => sync()],
    ['status', () => readStatus(file(), (open) => open())],
  ] as const

  it.each(OPENING)(
    'because of the log of another file is told with what to do: %s',
    async (_, open) => {
      const other = join(folder(), 'other.duckdb')
      await sync('{"id":1}')
      await withDuckDb(other, async (connection) => {
        await connection.run('CREATE TABLE mine AS SELECT 1 AS one')
        await connection.run('CHECKPOINT')
        await connection.run('PRAGMA disable_checkpoint_on_shutdown')
        await connection.run('INSERT INTO mine VALUES (2)')
      })
      rmSync(other)
      await withDuckDb(file(), async () => {})
      const log = join(folder(), 'other.duckdb.wal')
      writeFileSync(`${file()}.wal`, readFileSync(log))
      await expect(open()).rejects.toMatchObject({
        failure: 'config',
        message: expect.stringContaining(
          `The log ${file()}.wal is damaged, or belongs to another file`,
        ),
      })
    },
  )

  it.each(OPENING)('because it was cut is a matter for a person: %s', async (_, open) => {
    await sync('{"id":1}')
    truncateSync(file(), 14_000)
    await expect(open()).rejects.toMatchObject({
      failure: 'config',
      message: expect.stringContaining('The file is damaged: restore it, or remove it'),
    })
  })
})
