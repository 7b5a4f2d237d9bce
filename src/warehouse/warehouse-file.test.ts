import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ask, withDuckDb } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { readStatus } from './status.ts'
import { createStreamRows } from './stream-rows.ts'
import { type Script, send, sending, streamOf, syncLists } from './testing/list-source.ts'

const { folder, file, rows, change } = eachWithWarehouse()

const TEXT = { type: ['string', 'null'] }
const object = (properties: JsonSchema['properties']): JsonSchema => ({
  type: ['object', 'null'],
  ...(properties && { properties }),
})

describe('a stream that cannot be committed', () => {
  it('fails alone, at once, and continues from its last commit', async () => {
    const [jobs, people] = [streamOf('jobs', { name: TEXT }), streamOf('people', { name: TEXT })]
    const both = (script: Script) => new Map([jobs, people].map((stream) => [stream, script]))
    await syncLists(file(), both(sending('{"id":1,"name":"a"}')))
    await withDuckDb(file(), (connection) =>
      connection.run('CREATE UNIQUE INDEX mine ON jobs (name)'),
    )
    let reached = 0
    const script: Script = async (output) => {
      await send(output, ['{"id":2,"name":"a"}'])
      await output.checkpoint({ flush: true })
      reached += 1
      await output.complete()
    }
    const { failures, records } = await syncLists(file(), both(script))
    expect(failures).toMatchObject([
      {
        stream: 'jobs',
        error: { message: expect.stringMatching(/cannot be written: Constraint Error/) },
      },
    ])
    expect([records, reached]).toEqual([1, 1])
    for (const [table, count] of [
      ['jobs', 1],
      ['people', 2],
    ])
      expect(await rows(`SELECT count(*)::INTEGER AS count FROM ${table}`)).toEqual([{ count }])
    await withDuckDb(file(), (connection) => connection.run('DROP INDEX mine'))
    const next = await syncLists(file(), both(sending('{"id":3}')))
    expect(next.failures).toEqual([])
    expect(next.states).toEqual(
      new Map(Object.entries({ jobs: { syncs: 1 }, people: { syncs: 2 } })),
    )
  })
})

describe('a table that somebody has changed', () => {
  const jobs = streamOf('jobs', { name: TEXT })
  const people = streamOf('people', {})
  const sync = (...records: string[]) =>
    syncLists(
      file(),
      new Map([
        [jobs, whole(...records)],
        [people, sending()],
      ]),
    )
  /** A complete reading of a stream without a state, else changes. */
  const whole =
    (...records: string[]): Script =>
    async (output) => {
      await send(output, records, 7)
      output.note({ type: 'generation complete', generation: 7 })
      await output.complete()
    }

  it.each([
    ['its table was dropped', 'DROP TABLE jobs'],
    ['its table was dropped', 'ALTER TABLE jobs RENAME TO old_jobs'],
    ['its table lacks columns, name', 'ALTER TABLE jobs DROP COLUMN name'],
    ['its table lacks columns, _known_from', 'ALTER TABLE jobs DROP COLUMN _known_from'],
    ['its table lacks columns, id', 'ALTER TABLE jobs RENAME COLUMN id TO number'],
  ])('is made again, and its stream alone read from the beginning: %s', async (what, sql) => {
    await sync('{"id":1,"name":"a"}', '{"id":2,"name":"b"}')
    await change(sql)
    const { failures, startedOver, warnings } = await sync('{"id":2,"name":"b"}', '{"id":3}')
    expect(failures).toEqual([])
    expect([...startedOver]).toEqual(['jobs'])
    expect(warnings).toEqual([expect.stringContaining(`jobs: ${what}`)])
    expect(await rows('SELECT id::INTEGER AS id, name FROM flat.jobs ORDER BY 1')).toEqual([
      { id: 2, name: 'b' },
      { id: 3, name: null },
    ])
    expect((await sync('{"id":3}')).warnings).toEqual([])
  })

  it.each([
    ['a field', '{"id":2,"Notes":5}', 'Notes_1', '5'],
    ['a value that does not fit', '{"id":2,"name":7}', 'name_json_1', '7'],
  ])(
    'keeps a column of somebody else where %s has its name',
    async (_what, record, column, value) => {
      await sync('{"id":1,"name":"a"}')
      await change('ALTER TABLE jobs ADD COLUMN notes VARCHAR')
      await change('ALTER TABLE jobs ADD COLUMN name_json VARCHAR')
      await change("UPDATE jobs SET notes = 'mine', name_json = 'mine'")
      const more = syncLists(file(), new Map([[jobs, sending(record)]]))
      expect((await more).failures).toEqual([])
      expect(await rows('SELECT notes, name_json FROM main.jobs WHERE id = 1')).toEqual([
        { notes: 'mine', name_json: 'mine' },
      ])
      expect(await rows(`SELECT ${column} AS value FROM flat.jobs WHERE id = 2`)).toEqual([
        { value },
      ])
    },
  )

  it('keeps a column that somebody else added if a newer schema has a field of its name', async () => {
    await sync('{"id":1,"name":"a"}')
    await change("ALTER TABLE jobs ADD COLUMN notes VARCHAR DEFAULT 'mine'")
    const newer = streamOf('jobs', { name: TEXT, notes: TEXT })
    const done = await syncLists(file(), new Map([[newer, sending('{"id":1,"notes":"b"}')]]))
    expect(done.failures).toEqual([])
    expect(await rows('SELECT notes_1 FROM flat.jobs')).toEqual([{ notes_1: 'b' }])
  })
})

