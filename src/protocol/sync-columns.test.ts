import { expect, it } from 'vitest'
import { isDeleted } from './sync-columns.ts'

it.each([
  [{ _ab_cdc_deleted_at: '2026-01-01' }, true],
  [{ _SDC_DELETED_AT: 1790000000 }, true],
  [{ _deleted: true }, true],
  [{ _ab_cdc_deleted_at: null, _sdc_deleted_at: null, _deleted: false }, false],
  [{ deleted: true, _deleted_by: 'x', _deleted: 'no' }, false],
])('%j says that its object is gone: %s', (data, isGone) => {
  expect(isDeleted(data)).toBe(isGone)
})
