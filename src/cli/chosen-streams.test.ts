import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readChosenStreams } from './chosen-streams.ts'

function written(content: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'protime-')), 'catalog.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

const off = [{ breadcrumb: [], metadata: { selected: false } }]

it.each([
  ['of Airbyte', [{ stream: { name: 'people' }, sync_mode: 'incremental' }]],
  ['of Singer', [{ tap_stream_id: 'people' }, { tap_stream_id: 'breaks', metadata: off }]],
  ['of Singer without ids', [{ stream: 'people', schema: {} }]],
])('a catalog %s names the streams that it chooses', async (_, streams) => {
  expect(await readChosenStreams(written({ streams }))).toEqual(new Set(['people']))
})

it('what is no catalog is refused in a sentence', async () => {
  await expect(readChosenStreams(written({}))).rejects.toThrow('--catalog is not a')
})