describe('what the file says about its syncs', () => {
  const [jobs, people] = [streamOf('jobs', { name: TEXT }), streamOf('people', {})]
  const at = (hour: number) => () => new Date(Date.UTC(2026, 10, 22, hour))
  const syncAt = (hour: number, script: Script, second = sending('{"id":1}')) =>
    syncLists(
      file(),
      new Map([
        [jobs, script],
        [people, second],
      ]),
      { now: at(hour) },
    )

  it('is when each one began and ended, its result, and when each stream was last complete', async () => {
    await syncAt(1, sending('{"id":1}', '{"id":2}'))
    await syncAt(2, async (output) => {
      await send(output, ['{"id":3}'])
      throw new ConnectorError('transient', 'x-test', 'The service is away.')
    })
    const hour = (column: string) =>
      `date_part('hour', ${column} AT TIME ZONE 'UTC')::INTEGER AS ${column}`
    expect(
      await rows(
        `SELECT ${hour('began')}, ${hour('ended')}, exit, records::INTEGER AS records FROM _protime.syncs`,
      ),
    ).toEqual([
      { began: 1, ended: 1, exit: 0, records: 3 },
      { began: 2, ended: 2, exit: 1, records: 2 },
    ])
    expect(
      await rows(
        `SELECT stream, ${hour('last_complete')}, rows::INTEGER AS rows, failure, failure_id FROM _protime.streams ORDER BY stream`,
      ),
    ).toEqual([
      {
        ...{ stream: 'jobs', last_complete: 1, rows: 3 },
        ...{ failure: 'The service is away.', failure_id: 'x-test' },
      },
      { stream: 'people', last_complete: 2, rows: 1, failure: null, failure_id: null },
    ])
    await syncAt(3, sending())
    expect(
      await rows(
        `SELECT ${hour('last_complete')}, failure, failure_id FROM _protime.streams WHERE stream = 'jobs'`,
      ),
    ).toEqual([{ last_complete: 3, failure: null, failure_id: null }])
  })

  it('has the latest sync as the last one, even if the clock was set back', async () => {
    await syncAt(3, sending())
    await syncAt(1, sending())
    const { sync } = await readStatus(file(), (open) => open())
    expect(sync?.began).toBe('2026-11-22T01:00:00Z')
  })

  it('shows a --rewrite that has read everything but not taken its place as one without an end', async () => {
    await syncAt(1, sending())
    copyFileSync(file(), `${file()}.rewrite`)
    const status = () => readStatus(file(), (open) => open())
    expect((await status()).sync).toMatchObject({ exit: 0 })
    await syncLists(`${file()}.rewrite`, new Map([[streamOf('jobs', {}), sending()]]))
    expect((await status()).sync).toMatchObject({
      exit: undefined,
      ended: undefined,
      rewrite: `${file()}.rewrite`,
    })
    symlinkSync(file(), join(folder(), 'link.duckdb'))
    const { sync } = await readStatus(join(folder(), 'link.duckdb'), (open) => open())
    expect(sync?.rewrite).toBe(`${file()}.rewrite`)
  })

  it('is shown while a --rewrite fills its file', async () => {
    await syncAt(1, sending())
    const before = await readStatus(file(), (open) => open())
    let during: unknown
    await syncLists(
      `${file()}.rewrite`,
      new Map([
        [
          streamOf('jobs', {}),
          async (output) => {
            during = await readStatus(file(), (open) => open())
            await sending()(output)
          },
        ],
      ]),
    )
    expect(during).toEqual(before)
  })

  it('shows a sync that was killed as one without an end, and keeps what it completed', async () => {
    await syncAt(1, sending('{"id":1}'), async (output) => {
      await send(output, ['{"id":1}'])
      await output.checkpoint({ flush: true })
      copyFileSync(file(), `${file()}.killed`)
      copyFileSync(`${file()}.wal`, `${file()}.killed.wal`)
    })
    const killed = (sql: string) => ask(`${file()}.killed`, sql)
    expect(await killed('SELECT ended, exit FROM _protime.syncs')).toEqual([
      { ended: null, exit: null },
    ])
    expect(
      await killed(
        'SELECT stream, rows::INTEGER AS rows, last_complete IS NULL AS never FROM _protime.streams ORDER BY stream',
      ),
    ).toEqual([
      { stream: 'jobs', rows: 1, never: false },
      { stream: 'people', rows: 1, never: true },
    ])
  })

  it('includes the descriptions of tables, views and columns in the schemas', async () => {
    const description = (text: string) => ({ description: text })
    const stream: StreamSpec = {
      ...streamOf('jobs', {
        name: { ...TEXT, ...description("The job's name.") },
        person: object({ id: { type: 'integer', ...description('Joins to people.id.') } }),
      }),
    }
    const spec = { ...stream, schema: { ...stream.schema, ...description('One job.') } }
    await syncLists(file(), new Map([[spec, sending('{"id":1,"name":5}')]]))
    expect(
      await rows(`SELECT schema_name, table_name, comment FROM duckdb_tables() WHERE schema_name = 'main'
        UNION ALL SELECT schema_name, view_name, comment FROM duckdb_views() WHERE schema_name = 'flat'`),
    ).toEqual([
      { schema_name: 'main', table_name: 'jobs', comment: 'One job.' },
      { schema_name: 'flat', table_name: 'jobs', comment: 'One job.' },
    ])
    const comments = await rows(
      "SELECT concat(schema_name, '.', column_name) AS name, comment FROM duckdb_columns() WHERE table_name = 'jobs'",
    )
    expect(Object.fromEntries(comments.map(({ name, comment }) => [name, comment]))).toEqual({
      'main.id': null,
      'main.name': "The job's name.",
      'main.name_json': 'Values that do not fit into the column name, unchanged.',
      'main.person': null,
      'main._known_from': expect.stringContaining('the moment of the commit'),
      'flat.id': null,
      'flat.name': "The job's name.",
      'flat.name_json': 'Values that do not fit into the column name, unchanged.',
      'flat.person_id': 'Joins to people.id.',
    })
  })
})

