import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { protime } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { DELETE } from '../records/record-batch.ts'
import { turnHistoryOff, turnHistoryOn } from './change-history.ts'
import {
  type Script,
  type Sent,
  send,
  sending,
  streamOf,
  syncLists,
} from './testing/list-source.ts'

const { folder, file, rows } = eachWithWarehouse()

const TEXT = { type: ['string', 'null'] }
const jobs = streamOf('jobs', { name: TEXT, day: { type: ['string', 'null'], format: 'date' } })
const row = (id: number, name: string, day?: string) => JSON.stringify({ id, name, day })
const gone = (id: number): Sent => ({ json: JSON.stringify({ id, name: 'last' }), op: DELETE })
const whole =
  (generation: number, ...records: readonly Sent[]): Script =>
  async (output) => {
    await send(output, records, generation)
    output.note({ type: 'generation complete', generation })
    await output.complete()
  }
/** Syncs on a day of November. */
const sync = (day: number, script: Script, settings: Parameters<typeof syncLists>[2] = {}) =>
  syncLists(file(), new Map([[jobs, script]]), {
    keepsHistory: true,
    now: () => new Date(Date.UTC(2026, 10, day)),
    ...settings,
  }).then((done) => {
    expect([done.failures, done.warnings]).toEqual([[], []])
    return done
  })
/** The versions: each with the days of November from which and until which it was known. */
const versions = async () =>
  (
    await rows(`SELECT id || ' ' || name || ' ' || strftime(known_from AT TIME ZONE 'UTC', '%d')
      || coalesce('-' || strftime(known_until AT TIME ZONE 'UTC', '%d'), '') AS one
      FROM history.jobs ORDER BY id, known_from`)
  ).map(({ one }) => one)
const settings = () => ({
  path: file(),
  owner: { tenant: 'acme', environment: 'custom', redaction: '' },
  patience: <T>(open: () => Promise<T>) => open(),
  log: { debug() {}, info() {}, warn() {} },
})

