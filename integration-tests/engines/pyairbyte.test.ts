import { describe, expect, it } from 'vitest'
import { rowDifferences } from './pyairbyte.ts'

const record = { id: 1, changeVersion: '02', person: { id: 7 }, start: '2026-01-02', isOpen: false }
const row = {
  id: 1,
  changeversion: '02',
  person: '{"id":7}',
  start: '2026-01-02',
  isopen: false,
  comment: null,
  _ab_cdc_deleted_at: null,
  _airbyte_raw_id: 'x',
}

describe('a table and the records of the service', () => {
  it('are alike in spite of small letters, JSON texts and columns without values', () => {
    expect(rowDifferences('jobs', [row], [record])).toEqual([])
  })

  it('are alike when a moment is written as SQL does', () => {
    const at = { id: 1, at: '2026-01-02T03:04:05Z' }
    const cell = { id: 1, at: '2026-01-02 03:04:05', _ab_cdc_deleted_at: null }
    expect(rowDifferences('jobs', [cell], [at])).toEqual([])
  })

  it('are alike when a row that the service deleted is marked as gone', () => {
    const gone = { ...row, id: 2, _ab_cdc_deleted_at: '2026-01-01' }
    expect(rowDifferences('jobs', [row, gone], [record])).toEqual([])
  })

  it.each([
    ['lacks a record', [], [record]],
    ['has a row too many', [row, { ...row, id: 2 }], [record]],
    ['has a row twice', [row, row], [record]],
    ['has marked a living record as gone', [{ ...row, _ab_cdc_deleted_at: 'now' }], [record]],
    ['has an old value', [{ ...row, changeversion: '01' }], [record]],
    ['has another object', [{ ...row, person: '{"id":8}' }], [record]],
    ['has another day', [{ ...row, start: '2026-01-03' }], [record]],
    ['has lost a value', [{ ...row, isopen: null }], [record]],
    ['has a value that the record lacks', [{ ...row, comment: 'old' }], [record]],
  ])('differ when the table %s', (_, table, truth) => {
    expect(rowDifferences('jobs', table, truth)).not.toEqual([])
  })
})
