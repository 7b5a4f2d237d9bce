import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { removeOthers, withFolder } from './sync-folder.ts'

it('the folder of a sync that waits is there when its turn comes, though the sync before it has removed all others', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sync-folder-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const path = join(place, 'w.duckdb')
  await withFolder(path, path, async (waiting) => {
    await withFolder(path, path, async (own) => removeOthers(path, own))
    expect(readdirSync(place)).toEqual([])
    removeOthers(path, waiting)
    expect(existsSync(waiting)).toBe(true)
  })
  expect(readdirSync(place)).toEqual([])
})

it('the folder of a sync is below this one, even if the name of the file begins as a home folder does', async () => {
  const folder = await withFolder('~w.duckdb', '~w.duckdb', async (own) => own)
  expect(dirname(folder)).toBe(process.cwd())
})

it('there is no folder of a sync for a warehouse that is a folder which is not there', async () => {
  const path = `${tmpdir()}/not-there/`
  await expect(withFolder(path, path, async () => {})).rejects.toMatchObject({
    failure: 'config',
    id: 'warehouse-not-opened',
  })
})

it('what has another name than a folder of a sync stays', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sync-folder-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const path = join(place, 'w.duckdb')
  const ofUser = ['w.duckdb.sync', 'w.duckdb.protime-notes', 'v.duckdb.protime-0123456789ab']
  for (const name of [...ofUser, 'w.duckdb.protime-0123456789ab']) {
    mkdirSync(join(place, name))
    writeFileSync(join(place, name, 'notes.txt'), '')
  }
  await withFolder(path, path, async (own) => removeOthers(path, own))
  expect(readdirSync(place).sort()).toEqual(ofUser.sort())
})