describe('a history, after a complete read of the rows 1 a and 2 b on the 1st,', () => {
  /** The file after that read: the first case makes it, and the others copy it. */
  let begun: Buffer | undefined
  beforeEach(async () => {
    if (begun !== undefined) return writeFileSync(file(), begun, { mode: 0o600 })
    await sync(1, whole(1, row(1, 'a'), row(2, 'b')))
    begun = readFileSync(file())
  })

  it.each<[string, Script, readonly string[]]>([
    ['has a version of what changed', sending(row(1, 'x')), ['1 a 01-02', '1 x 02', '2 b 01']],
    ['has a version of what was deleted', sending(gone(1)), ['1 a 01-02', '2 b 01']],
    ['has none for a repeat', sending(row(1, 'a'), row(2, 'b')), ['1 a 01', '2 b 01']],
    [
      'has none for a complete read of the same',
      whole(2, row(2, 'b'), row(1, 'a')),
      ['1 a 01', '2 b 01'],
    ],
    ['has a version of what a complete read lacks', whole(2, row(2, 'b')), ['1 a 01-02', '2 b 01']],
    [
      'has the last of several records',
      sending(row(1, 'x'), gone(1), row(1, 'y')),
      ['1 a 01-02', '1 y 02', '2 b 01'],
    ],
    [
      'has none of what came and went in one commit',
      sending(row(3, 'c'), gone(3)),
      ['1 a 01', '2 b 01'],
    ],
    [
      'has none of a change that a complete read of the same commit has overtaken',
      async (output) => {
        await send(output, [row(2, 'b'), row(1, 'x')])
        await whole(2, row(2, 'b'), row(1, 'y'))(output)
      },
      ['1 a 01-02', '1 y 02', '2 b 01'],
    ],
  ])('%s', async (_, script, expected) => {
    await sync(2, script)
    expect(await versions()).toEqual(expected)
  })

  it('answers as of any moment, also for a row that has come back', async () => {
    await sync(2, sending(gone(1), row(2, 'c')))
    await sync(4, sending(row(1, 'a')))
    const asOf = async (day: number) => {
      const moment = `TIMESTAMPTZ '2026-11-0${day} 12:00:00Z'`
      const found = await rows(`SELECT id || name AS one FROM history.jobs
        WHERE known_from <= ${moment} AND (known_until IS NULL OR known_until > ${moment}) ORDER BY id`)
      return found.map(({ one }) => one).join(' ')
    }
    expect(await Promise.all([1, 2, 3, 4].map(asOf))).toEqual(['1a 2b', '2c', '2c', '1a 2c'])
    expect(await rows('SELECT count(*)::INTEGER AS count FROM main.jobs')).toEqual([{ count: 2 }])
  })

  it('makes no version of rows that differ only by a field that a complete read is the first to fill', async () => {
    const wider = streamOf('jobs', { ...jobs.schema.properties, note: TEXT })
    const read = (day: number, generation: number, one: string, two: string) =>
      syncLists(
        file(),
        new Map([
          [
            wider,
            whole(
              generation,
              `{"id":1,"name":"a","note":"${one}"}`,
              `{"id":2,"name":"${two}","note":"n"}`,
            ),
          ],
        ]),
        { now: () => new Date(Date.UTC(2026, 10, day)) },
      )
    await read(2, 2, 'n', 'x')
    expect(await versions()).toEqual(['1 a 01', '2 b 01-02', '2 x 02'])
    await read(3, 3, 'm', 'x')
    expect(await versions()).toEqual(['1 a 01-03', '1 a 03', '2 b 01-02', '2 x 02'])
    expect(
      await rows(
        "SELECT property FROM _protime.fields WHERE known_from > TIMESTAMPTZ '2026-11-01 12:00:00Z'",
      ),
    ).toEqual([{ property: '"note"' }])
  })

  it('makes no version of rows in the same version that an audit writes again for the sake of a field', async () => {
    const write = (day: number, script: Script) =>
      syncLists(file(), new Map([[jobs, script]]), {
        now: () => new Date(Date.UTC(2026, 10, day)),
      })
    await write(
      2,
      whole(
        2,
        '{"id":1,"name":"a","changeVersion":"A"}',
        '{"id":2,"name":"b","changeVersion":"A"}',
      ),
    )
    await write(
      3,
      sending(
        '{"id":1,"name":"a","changeVersion":"A","note":"n"}',
        '{"id":2,"name":"b","changeVersion":"B","note":"n"}',
      ),
    )
    expect(await versions()).toEqual(['1 a 01', '2 b 01-03', '2 b 03'])
    expect(await rows('SELECT count(note)::INTEGER AS count FROM main.jobs')).toEqual([
      { count: 2 },
    ])
  })

  it('keeps a variant as long as a closed version has a value in it', async () => {
    await syncLists(file(), new Map([[jobs, sending('{"id":1,"name":7}')]]))
    await sync(2, whole(2, row(1, 'a')))
    expect(await rows('SELECT name_json FROM history.jobs WHERE name_json IS NOT NULL')).toEqual([
      { name_json: '7' },
    ])
    await turnHistoryOff(settings())
    await sync(3, whole(3, row(1, 'a')))
    expect(Object.keys((await rows('FROM flat.jobs'))[0] ?? {})).toEqual(['id', 'name', 'day'])
  })

  it('loses the versions of days that are no longer kept', async () => {
    await sync(2, sending(row(1, 'c', '2025-03-01'), row(2, 'd', '2025-05-01')))
    await sync(3, sending(row(1, 'e', '2025-05-01'), gone(2)))
    await sync(4, async (output) => {
      output.note({ type: 'left', field: 'day', day: '2025-04-01' })
      await output.complete()
    })
    expect(await versions()).toEqual(['1 a 01-02', '1 e 03', '2 b 01-02', '2 d 02-03'])
  })

  it('loses at each sync what is no longer kept, and says since when it is whole', async () => {
    await sync(2, sending(row(1, 'x')))
    await turnHistoryOn(settings(), new Date(Date.UTC(2026, 10, 2)), '7 days')
    await sync(8, sending(row(1, 'y')))
    expect(await versions()).toEqual(['1 a 01-02', '1 x 02-08', '1 y 08', '2 b 01'])
    await sync(11, sending(row(1, 'y')))
    expect(await versions()).toEqual(['1 x 02-08', '1 y 08', '2 b 01'])
    expect(
      await rows(
        "SELECT strftime(known_since AT TIME ZONE 'UTC', '%d') AS day FROM _protime.streams",
      ),
    ).toEqual([{ day: '04' }])
  })

  it('is kept by every sync, until it is forgotten by the word', async () => {
    await sync(2, sending(row(1, 'x')), { keepsHistory: false })
    expect(await versions()).toEqual(['1 a 01-02', '1 x 02', '2 b 01'])
    await turnHistoryOff(settings())
    await sync(3, sending(row(1, 'y')), { keepsHistory: false })
    expect(
      await rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'closed%'"),
    ).toEqual([])
    await expect(versions()).rejects.toThrow('history.jobs')
    await sync(4, sending(row(1, 'z')))
    expect(await versions()).toEqual(['1 z 04', '2 b 01'])
  })

  it('is not lost by --rewrite without a word, and begins anew in the new file', async () => {
    await sync(2, sending(row(1, 'x')))
    await expect(sync(3, whole(1, row(1, 'x')), { rewrites: true })).rejects.toMatchObject({
      id: 'history-would-end',
    })
    await sync(3, whole(1, row(1, 'x')), {
      keepsHistory: false,
      rewrites: true,
      forgetsHistory: true,
    })
    await sync(4, sending(row(1, 'y')), { keepsHistory: false })
    expect(await versions()).toEqual(['1 x 03-04', '1 y 04'])
  })

  it('begins again for a table that somebody has changed', async () => {
    const { DuckDBInstance } = await import('@duckdb/node-api')
    const instance = await DuckDBInstance.create(file())
    const connection = await instance.connect()
    await connection.run('ALTER TABLE main.jobs DROP COLUMN day')
    connection.closeSync()
    instance.closeSync()
    const at = (day: number, script: Script) =>
      syncLists(file(), new Map([[jobs, script]]), { now: () => new Date(Date.UTC(2026, 10, day)) })
    await at(2, whole(2, row(1, 'a', '2026-01-01'), row(2, 'b')))
    await at(3, sending(row(2, 'c')))
    expect(await versions()).toEqual(['1 a 02', '2 b 01-03', '2 c 03'])
  })
})

