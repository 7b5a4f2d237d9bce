import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ofAnotherUser } from '../../integration-tests/testing/files.ts'
import { ask } from '../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import {
  type Script,
  type Sent,
  send,
  sending,
  streamOf,
  syncLists,
} from './testing/list-source.ts'

const { folder, file, rows, change } = eachWithWarehouse()

const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })
const sync = (settings: object = {}, ...records: Sent[]) =>
  syncLists(file(), new Map([[jobs, sending(...records)]]), settings)
const one = '{"id":1,"name":"a"}'

/** A file with that record: the first case makes it, and the others copy it. */
let begun: Buffer | undefined
async function begin(): Promise<void> {
  if (begun !== undefined) return writeFileSync(file(), begun, { mode: 0o600 })
  await sync({}, one)
  begun = readFileSync(file())
}

describe('what no sync has created', () => {
  const MADE = {
    'table main.my_budget': 'CREATE TABLE my_budget AS SELECT 1 AS one',
    'view main.my_report': 'CREATE VIEW my_report AS SELECT 1 AS one',
    'view flat.my_report': 'CREATE VIEW flat.my_report AS SELECT 1 AS one',
    'schema empty': 'CREATE SCHEMA empty',
    'schema marts': 'CREATE SCHEMA marts',
    'table marts.people': 'CREATE TABLE marts.people (id INT)',
    'column jobs.note': 'ALTER TABLE jobs ADD COLUMN note VARCHAR',
    'index mine': 'CREATE INDEX mine ON jobs (name)',
    'sequence main.numbers': 'CREATE SEQUENCE numbers',
    'type main.mood': "CREATE TYPE mood AS ENUM ('good')",
    'macro main.twice': 'CREATE MACRO twice(a) AS a * 2',
  }

  it('is named, and stays: --rewrite removes nothing of it', async () => {
    await begin()
    await change(Object.values(MADE).join(';'))
    const before = statSync(file()).ino
    const refused = await sync({ rewrites: true }).catch((error) => error)
    expect(refused).toMatchObject({ id: 'made-by-others', failure: 'config' })
    const [, named = ''] = /: ([^:]*)\. Move it to a file of its own/.exec(refused.message) ?? []
    expect(named.split(', ').sort()).toEqual(Object.keys(MADE).sort())
    expect(refused.message).toContain(`${file()}: `)
    expect(statSync(file()).ino).toBe(before)
    expect((await sync({ rewrites: true, dropsOthers: true }, one)).failures).toEqual([])
    expect(statSync(file()).ino).not.toBe(before)
  })

  it('stays if it was created while --rewrite was reading', async () => {
    await begin()
    const reading = syncLists(
      file(),
      new Map([
        [
          jobs,
          async (output) => {
            await change('CREATE TABLE my_budget AS SELECT 1 AS one')
            await output.complete()
          },
        ],
      ]),
      { rewrites: true },
    )
    await expect(reading).rejects.toMatchObject({ id: 'made-by-others' })
    expect(await rows('SELECT count(*)::INTEGER AS count FROM my_budget')).toEqual([{ count: 1 }])
  })

  it('is everything in a file that no sync has filled', async () => {
    await change('CREATE TABLE mine AS SELECT 1 AS one')
    await expect(sync({ rewrites: true })).rejects.toThrow('table main.mine')
  })
})

it.each(['', '.wal'])(
  'the file of another tenant keeps each byte (with a log: %j)',
  async (log) => {
    const contents = () => ['', log].map((end) => readFileSync(`${file()}.other${end}`))
    const script: Script = async (output) => {
      await send(output, [one])
      await output.checkpoint({ flush: true })
      // As if it were killed here.
      for (const end of ['', '.wal']) copyFileSync(`${file()}${end}`, `${file()}.other${end}`)
      await output.complete()
    }
    await syncLists(file(), new Map([[jobs, script]]))
    if (log === '') rmSync(`${file()}.other.wal`)
    const before = contents()
    const owner = { tenant: 'bolt', environment: 'custom', redaction: '' }
    await expect(
      syncLists(`${file()}.other`, new Map([[jobs, sending(one)]]), { owner }),
    ).rejects.toMatchObject({ id: 'warehouse-of-another-tenant' })
    expect(contents()).toEqual(before)
    expect(existsSync(`${file()}.other.wal`)).toBe(log !== '')
  },
)

describe('a file that is not ready', () => {
  it.each(['w.duckdb', 'w.duckdb.rewrite'])('counts as absent if it is empty: %s', async (name) => {
    if (name !== 'w.duckdb') await begin()
    writeFileSync(join(folder(), name), '')
    const { failures } = await sync({ rewrites: name !== 'w.duckdb' }, one)
    expect(failures).toEqual([])
    expect(await rows('SELECT name FROM jobs')).toEqual([{ name: 'a' }])
    expect(readdirSync(folder())).toEqual(['w.duckdb'])
  })

  it('is not seen: a warehouse has an owner as soon as it exists', async () => {
    let owners: unknown
    await syncLists(
      file(),
      new Map([
        [
          jobs,
          async (output) => {
            writeFileSync(`${file()}.seen`, readFileSync(file()))
            owners = await ask(`${file()}.seen`, 'SELECT tenant FROM _protime.owner')
            await output.complete()
          },
        ],
      ]),
    )
    expect(owners).toEqual([{ tenant: 'acme' }])
  })

  it.each([0, 40, 80, 120])(
    'is written by one of two first syncs that start %i ms apart, also in one process',
    async (ms) => {
      const later = sleep(ms).then(() => sync({}, one))
      const both = await Promise.allSettled([sync({}, one), later])
      expect(both.map(({ status }) => status)).toContain('fulfilled')
      for (const done of both)
        if (done.status === 'rejected')
          expect(done.reason).toMatchObject({ failure: 'transient', id: 'in-use' })
      expect(await rows('SELECT count(*)::INTEGER AS count FROM jobs')).toEqual([{ count: 1 }])
    },
  )
})

