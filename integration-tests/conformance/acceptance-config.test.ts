import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readAcceptanceConfig } from './acceptance-config.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'acceptance-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const entry = { config_path: 'config.json' }
const good = {
  spec: { tests: [entry] },
  connection: { tests: [{ ...entry, status: 'succeed' }] },
  discovery: { tests: [entry] },
  basic_read: { tests: [entry] },
  full_refresh: { tests: [entry] },
  incremental: { bypass_reason: 'Nothing changes.' },
}

function read(acceptance_tests: object) {
  const file = join(folder, 'acceptance-test-config.yml')
  writeFileSync(file, stringify({ test_strictness_level: 'high', acceptance_tests }))
  return readAcceptanceConfig(file)
}

describe('an acceptance-test-config.yml', () => {
  it('lists its entries by section', () => {
    expect(read(good).entries).toContainEqual({ ...entry, section: 'basic_read' })
  })

  it.each([
    ['a key that FAST refuses', { basic_read: { tests: [{ ...entry, expect_records: {} }] } }],
    ['a section without tests', { discovery: {} }],
    [
      'an empty stream without a reason',
      { basic_read: { tests: [{ ...entry, empty_streams: [{ name: 'jobs' }] }] } },
    ],
    [
      'schemas that are not looked at',
      { basic_read: { tests: [{ ...entry, validate_schema: false }] } },
    ],
    ['no word on future states', { incremental: { tests: [entry] } }],
  ])('is refused with %s', (_, section) => {
    expect(() => read({ ...good, ...section })).toThrow('acceptance-test-config.yml')
  })
})