it('begins with the end of the first read: rows that are replaced before are no versions', async () => {
  await sync(1, async (output) => {
    await send(output, [row(1, 'a'), row(2, 'a')])
    await output.checkpoint({ flush: true })
    await send(output, [row(1, 'b')])
    await output.checkpoint({ flush: true })
  })
  await sync(2, async (output) => {
    await send(output, [row(1, 'c')])
    output.note({ type: 'generation complete', generation: 1 })
    await output.complete()
  })
  await sync(3, sending(row(1, 'd')))
  expect(await versions()).toEqual(['1 c 02-03', '1 d 03', '2 a 01'])
})

it('begins in a file that was there before with the end of the next sync', async () => {
  await sync(1, whole(1, row(1, 'a'), row(2, 'b')), { keepsHistory: false })
  await turnHistoryOn(settings(), new Date(Date.UTC(2026, 10, 1)))
  await sync(2, sending(row(1, 'x')), { keepsHistory: false })
  await sync(3, sending(row(2, 'y')), { keepsHistory: false })
  expect(await versions()).toEqual(['1 x 02', '2 b 01-03', '2 y 03'])
})

it('is not forgotten in a file that is not there: none is made', async () => {
  await expect(turnHistoryOff(settings())).rejects.toMatchObject({ failure: 'config' })
  expect(existsSync(file())).toBe(false)
})

it('is refused to a file of its name, which can be synced without', async () => {
  const path = join(folder(), 'history.duckdb')
  const into = (keepsHistory: boolean) =>
    syncLists(path, new Map([[jobs, sending(row(1, 'a'))]]), { keepsHistory })
  expect((await into(false)).failures).toEqual([])
  await expect(into(true)).rejects.toMatchObject({
    failure: 'config',
    message: expect.stringContaining('Give the file another name'),
  })
  const on = turnHistoryOn({ ...settings(), path }, new Date())
  await expect(on).rejects.toThrow('Give the file another name')
  expect((await into(false)).failures).toEqual([])
})

it('is not kept of what a sync says about itself', async () => {
  const inventory = { ...jobs, isOfSync: true }
  for (const name of ['a', 'b'])
    await syncLists(file(), new Map([[inventory, sending(row(1, name))]]), { keepsHistory: true })
  expect(await rows("SELECT view_name FROM duckdb_views() WHERE schema_name = 'history'")).toEqual(
    [],
  )
})

it('does not take the place of what others have made', async () => {
  await sync(1, whole(1, row(1, 'a')), { keepsHistory: false })
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(file())
  const connection = await instance.connect()
  await connection.run('CREATE VIEW history.jobs AS SELECT 1 AS mine')
  connection.closeSync()
  instance.closeSync()
  await expect(sync(2, sending(row(1, 'b')))).rejects.toThrow('has a table or view history.jobs')
  await expect(sync(2, whole(1, row(1, 'b')), { rewrites: true })).rejects.toThrow(
    'view history.jobs',
  )
})

it('answers what docs/history.md asks as shown there', async () => {
  const guide = readFileSync('docs/history.md', 'utf8')
  const [sql, answer] = ['sql', 'json'].map(
    (kind) => new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 's').exec(guide)?.[1] ?? '',
  )
  const clockings = streamOf('clockings', {
    person: { type: 'object', properties: { id: { type: ['integer', 'null'] } } },
    date: { type: 'string', format: 'date' },
    timeOfDayInMinutes: { type: ['integer', 'null'] },
  })
  for (const [day, minutes] of [
    [1, 485],
    [5, 540],
  ] as const)
    await syncLists(
      file(),
      new Map([
        [
          clockings,
          sending(
            JSON.stringify({
              ...{ id: 7, person: { id: 1042 }, date: '2026-10-30' },
              timeOfDayInMinutes: minutes,
            }),
          ),
        ],
      ]),
      { keepsHistory: true, now: () => new Date(Date.UTC(2026, 10, day)) },
    )
  const { stdout } = await protime('query', String(sql), '--warehouse', file(), '--json')
  expect(stdout).toBe(answer)
})