it('a file that was restored beside the log of a newer one is refused until that log is gone, and not changed', async () => {
  await sync({}, one)
  const older = readFileSync(file())
  await sync({}, '{"id":2,"name":"b"}')
  let log: Buffer | undefined
  const killed: Script = async (output) => {
    await send(output, ['{"id":3,"name":"c"}'])
    await output.checkpoint({ flush: true })
    log = readFileSync(`${file()}.wal`)
  }
  await syncLists(file(), new Map([[jobs, killed]]))
  writeFileSync(file(), older)
  writeFileSync(`${file()}.wal`, log as Buffer)
  await expect(sync({}, one)).rejects.toThrow(`the log ${file()}.wal belongs to a newer file`)
  expect(readFileSync(file()).equals(older)).toBe(true)
  rmSync(`${file()}.wal`)
  const { states } = await sync({}, one)
  expect(states.get('jobs')).toEqual({ syncs: 1 })
})

describe('what others have put in the place of a file', () => {
  const PLACES = ['w.duckdb', 'w.duckdb.wal', 'w.duckdb.rewrite', 'copy.duckdb']
  const PLANTED = PLACES.flatMap((name) =>
    ['a pipe', 'a link', 'a file of another user'].map((what) => [name, what] as const),
  )

  it.each(PLANTED)('is not used, changed or removed: %s is %s', async (name, what) => {
    if (name !== 'w.duckdb') await begin()
    const [path, target] = [join(folder(), name), join(folder(), 'target')]
    writeFileSync(target, '')
    if (what === 'a pipe') execFileSync('mkfifo', [path])
    // A person may call a warehouse or a copy by a link of theirs, but nothing of ours is behind one.
    else if (what === 'a link') symlinkSync(target, path)
    else writeFileSync(path, '', { mode: 0o666 })
    const isNamed = name === 'w.duckdb' || name === 'copy.duckdb'
    if (what === 'a file of another user' || (what === 'a link' && isNamed))
      onTestFinished(ofAnotherUser(path))
    const settings = {
      rewrites: name === 'w.duckdb.rewrite',
      ...(name === 'copy.duckdb' && { publish: path }),
    }
    await expect(sync(settings, one)).rejects.toMatchObject({ failure: 'config' })
    expect(readFileSync(target, 'utf8')).toBe('')
    expect(existsSync(path)).toBe(true)
  })
})

describe('a file of the user with a name that a sync could use', () => {
  const USED = {
    'w.duckdb.wal': {},
    'w.duckdb.rewrite.wal': { rewrites: true },
    'w.duckdb.rewrite': { rewrites: true },
    'copy.duckdb.wal': { publish: 'copy.duckdb' },
  }
  const UNUSED = {
    'w.duckdb.sync': {},
    'w.duckdb.protime-notes': {},
    'copy.duckdb.publish': { publish: 'copy.duckdb' },
    'out/jobs.parquet.part': { publish: 'out/' },
    'out/published.json.part': { publish: 'out/' },
  }
  const settingsOf = (settings: object) =>
    'publish' in settings ? { publish: `${folder()}/${settings.publish}` } : settings

  it.each(Object.entries(USED))('keeps each byte, and is named: %s', async (name, settings) => {
    if (name !== 'w.duckdb.wal') await begin()
    const path = join(folder(), name)
    writeFileSync(path, 'my notes')
    await expect(sync(settingsOf(settings), one)).rejects.toMatchObject({
      failure: 'config',
      id: 'file-not-own',
      message: expect.stringContaining(path),
    })
    expect(readFileSync(path, 'utf8')).toBe('my notes')
    rmSync(path)
    expect((await sync(settingsOf(settings), one)).failures).toEqual([])
  })

  it.each(Object.entries(UNUSED))('is not in the way: %s', async (name, settings) => {
    mkdirSync(join(folder(), 'out'))
    const path = join(folder(), name)
    writeFileSync(path, 'my notes')
    for (const rewrites of [false, true])
      expect((await sync({ ...settingsOf(settings), rewrites }, one)).failures).toEqual([])
    expect(readFileSync(path, 'utf8')).toBe('my notes')
  })

  it.each([100, 5000, 13_000])('is not told from a .rewrite cut at byte %i', async (size) => {
    await begin()
    const path = `${file()}.rewrite`
    await syncLists(path, new Map([[jobs, sending(one)]]))
    truncateSync(path, size)
    await expect(sync({ rewrites: true }, one)).rejects.toMatchObject({ id: 'file-not-own' })
    expect(statSync(path).size).toBe(size)
  })
})