/** A process that has the file open. */
async function otherProcess(path: string): Promise<ChildProcess> {
  const opening = `require('@duckdb/node-api').DuckDBInstance.create(${JSON.stringify(path)})`
  const child = spawn(
    process.execPath,
    ['-e', `${opening}.then((open) => { console.log('open'); setInterval(() => open, 1000) })`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await once(child.stdout, 'data')
  return child
}

const syncInto = (path: string) => syncLists(path, new Map([[streamOf('jobs', {}), sending()]]))

describe('a warehouse', () => {
  it('is not a file that DuckDB can read but not write', async () => {
    const path = join(folder(), 'config.json')
    writeFileSync(path, '{"tenant":"acme"}')
    await expect(syncInto(path)).rejects.toThrow(`${path} is not a DuckDB file`)
    expect(readFileSync(path, 'utf8')).toBe('{"tenant":"acme"}')
  })

  it('of a later version is refused, and not changed', async () => {
    await syncInto(file())
    await withDuckDb(file(), (connection) => connection.run('UPDATE _protime.owner SET format = 4'))
    const before = readFileSync(file())
    await expect(syncInto(file())).rejects.toThrow(/version of this program that is later.*Update/)
    expect(readFileSync(file()).equals(before)).toBe(true)
  })

  it.each([
    ['main.jobs', 'CREATE VIEW jobs AS SELECT 1 AS id'],
    ['main.jobs', 'CREATE TABLE "Jobs" (id BIGINT, note VARCHAR)'],
    ['flat.jobs', 'CREATE SCHEMA flat; CREATE TABLE flat.jobs (id BIGINT)'],
    ['flat.jobs', 'CREATE SCHEMA flat; CREATE VIEW flat.jobs AS SELECT 1 AS mine'],
  ])('with something else by the name %s is refused: %s', async (name, statement) => {
    await withDuckDb(file(), (connection) => connection.run(statement))
    await expect(syncInto(file())).rejects.toMatchObject({
      failure: 'config',
      message: expect.stringContaining(`a table or view ${name} that no sync has created`),
    })
  })

  it.each(['flat.duckdb', 'Flat.v2.db', '_protime.duckdb', 'a?b.duckdb'])(
    'cannot be called %s, which DuckDB takes for something else',
    async (name) => {
      await expect(syncInto(join(folder(), name))).rejects.toMatchObject({
        failure: 'config',
        message: expect.stringContaining('Name another file with --warehouse'),
      })
    },
  )

  it('is the file behind a symbolic link: --rewrite leaves no other one behind', async () => {
    const [real, link] = [file(), join(folder(), 'link.duckdb')]
    symlinkSync(real, link)
    await syncInto(real)
    const before = statSync(real).ino
    await syncLists(link, new Map([[streamOf('jobs', {}), sending()]]), { rewrites: true })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(statSync(real).ino).not.toBe(before)
    expect(readdirSync(folder()).sort()).toEqual(['link.duckdb', 'w.duckdb'])
  })

  it('that another process has open is not replaced by --rewrite', async () => {
    await syncInto(file())
    const before = statSync(file()).ino
    let other: ChildProcess | undefined
    const meanwhile: Script = async (output) => {
      other = await otherProcess(file())
      await output.complete()
    }
    const rewriting = syncLists(file(), new Map([[streamOf('jobs', {}), meanwhile]]), {
      rewrites: true,
    })
    await expect(rewriting.finally(() => other?.kill('SIGKILL'))).rejects.toMatchObject({
      id: 'in-use',
    })
    expect(statSync(file()).ino).toBe(before)
  })

  it('is not replaced by a file that lacks a stream because --streams does not name it', async () => {
    const [jobs, people] = [streamOf('jobs', {}), streamOf('people', {})]
    const both = new Map([jobs, people].map((stream) => [stream, sending('{"id":1}')]))
    await syncLists(file(), both)
    const rewriting = (settings: object) =>
      syncLists(file(), both, { rewrites: true, streams: ['people'], ...settings })
    await expect(rewriting({ mayLeaveOut: false })).rejects.toMatchObject({
      failure: 'config',
      message: expect.stringContaining('does not name them: jobs.'),
    })
    expect(await rows('SELECT count(*)::INTEGER AS count FROM jobs')).toEqual([{ count: 1 }])
    expect((await rewriting({ mayLeaveOut: false, streams: ['people', 'jobs'] })).records).toBe(2)
    expect((await rewriting({})).records).toBe(1)
  })

  it('on a disk without space cannot be written', () => {
    const rows = createStreamRows({
      sql: duckDbDialect,
      columns: [{ property: 'id', name: 'id', type: 'BIGINT' }],
      nextPath: () => '/dev/full',
      onAdded() {},
    })
    expect(() => rows.add(Buffer.from('{"id":1}\n'), 1)).toThrow(
      'The warehouse cannot be written: no space is left on the disk.',
    )
  })
})
