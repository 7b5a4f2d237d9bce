import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBConnection } from '@duckdb/node-api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ask, withDuckDb } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { StreamOutput } from '../protocol/connector.ts'
import { DELETE } from '../records/record-batch.ts'
import { type Script, type Sent, send, streamOf, syncLists } from './testing/list-source.ts'

const { folder, file } = eachWithWarehouse()

afterEach(() => {
  vi.restoreAllMocks()
})

const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })
const named = (name: string, ...ids: readonly number[]) =>
  ids.map((id) => JSON.stringify({ id, name }))

async function sync(script: Script) {
  const { failures } = await syncLists(file(), new Map([[jobs, script]]))
  expect(failures).toEqual([])
}

/** A complete reading, with a commit after each of its parts but for the last. */
const reading =
  (generation: number, ...parts: readonly (readonly Sent[])[]): Script =>
  async (output) => {
    await sendParts(output, generation, parts.slice(0, -1))
    await send(output, parts.at(-1) ?? [], generation)
    output.note({ type: 'generation complete', generation })
    await output.complete()
  }

async function sendParts(
  output: StreamOutput,
  generation: number,
  parts: readonly (readonly Sent[])[],
) {
  for (const part of parts) {
    await send(output, part, generation)
    await output.checkpoint({ flush: true })
  }
}

/** Files after the first complete read of rows: tests that begin with the same rows copy the file. */
const begun = new Map<string, Buffer>()

async function begin(ids: readonly number[]): Promise<void> {
  const which = String(ids)
  const known = begun.get(which)
  if (known !== undefined) return writeFileSync(file(), known)
  await sync(reading(1, named('old', ...ids)))
  begun.set(which, readFileSync(file()))
}

const NAMES = `SELECT string_agg(id || ' ' || name, ', ' ORDER BY id) AS names FROM jobs`
const names = async (path = file(), sql = NAMES) => (await ask(path, sql))[0]?.['names']

/** What the file has that a process leaves behind which is killed at this moment, as the next one opens it. */
async function namesIfKilled(): Promise<unknown> {
  return names(copyAsKilled())
}

function copyAsKilled(): string {
  const copy = join(folder(), 'killed.duckdb')
  for (const end of ['', '.wal']) {
    rmSync(`${copy}${end}`, { force: true })
    if (existsSync(`${file()}${end}`)) copyFileSync(`${file()}${end}`, `${copy}${end}`)
  }
  return copy
}

const KEYS = [
  ['rise', [1, 3], [4, 6], 'new: 1, 3, 4, 6'],
  ['fall', [6, 4], [3, 1], 'new: 1, 3, 4, 6'],
  ['come again', [1, 3], [3, 6], 'new: 1, 3, 6'],
] as const
const expectedOf = (text: string) => {
  const [name, ids = ''] = text.split(': ')
  return ids
    .split(', ')
    .map((id) => `${id} ${name}`)
    .join(', ')
}

