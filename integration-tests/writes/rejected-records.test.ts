import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { executableOf } from '../testing/child.ts'
import { temporaryFolder, writeFiles } from '../testing/files.ts'
import { linesOf, record, state, writtenCatalog } from '../testing/run-destination.ts'

const STREAM = 'external_references'

it('a rejected record that the disk has no room for is no success, and no part of it is left', () => {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const rejected = join(folder.path, 'rejected.jsonl')
  // The record is rejected before anything is requested.
  const service = 'http://127.0.0.1:9'
  const config = {
    tenant: 'demo',
    environment: { type: 'custom', base_url: service, auth_url: `${service}/tenants/demo` },
    client_id: 'writer',
    client_secret: 'b-secret',
    rejected_records: rejected,
    max_rejected: 5,
  }
  const files = writeFiles(folder.path, { config, catalog: writtenCatalog([{ name: STREAM }]) })
  const value = {
    collection: 'people',
    name: 'hr',
    value: 'v'.repeat(3000),
    internalReference: 'x',
  }
  const { status, stdout } = spawnSync(
    'sh',
    // The system writes a part up to this limit, as it does on a disk that is almost full.
    ['-c', 'ulimit -f 1; exec "$0" "$@"', executableOf('destination-protime'), 'write', ...files],
    { input: linesOf([record(STREAM, value), state(STREAM, 1)]), encoding: 'utf8' },
  )
  expect(status).toBe(1)
  expect(stdout).not.toContain('"type":"STATE"')
  expect(stdout).toMatch(
    /rejected_records cannot be written \(EFBIG\).*rejected-records-not-written/,
  )
  expect(existsSync(rejected) && readFileSync(rejected, 'utf8')).toBe('')
})
