import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { withDuckDb } from '../../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../../integration-tests/testing/warehouse-file.ts'
import type { Owner } from '../landing.ts'
import { type Script, sending, streamOf, syncLists } from '../testing/list-source.ts'

const { folder } = eachWithWarehouse()

const at = (name: string) => join(folder(), name)
const ACME: Owner = { tenant: 'acme', environment: 'custom', redaction: '' }
const PROPERTIES = {
  person: { type: ['null', 'object'], properties: { id: { type: 'integer' } } },
  tags: { type: ['null', 'array'] },
  at: { type: ['null', 'string'], format: 'date-time' },
  day: { type: ['null', 'string'], format: 'date' },
} as const
const RECORD =
  '{"id":1,"person":{"id":7},"tags":["a\\u0000b"],"at":"2026-01-01T10:00:00.123456789Z","day":"9999-12-31"}'
const jobs = new Map([[streamOf('jobs', PROPERTIES), sending(RECORD)]])
const publish = (streams = jobs, owner = ACME, rewrites = false) =>
  syncLists(at('w.duckdb'), streams, { publish: at('out/'), owner, rewrites })

/** From the first Parquet file on, there is a folder in the place of this file, which can therefore not be written. */
function blocking(name: string): void {
  const { runAndReadAll } = DuckDBConnection.prototype
  vi.spyOn(DuckDBConnection.prototype, 'runAndReadAll').mockImplementation(async function (
    this: DuckDBConnection,
    ...args
  ) {
    const path = at(`out/${name}`)
    if (
      args[0].startsWith('COPY') &&
      statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true
    ) {
      rmSync(path, { force: true })
      mkdirSync(path)
    }
    return runAndReadAll.apply(this, args)
  })
}

afterEach(() => {
  vi.restoreAllMocks()
})

async function read(file: string): Promise<Record<string, unknown>[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const answer = await connection.runAndReadAll(`FROM read_parquet('${at(file)}')`)
  return answer.getRowObjectsJson() as Record<string, unknown>[]
}

it('a folder gets a Parquet file for each flat view, and what they are of', async () => {
  await publish()
  expect(readdirSync(at('out')).sort()).toEqual(['jobs.parquet', 'published.json'])
  expect(await read('out/jobs.parquet')).toEqual([
    {
      id: '1',
      person_id: '7',
      tags: '["a\\u0000b"]',
      at: '2026-01-01 10:00:00.123456',
      day: '9999-12-31',
    },
  ])
  expect(JSON.parse(readFileSync(at('out/published.json'), 'utf8'))).toEqual({
    tenant: 'acme',
    environment: 'custom',
    moment: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    rows: { jobs: 1 },
  })
})

it('has types that every reader of Parquet knows', async () => {
  await publish()
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const schema = await connection.runAndReadAll(
    `SELECT name, type, converted_type FROM parquet_schema('${at('out/jobs.parquet')}')`,
  )
  expect(schema.getRows().slice(1)).toEqual([
    ['id', 'INT64', 'INT_64'],
    ['person_id', 'INT64', 'INT_64'],
    ['tags', 'BYTE_ARRAY', 'UTF8'],
    ['at', 'INT64', 'TIMESTAMP_MICROS'],
    ['day', 'INT32', 'DATE'],
  ])
})

it('a view that cannot be read keeps its file, and does not stop the streams after it', async () => {
  const people = new Map([[streamOf('people', {}), sending('{"id":1}')]])
  await publish(new Map([...jobs, ...people]))
  const moment = '2026-01-01T00:00:00Z'
  const before = JSON.parse(readFileSync(at('out/published.json'), 'utf8'))
  chmodSync(at('out/published.json'), 0o600)
  writeFileSync(at('out/published.json'), JSON.stringify({ ...before, moment }))
  await withDuckDb(at('w.duckdb'), (connection) =>
    connection.run('ALTER TABLE jobs DROP COLUMN day'),
  )
  const { failures } = await publish(
    new Map([[streamOf('people', {}), sending('{"id":1}', '{"id":2}')]]),
  )
  expect(failures.map(({ error }) => [error.id, error.message])).toEqual([
    ['copy-not-written', expect.stringContaining('"day"')],
  ])
  expect([await read('out/jobs.parquet'), await read('out/people.parquet')]).toMatchObject([
    [{ id: '1', day: '9999-12-31' }],
    [{ id: '1' }, { id: '2' }],
  ])
  const published = JSON.parse(readFileSync(at('out/published.json'), 'utf8'))
  expect(published).toMatchObject({ moment, rows: { jobs: 1, people: 2 } })
})

it('files keep their modes, a new one can be read by the owner alone, and what a killed process left is replaced', async () => {
  await publish()
  expect(statSync(at('out/jobs.parquet')).mode & 0o777).toBe(0o400)
  chmodSync(at('out/jobs.parquet'), 0o444)
  for (const name of ['jobs.parquet', 'published.json'])
    writeFileSync(at(`out/${name}.protime-0123456789ab`), 'half a file')
  await publish(new Map([[streamOf('jobs', PROPERTIES), sending(RECORD, '{"id":2}')]]))
  expect(statSync(at('out/jobs.parquet')).mode & 0o777).toBe(0o444)
  expect(await read('out/jobs.parquet')).toHaveLength(2)
  expect(readdirSync(at('out')).sort()).toEqual(['jobs.parquet', 'published.json'])
})

