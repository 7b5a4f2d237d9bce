import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DuckDBConnection } from '@duckdb/node-api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ask, withDuckDb } from '../../../integration-tests/testing/protime.ts'
import { eachWithWarehouse } from '../../../integration-tests/testing/warehouse-file.ts'
import type { Owner } from '../landing.ts'
import { type Script, sending, streamOf, syncLists } from '../testing/list-source.ts'
import { publish } from './publish.ts'
import { removeRewrite } from './replace-file.ts'

const { folder } = eachWithWarehouse()

afterEach(() => {
  vi.restoreAllMocks()
})

const at = (name: string) => join(folder(), name)
const ACME: Owner = { tenant: 'acme', environment: 'custom', redaction: '' }
const jobs = new Map([[streamOf('jobs', {}), sending('{"id":1}')]])
const sync = (copy: string, owner = ACME, warehouse = at('w.duckdb')) =>
  syncLists(warehouse, jobs, { publish: copy, owner })

describe('a copy of a warehouse', () => {
  it('removes a partial copy of an earlier sync, but not the file that a link leads to', () => {
    writeFileSync(at('w.duckdb'), 'rows')
    writeFileSync(at('other'), 'of somebody else')
    writeFileSync(at('copy.duckdb.protime-0123456789ab'), 'half of the rows')
    symlinkSync(at('other'), at('copy.duckdb.protime-ba9876543210'))
    publish(at('w.duckdb'), at('copy.duckdb'))
    expect(readFileSync(at('copy.duckdb'), 'utf8')).toBe('rows')
    expect(readFileSync(at('other'), 'utf8')).toBe('of somebody else')
    expect(readdirSync(folder()).sort()).toEqual(['copy.duckdb', 'other', 'w.duckdb'])
  })

  const TEMPORARY = '.protime-0123456789ab'
  it.each(['', '.rewrite'].flatMap((one) => ['.wal', '.tmp', TEMPORARY].map((end) => one + end)))(
    'has no name that a sync gives what it makes beside the warehouse: %s',
    async (ending) => {
      await expect(sync(at(`w.duckdb${ending}`))).rejects.toThrow(
        'has the name of a file that a sync makes beside the warehouse',
      )
    },
  )

  it('is not written over that of another tenant who has published there since the sync began', async () => {
    const copy = at('copy.duckdb')
    const script: Script = async (output) => {
      await sync(copy, { ...ACME, tenant: 'other' }, at('other.duckdb'))
      await sending('{"id":2}')(output)
    }
    const streams = new Map([[streamOf('jobs', {}), script]])
    const { failures } = await syncLists(at('w.duckdb'), streams, { publish: copy, owner: ACME })
    expect(failures).toMatchObject([{ error: { id: 'not-a-copy' } }])
    expect(await ask(copy, 'SELECT id FROM jobs')).toEqual([{ id: '1' }])
  })

  it.each(['a?b.duckdb', 'flat.duckdb', 'Flat'])(
    'has no name under which DuckDB could not open it: %s',
    async (name) => {
      await expect(sync(at(name))).rejects.toMatchObject({
        id: 'copy-not-written',
        message: expect.stringContaining('DuckDB does not open a file named'),
      })
      expect(readdirSync(folder())).toEqual([])
    },
  )

  it('may be beside it under any other name', async () => {
    await sync(at('w.duckdb.copy'))
    expect(await ask(at('w.duckdb.copy'), 'SELECT id FROM jobs')).toEqual([{ id: '1' }])
  })

  it('is not the warehouse itself, behind a symbolic link', async () => {
    symlinkSync(at('w.duckdb'), at('link.duckdb'))
    await sync(at('copy.duckdb'))
    for (const warehouse of ['w.duckdb', 'link.duckdb'])
      await expect(sync(at('link.duckdb'), ACME, at(warehouse))).rejects.toMatchObject({
        id: 'published-onto-itself',
      })
    expect(lstatSync(at('link.duckdb')).isSymbolicLink()).toBe(true)
  })

  it.each(['w.duckdb', 'w.duckdb.rewrite', 'w.duckdb.wal'])(
    'is not a file of the warehouse in a folder that a symbolic link leads to: %s',
    async (name) => {
      symlinkSync(folder(), at('link'))
      for (let i = 0; i < 2; i++)
        await expect(sync(at(`link/${name}`))).rejects.toMatchObject({
          id: 'published-onto-itself',
        })
    },
  )

  it('is not replaced while there is a log beside it, which would be read as a part of the next one', async () => {
    await sync(at('copy.duckdb'))
    await withDuckDb(at('log.duckdb'), async (connection) => {
      await connection.run('PRAGMA disable_checkpoint_on_shutdown')
      await connection.run('CREATE TABLE mine AS SELECT 1')
    })
    renameSync(at('log.duckdb.wal'), at('copy.duckdb.wal'))
    await expect(sync(at('copy.duckdb'))).rejects.toThrow(at('copy.duckdb.wal'))
    rmSync(at('copy.duckdb.wal'))
    await sync(at('copy.duckdb'))
    expect(await ask(at('copy.duckdb'), 'SHOW TABLES')).toEqual([{ name: 'jobs' }])
  })

  it('takes the place of the file that a symbolic link leads to', async () => {
    symlinkSync(at('real.duckdb'), at('link.duckdb'))
    writeFileSync(at('real.duckdb'), '')
    await sync(at('link.duckdb'))
    expect(lstatSync(at('link.duckdb')).isSymbolicLink()).toBe(true)
    expect(await ask(at('real.duckdb'), 'SELECT id FROM jobs')).toEqual([{ id: '1' }])
  })

  it.each([
    'a file that is no database',
    'a database of somebody else',
    'the warehouse of another tenant',
  ])('does not replace %s', async (what) => {
    const other = at('other.duckdb')
    if (what === 'a file that is no database') writeFileSync(other, 'my notes')
    else if (what === 'a database of somebody else')
      await withDuckDb(other, (connection) => connection.run('CREATE TABLE mine AS SELECT 1'))
    else await syncLists(other, jobs, { owner: { ...ACME, tenant: 'other' } })
    const before = readFileSync(other)
    await expect(sync(other)).rejects.toMatchObject({ id: 'not-a-copy', failure: 'config' })
    expect(readFileSync(other).equals(before)).toBe(true)
  })

  it('does not replace another warehouse of the same tenant, which syncs write', async () => {
    await syncLists(at('other.duckdb'), jobs, { owner: ACME, keepsHistory: true })
    const before = readFileSync(at('other.duckdb'))
    for (let i = 0; i < 2; i++)
      await expect(sync(at('other.duckdb'))).rejects.toMatchObject({
        id: 'not-a-copy',
        failure: 'config',
        message: expect.stringContaining('chmod a-w'),
      })
    expect(readFileSync(at('other.duckdb')).equals(before)).toBe(true)
    await syncLists(at('w.duckdb'), jobs, { owner: ACME })
    await expect(sync(at('other.duckdb'))).rejects.toMatchObject({ id: 'not-a-copy' })
  })

  it('does not replace one that began as a copy', async () => {
    await sync(at('copy.duckdb'))
    chmodSync(at('copy.duckdb'), 0o600)
    await syncLists(at('copy.duckdb'), jobs, { owner: ACME })
    await sync(at('third.duckdb'))
    await expect(sync(at('copy.duckdb'))).rejects.toMatchObject({ id: 'not-a-copy' })
  })

  it('does not replace one that a sync is writing', async () => {
    const writing: Script = async (output) => {
      await expect(sync(at('other.duckdb'))).rejects.toMatchObject({ id: 'not-a-copy' })
      await output.complete()
    }
    const streams = new Map([[streamOf('jobs', {}), writing]])
    expect((await syncLists(at('other.duckdb'), streams, { owner: ACME })).failures).toEqual([])
  })

  it('replaces one that somebody has made writable, also by a --rewrite, and keeps its mode', async () => {
    await sync(at('copy.duckdb'))
    chmodSync(at('copy.duckdb'), 0o644)
    const syncs = 'SELECT count(*)::INTEGER AS syncs FROM _protime.syncs'
    const publishing = { publish: at('copy.duckdb'), owner: ACME }
    await syncLists(at('w.duckdb'), jobs, publishing)
    expect(await ask(at('copy.duckdb'), syncs)).toEqual([{ syncs: 2 }])
    const stricter = { ...ACME, redaction: 'stricter' }
    for (const rewrites of [true, false])
      await syncLists(at('w.duckdb'), jobs, { ...publishing, owner: stricter, rewrites })
    expect(await ask(at('copy.duckdb'), syncs)).toEqual([{ syncs: 2 }])
    expect(statSync(at('copy.duckdb')).mode & 0o777).toBe(0o644)
  })

  it('does not replace one in which somebody has made a table that the warehouse lacks', async () => {
    const copy = at('copy.duckdb')
    await sync(copy)
    chmodSync(copy, 0o644)
    await withDuckDb(copy, (connection) => connection.run('CREATE TABLE budget AS SELECT 1 AS one'))
    await expect(sync(copy)).rejects.toMatchObject({ id: 'not-a-copy', failure: 'config' })
    expect(await ask(copy, 'FROM budget')).toEqual([{ one: 1 }])
    await withDuckDb(at('w.duckdb'), (connection) =>
      connection.run('CREATE TABLE budget (one INT)'),
    )
    expect((await sync(copy)).failures).toEqual([])
  })

  it('replaces one of a warehouse that is no longer there', async () => {
    await sync(at('copy.duckdb'))
    rmSync(at('w.duckdb'))
    await sync(at('copy.duckdb'))
    const syncs = 'SELECT count(*)::INTEGER AS syncs FROM _protime.syncs'
    expect(await ask(at('copy.duckdb'), syncs)).toEqual([{ syncs: 1 }])
  })

  it('replaces one that was made under other settings of personal data', async () => {
    await sync(at('copy.duckdb'))
    await sync(at('copy.duckdb'), { ...ACME, redaction: 'stricter' }, at('stricter.duckdb'))
    expect(await ask(at('copy.duckdb'), 'SELECT redaction FROM _protime.owner')).toEqual([
      { redaction: 'stricter' },
    ])
  })
})

