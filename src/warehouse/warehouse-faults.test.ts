import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withDuckDb } from '../../integration-tests/testing/protime.ts'
import { createMask } from '../protocol/mask.ts'
import { createStreamRows } from './stream-rows.ts'
import { syncWarehouse } from './sync-warehouse.ts'
import { createListSource, sending, streamOf } from './testing/list-source.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'warehouse-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function syncInto(path: string) {
  const { source } = createListSource(new Map([[streamOf('jobs', {}), sending()]]))
  const log = { info() {}, debug() {}, warn() {} }
  const tools = { log, mask: createMask(), signal: new AbortController().signal }
  return syncWarehouse({ source, config: null, path, keepsDeleted: false, tools })
}

describe('a warehouse', () => {
  it('is no file that DuckDB reads but cannot keep rows in', async () => {
    const path = join(folder, 'config.json')
    writeFileSync(path, '{"tenant":"acme"}')
    await expect(syncInto(path)).rejects.toThrow(`${path} is no DuckDB file`)
    expect(readFileSync(path, 'utf8')).toBe('{"tenant":"acme"}')
  })

  it('with something else in the place of a table cannot be written', async () => {
    const path = join(folder, 'w.duckdb')
    await withDuckDb(path, (connection) => connection.run('CREATE VIEW jobs AS SELECT 1'))
    await expect(syncInto(path)).rejects.toThrow(
      /^The warehouse cannot be written: Binder Error.* It is as of the last commit/,
    )
  })

  it('on a disk without space cannot be written', () => {
    const rows = createStreamRows({
      columns: [{ property: 'id', name: 'id', type: 'BIGINT' }],
      keys: ['id'],
      nextPath: () => '/dev/full',
      onChange() {},
    })
    expect(() => rows.add(Buffer.from('{"id":1}\n'), 1)).toThrow(
      'The warehouse cannot be written: no space is left on the disk.',
    )
  })
})