it('the file of a stream that the warehouse no longer has is removed, and other files stay', async () => {
  await publish(new Map([...jobs, [streamOf('people', {}), sending('{"id":1}')]]))
  writeFileSync(at('out/notes.txt'), 'mine')
  await publish(jobs, ACME, true)
  expect(readdirSync(at('out')).sort()).toEqual(['jobs.parquet', 'notes.txt', 'published.json'])
})

it('is removed before the note of it, so that a sync which dies between the two leaves no file that nobody knows', async () => {
  await publish(new Map([...jobs, [streamOf('people', {}), sending('{"id":1}')]]))
  blocking('published.json')
  expect((await publish(jobs, ACME, true)).failures).toHaveLength(1)
  expect(readdirSync(at('out')).sort()).toEqual(['jobs.parquet', 'published.json'])
})

it('the file of a stream whose table was dropped is removed, though no sync reads that stream any more', async () => {
  const both = new Map([...jobs, [streamOf('people', {}), sending('{"id":1}')]])
  await publish(both)
  await withDuckDb(at('w.duckdb'), (connection) => connection.run('DROP TABLE people'))
  const settings = { publish: at('out/'), owner: ACME, streams: ['jobs'] }
  expect((await syncLists(at('w.duckdb'), both, settings)).failures).toEqual([])
  expect(readdirSync(at('out')).sort()).toEqual(['jobs.parquet', 'published.json'])
})

it.each([
  [
    'of another tenant',
    async () =>
      syncLists(at('other.duckdb'), jobs, {
        publish: at('out/'),
        owner: { ...ACME, tenant: 'other' },
      }),
  ],
  [
    'of somebody else',
    async () => {
      mkdirSync(at('out'))
      writeFileSync(at('out/jobs.parquet'), 'mine')
    },
  ],
  ...['mine', 'null', '{"moment":null}'].map((text): [string, () => Promise<unknown>] => [
    `with a note of somebody else: ${text}`,
    async () => {
      mkdirSync(at('out'))
      writeFileSync(at('out/published.json'), text)
    },
  ]),
])('a folder %s is not touched', async (_what, make) => {
  await make()
  const before = readdirSync(at('out')).map((name) => readFileSync(at(`out/${name}`)))
  await expect(publish()).rejects.toMatchObject({ failure: 'config', id: 'not-a-copy' })
  expect(readdirSync(at('out')).map((name) => readFileSync(at(`out/${name}`)))).toEqual(before)
})

it('a folder in which another tenant has published since the sync began is not touched', async () => {
  const theirs = { publish: at('out/'), owner: { ...ACME, tenant: 'other' } }
  const script: Script = async (output) => {
    await syncLists(at('other.duckdb'), jobs, theirs)
    await sending(RECORD, '{"id":2}')(output)
  }
  const meanwhile = new Map([[streamOf('jobs', PROPERTIES), script]])
  expect((await publish(meanwhile)).failures).toMatchObject([{ error: { id: 'not-a-copy' } }])
  expect(await read('out/jobs.parquet')).toHaveLength(1)
})

it('what a killed first attempt has left is replaced', async () => {
  mkdirSync(at('out'))
  writeFileSync(at('out/published.json'), JSON.stringify({ ...ACME, moment: null, rows: {} }))
  writeFileSync(at('out/jobs.parquet'), 'half')
  await publish()
  expect(await read('out/jobs.parquet')).toHaveLength(1)
})

const people = new Map([...jobs, [streamOf('people', {}), sending('{"id":1}')]])

it('a file that no sync has published is not replaced when a stream of its name comes', async () => {
  await publish()
  writeFileSync(at('out/people.parquet'), 'mine')
  const before = ['jobs', 'people'].map((name) => readFileSync(at(`out/${name}.parquet`)))
  for (let i = 0; i < 2; i++)
    expect((await publish(people)).failures).toMatchObject([
      {
        error: { failure: 'config', id: 'not-a-copy', message: expect.stringContaining('people') },
      },
    ])
  expect(['jobs', 'people'].map((name) => readFileSync(at(`out/${name}.parquet`)))).toEqual(before)
  rmSync(at('out/people.parquet'))
  expect((await publish(people)).failures).toEqual([])
  expect(await read('out/people.parquet')).toEqual([{ id: '1' }])
})

describe('a sync that dies while it publishes a stream for the first time', () => {
  /** It cannot write the file that comes after that of the new stream. */
  async function die(): Promise<void> {
    await publish()
    blocking('teams.parquet')
    const three = new Map([...people, [streamOf('teams', {}), sending('{"id":1}')]])
    expect((await publish(three)).failures).toHaveLength(1)
    expect(readdirSync(at('out'))).toContain('people.parquet')
    vi.restoreAllMocks()
    rmdirSync(at('out/teams.parquet'))
  }

  it('leaves a file that the next one replaces', async () => {
    await die()
    expect((await publish(people)).failures).toEqual([])
    const { rows, ...note } = JSON.parse(readFileSync(at('out/published.json'), 'utf8'))
    expect([rows, Object.keys(note)]).toEqual([
      { jobs: 1, people: 1, teams: 1 },
      ['tenant', 'environment', 'moment'],
    ])
  })

  it('leaves a file that the next one removes if the stream is gone', async () => {
    await die()
    expect((await publish(jobs, ACME, true)).failures).toEqual([])
    expect(readdirSync(at('out')).sort()).toEqual(['jobs.parquet', 'published.json'])
  })
})

it('a folder that a sync makes beside the warehouse is refused', async () => {
  const publish = at('w.duckdb.protime-0123456789ab/')
  const published = syncLists(at('w.duckdb'), jobs, { publish, owner: ACME })
  await expect(published).rejects.toMatchObject({ id: 'published-onto-itself' })
})
