import { describe, expect, it } from 'vitest'
import { lifeOf } from './sync-columns.ts'

const MARKS = ['_ab_cdc_deleted_at', '_SDC_DELETED_AT', '_deleted']

describe.each(MARKS)('a record with %s', (mark) => {
  it.each([null, '', false, 'false', 'FALSE', 'f', 0])('of %j lives', (value) => {
    expect(lifeOf({ [mark]: value })).toEqual({ isDeleted: false })
  })

  it.each([
    true,
    'true',
    'True',
    't',
    1,
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '2026-01-01 10:00:00.123456+00',
    '2026-01-01 10:00:00 UTC',
    1_790_000_000,
    1_790_000_000_123,
  ])('of %j is gone', (value) => {
    expect(lifeOf({ [mark]: value })).toEqual({ isDeleted: true })
  })

  it.each(['no', 'yes', '0', ' ', 2, -1, 0.5, [], {}, '01/02/2026', 'null'])(
    'of %j says neither',
    (value) => {
      expect(lifeOf({ [mark]: value })).toEqual({
        fault: expect.stringMatching(`^The ${mark} is neither true nor false nor a time`),
      })
    },
  )
})

it('a record without a mark lives, whatever else it says', () => {
  expect(lifeOf({ deleted: true, _deleted_by: 'x', status: 'Deleted' })).toEqual({
    isDeleted: false,
  })
})

it('one mark is enough: a log of changes sends the columns of a row as they were', () => {
  expect(lifeOf({ _sdc_deleted_at: '2026-01-01T00:00:00Z', _deleted: false })).toEqual({
    isDeleted: true,
  })
})