describe('a complete read of a stream that the warehouse already has', () => {
  it.each(KEYS)(
    'is visible completely or not at all, when keys %s',
    async (_, first, second, all) => {
      await begin([1, 2, 3])
      const seen: unknown[] = []
      await sync(async (output) => {
        for (const part of [first, second]) {
          await send(output, named('new', ...part), 2)
          await output.checkpoint({ flush: true })
          seen.push(await namesIfKilled())
        }
        output.note({ type: 'generation complete', generation: 2 })
        await output.checkpoint({ flush: true })
        seen.push(await namesIfKilled())
        await output.complete()
      })
      const [old, now] = ['1 old, 2 old, 3 old', expectedOf(all)]
      expect(seen).toEqual([old, old, now])
      expect(await names()).toBe(now)
    },
  )

  it.each(KEYS)('continues after a kill, when keys %s', async (_, first, second, all) => {
    await begin([1, 2, 3])
    await sync((output) => sendParts(output, 2, [named('new', ...first)]))
    expect(await names()).toBe('1 old, 2 old, 3 old')
    await sync(reading(2, named('new', ...second)))
    expect(await names()).toBe(expectedOf(all))
    expect(await ask(file(), `SHOW TABLES`)).toEqual([{ name: 'jobs' }])
  })

  it('that starts over has nothing of what was read before', async () => {
    await begin([1])
    await sync((output) => sendParts(output, 2, [named('new', 2, 3)]))
    await sync(reading(3, named('newer', 3), named('newer', 4)))
    expect(await names()).toBe('3 newer, 4 newer')
  })

  it('replaces what was read before, although the clock was set back since', async () => {
    await sync(reading(9, named('old', 1, 2, 3)))
    await sync((output) => sendParts(output, 8, [named('left', 3)]))
    await sync(reading(7, named('new', 1), named('new', 2)))
    expect(await names()).toBe('1 new, 2 new')
  })

  it('has the changes that came during it', async () => {
    await begin([1, 2, 3])
    const gone = (id: number): Sent => ({ json: `{"id":${id}}`, op: DELETE })
    await sync(
      reading(2, named('new', 1, 2, 3, 4), [gone(2), gone(4)], [...named('back', 4), gone(3)]),
    )
    expect(await names()).toBe('1 new, 4 back')
    await sync(async (output) => {
      await sendParts(output, 2, [named('later', 1), [gone(4)]])
      await output.complete()
    })
    expect(await names()).toBe('1 later')
  })

  it('that cannot know which rows were deleted keeps the rows that it did not find, and removes reported deletes', async () => {
    await begin([1, 2, 3])
    await sync(async (output) => {
      await sendParts(output, 2, [named('new', 3), [{ json: '{"id":2}', op: DELETE }]])
      await output.complete()
    })
    expect(await names()).toBe('1 old, 3 new')
  })

  it('has the columns that were added during it, also by a newer schema', async () => {
    await begin([1])
    await sync((output) =>
      sendParts(output, 2, [named('new', 1), ['{"id":2,"name":7,"other":true}']]),
    )
    const later = streamOf('jobs', {
      name: { type: ['string', 'null'] },
      day: { type: 'string', format: 'date' },
    })
    const script = reading(2, ['{"id":3,"day":"2026-01-01"}'])
    expect((await syncLists(file(), new Map([[later, script]]))).failures).toEqual([])
    expect(await ask(file(), 'SELECT * EXCLUDE id FROM flat.jobs ORDER BY id')).toEqual([
      { name: 'new', name_json: null, other: null, day: null },
      { name: null, name_json: '7', other: 'true', day: null },
      { name: null, name_json: null, other: null, day: '2026-01-01' },
    ])
  })

  it.each([
    ['a column', 'ALTER TABLE jobs ADD COLUMN notes VARCHAR', 'SELECT notes FROM jobs'],
    [
      'an index',
      'CREATE INDEX mine ON jobs (name)',
      "SELECT 1 / count(*) FROM duckdb_indexes() WHERE index_name = 'mine'",
    ],
  ])('leaves %s of somebody else in the table', async (_, change, look) => {
    await begin([1, 2])
    await withDuckDb(file(), (connection) => connection.run(change))
    await sync(reading(2, named('new', 2), named('new', 3)))
    expect(await names()).toBe('2 new, 3 new')
    await withDuckDb(file(), (connection) => connection.run(look))
  })

  it.each([
    ['rise', [3], [4]],
    ['fall', [4], [3]],
  ])(
    'shows the members of open objects that its last rows have, when keys %s',
    async (_, ...parts) => {
      const open = streamOf('jobs', { references: { type: ['object', 'null'] } })
      const syncs = async (script: Script) =>
        expect((await syncLists(file(), new Map([[open, script]]))).failures).toEqual([])
      const [first, last] = parts.map((ids) =>
        ids.map((id) => JSON.stringify({ id, references: { [`r${id}`]: 'x' } })),
      )
      await syncs(reading(1, ['{"id":1}']))
      await syncs(reading(2, first ?? [], last ?? []))
      expect(await ask(file(), 'SELECT r3, r4 FROM flat.jobs ORDER BY id')).toEqual([
        { r3: 'x', r4: null },
        { r3: null, r4: 'x' },
      ])
    },
  )

  it('shows the members of an object whose name the service writes with escapes', async () => {
    const inner = { type: 'object', properties: { texts: { type: ['object', 'null'] } } }
    const open = streamOf('jobs', { label: inner })
    const script = reading(1, ['{"id":1,"label":{"te\\u0078ts":{"nl":"x"}}}'])
    expect((await syncLists(file(), new Map([[open, script]]))).failures).toEqual([])
    expect(await ask(file(), 'SELECT label_nl FROM flat.jobs')).toEqual([{ label_nl: 'x' }])
  })

  it('keeps values that do not fit into their columns, if it begins in the sync that ended the one before', async () => {
    await sync(reading(1, ['{"id":1,"name":7}']))
    await sync(async (output) => {
      await sendParts(output, 2, [named('x', 1)])
      output.note({ type: 'generation complete', generation: 2 })
      await sendParts(output, 3, [['{"id":1,"name":8}']])
    })
    await sync(reading(3, named('y', 2)))
    expect(await ask(file(), 'SELECT id, name, name_json FROM jobs ORDER BY id')).toEqual([
      { id: '1', name: null, name_json: '8' },
      { id: '2', name: 'y', name_json: null },
    ])
  })

  it('ends well where an index of somebody else keeps DuckDB from dropping a column without values', async () => {
    await sync(reading(1, ['{"id":1,"name":7}']))
    await withDuckDb(file(), (connection) => connection.run('CREATE INDEX mine ON jobs (id)'))
    await sync(reading(2, named('a', 1)))
    expect(await names()).toBe('1 a')
    await withDuckDb(file(), (connection) => connection.run('DROP INDEX mine'))
    await sync(reading(3, named('b', 1)))
    expect(await ask(file(), 'SELECT * EXCLUDE _known_from FROM jobs')).toEqual([
      { id: '1', name: 'b' },
    ])
  })

  it('keeps the comments of the table and its columns', async () => {
    const [spec, comments] = [
      { ...jobs, schema: { ...jobs.schema, description: 'One job.' } },
      "SELECT comment FROM duckdb_tables() WHERE table_name = 'jobs' AND schema_name = 'main'",
    ]
    const syncs = (script: Script) => syncLists(file(), new Map([[spec, script]]))
    await syncs(reading(1, named('old', 1)))
    await syncs(reading(2, named('new', 1), named('new', 2)))
    expect(await ask(file(), comments)).toEqual([{ comment: 'One job.' }])
  })

  it('has its last rows once, even if another stream cannot be committed with it', async () => {
    const people = streamOf('people', { name: { type: 'string' } })
    const both = (script: Script, other: Script) =>
      syncLists(
        file(),
        new Map([
          [people, other],
          [jobs, script],
        ]),
      )
    const sending: (...records: readonly Sent[]) => Script =
      (...records) =>
      (output) =>
        send(output, records)
    await both(reading(1, named('old', 1, 2)), sending(...named('a', 1)))
    await withDuckDb(file(), (connection) =>
      connection.run('CREATE UNIQUE INDEX mine ON people (name)'),
    )
    await both((output) => sendParts(output, 2, [named('new', 1)]), sending())
    const end: Script = async (output) => {
      await send(output, named('new', 2, 3), 2)
      output.note({ type: 'generation complete', generation: 2 })
    }
    const { failures } = await both(end, sending(...named('a', 2)))
    expect(failures).toMatchObject([{ stream: 'people' }])
    expect(await names()).toBe('1 new, 2 new, 3 new')
  })

  it('goes on after a kill while the rows that waited became those of the table', async () => {
    await begin([1, 2, 3])
    const killed = join(folder(), 'killed.duckdb')
    const { run } = DuckDBConnection.prototype
    vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(function (
      this: DuckDBConnection,
      ...args
    ) {
      if (args[0].startsWith('DROP TABLE _protime."next_jobs"')) copyAsKilled()
      return run.apply(this, args)
    })
    await sync(reading(2, named('new', 1, 4), named('new', 5, 3)))
    vi.restoreAllMocks()
    expect(await names()).toBe('1 new, 3 new, 4 new, 5 new')
    expect(await names(killed)).toBe('1 old, 2 old, 3 old')
    const { states } = await syncLists(killed, new Map([[jobs, reading(2, named('newer', 3))]]))
    expect(states).toEqual(new Map([['jobs', { syncs: 2 }]]))
    expect(await names(killed)).toBe('1 new, 3 newer, 4 new')
  })

  it('that fails keeps the earlier table, however often it is repeated', async () => {
    await begin([1])
    for (const id of [2, 3]) {
      const failing: Script = async (output) => {
        await sendParts(output, 2, [named('new', id)])
        throw new ConnectorError('transient', 'x-test', 'The service is away.')
      }
      await syncLists(file(), new Map([[jobs, failing]]))
      expect(await names()).toBe('1 old')
    }
    await sync(reading(2, named('new', 4)))
    expect(await names()).toBe('2 new, 3 new, 4 new')
  })
})
