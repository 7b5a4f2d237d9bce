import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createFile } from './new-file.ts'

it('a file that another sync has created meanwhile stays, though that has removed the folder of this one', async () => {
  const place = mkdtempSync(join(tmpdir(), 'new-file-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const path = join(place, 'w.duckdb')
  const create = () => createFile(path, join(place, 'removed', 'ours'), [])
  await expect(create()).rejects.toMatchObject({ failure: 'config' })
  writeFileSync(path, 'of another sync')
  await create()
  expect(readFileSync(path, 'utf8')).toBe('of another sync')
})
