import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assertPublishable, publish } from './publish.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'publish-'))
  writeFileSync(at('w.duckdb'), 'rows')
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = (name: string) => join(folder, name)

describe('a copy of a warehouse', () => {
  it('takes the place of what an earlier one has left half, not of the file to which that leads', () => {
    writeFileSync(at('other'), 'of somebody else')
    symlinkSync(at('other'), at('copy.duckdb.new'))
    publish(at('w.duckdb'), at('copy.duckdb'))
    expect(readFileSync(at('copy.duckdb'), 'utf8')).toBe('rows')
    expect(readFileSync(at('other'), 'utf8')).toBe('of somebody else')
    expect(readdirSync(folder).sort()).toEqual(['copy.duckdb', 'other', 'w.duckdb'])
  })

  it.each(['.wal', '.tmp', '.sync', '.rewrite', '.rewrite.wal', '.rewrite.sync'])(
    'has no name that a sync gives what it makes beside the warehouse: %s',
    (ending) => {
      expect(() => assertPublishable(at('w.duckdb'), at(`w.duckdb${ending}`))).toThrow(
        'has the name of a file that a sync makes beside the warehouse',
      )
    },
  )

  it('may stand beside it by any other name', () => {
    expect(() => assertPublishable(at('w.duckdb'), at('w.duckdb.copy'))).not.toThrow()
  })
})
