import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { removeOthers, withFolder } from './sync-folder.ts'

it('the folder of a sync that waits is there when its turn comes, though the sync before it has removed all others', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sync-folder-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const [path, base] = [join(place, 'w.duckdb'), join(place, 'w.duckdb.sync')]
  await withFolder(path, base, async (waiting) => {
    await withFolder(path, base, async (own) => removeOthers(own))
    expect(existsSync(base)).toBe(false)
    removeOthers(waiting)
    expect(existsSync(waiting)).toBe(true)
  })
  expect(existsSync(base)).toBe(false)
})
