import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createFile } from './new-file.ts'

it('a file that DuckDB does not make is named in the error, not the one that was to become it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'new-file-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await expect(createFile('/x/flat.duckdb', folder, [])).rejects.toThrow(
    'The warehouse /x/flat.duckdb cannot be opened',
  )
})

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