describe('the new file of --rewrite', () => {
  it('does not take the place of a database of somebody else, unless that may be lost', async () => {
    const other = at('w.duckdb.rewrite')
    await withDuckDb(other, (connection) => connection.run('CREATE TABLE mine AS SELECT 1'))
    const rewrite = (dropsOthers: boolean) =>
      syncLists(at('w.duckdb'), jobs, { rewrites: true, dropsOthers })
    await expect(rewrite(false)).rejects.toMatchObject({
      id: 'made-by-others',
      message: expect.stringContaining('table main.mine'),
    })
    expect(await ask(other, 'SHOW TABLES')).toEqual([{ name: 'mine' }])
    expect((await rewrite(true)).failures).toEqual([])
  })

  it('is removed with all that a killed process has left beside it, when a person is erased', async () => {
    await syncLists(at('w.duckdb.rewrite'), jobs, { owner: ACME })
    mkdirSync(at('w.duckdb.rewrite.protime-0123456789ab'))
    mkdirSync(at('w.duckdb.rewrite.sync'))
    await removeRewrite(at('w.duckdb'), ACME, (open) => open())
    expect(readdirSync(folder())).toEqual(['w.duckdb.rewrite.sync'])
  })

  it('is removed after its log, so that a kill in between leaves no log without a file', async () => {
    await syncLists(at('w.duckdb.rewrite'), jobs, { owner: ACME })
    await withDuckDb(at('w.duckdb.rewrite'), async (connection) => {
      await connection.run('PRAGMA disable_checkpoint_on_shutdown')
      await connection.run('UPDATE jobs SET id = 2')
    })
    expect(readdirSync(folder())).toContain('w.duckdb.rewrite.wal')
    const gone: (string | null)[] = []
    const watcher = watch(folder(), (event, name) => {
      if (event === 'rename' && !existsSync(at(String(name)))) gone.push(name)
    })
    try {
      await removeRewrite(at('w.duckdb'), ACME, (open) => open())
      await expect.poll(() => gone.length).toBe(2)
    } finally {
      watcher.close()
    }
    expect(gone).toEqual(['w.duckdb.rewrite.wal', 'w.duckdb.rewrite'])
  })

  it('is not removed when a person is erased if it is not known to be one, or has a table of somebody else', async () => {
    const remove = () => removeRewrite(at('w.duckdb'), ACME, (open) => open())
    writeFileSync(at('w.duckdb.rewrite'), 'my notes')
    await expect(remove()).rejects.toMatchObject({ id: 'file-not-own' })
    expect(readFileSync(at('w.duckdb.rewrite'), 'utf8')).toBe('my notes')
    rmSync(at('w.duckdb.rewrite'))
    for (const withRows of [false, true]) {
      if (withRows) await syncLists(at('w.duckdb.rewrite'), jobs, { owner: ACME })
      await withDuckDb(at('w.duckdb.rewrite'), (connection) =>
        connection.run('CREATE TABLE IF NOT EXISTS budget AS SELECT 1 AS one'),
      )
      await expect(remove()).rejects.toThrow('(table main.budget)')
    }
    expect(await ask(at('w.duckdb.rewrite'), 'FROM budget')).toEqual([{ one: 1 }])
  })

  it('has all rows, even if they could only be written to its log', async () => {
    const { run } = DuckDBConnection.prototype
    // As on a disk that is full when the file is closed.
    vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (
      this: DuckDBConnection,
      ...args
    ) {
      if (args[0] === 'BEGIN') await run.call(this, 'PRAGMA disable_checkpoint_on_shutdown')
      return run.apply(this, args)
    })
    await syncLists(at('w.duckdb'), jobs, { rewrites: true })
    vi.restoreAllMocks()
    expect(await ask(at('w.duckdb'), 'SELECT id FROM jobs')).toEqual([{ id: '1' }])
    expect(readdirSync(folder())).toEqual(['w.duckdb'])
  })
})
