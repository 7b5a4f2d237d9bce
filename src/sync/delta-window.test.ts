import { describe, expect, test } from 'vitest'
import type { RetainedMonths } from '../config/config.ts'
import {
  deltaWindow,
  earliestDeltaStart,
  firstKept,
  firstRead,
  lastDayOf,
  refuseLateStart,
} from './delta-window.ts'

const NOW = new Date('2026-11-20T03:00:00Z')
const ALL = [{ months: 3 }]
const SOME = [{ stream: 'clockings', months: 24 }]

test.each<[string, string | undefined, readonly RetainedMonths[], string | null, string]>([
  ['neither setting', undefined, [], null, '2025-01-01'],
  ['a start date', '2026-02-14', [], '2026-02-14', '2026-02-14'],
  ['a start date before the limit', '2019-02-14', [], '2019-02-14', '2019-02-14'],
  ['months for all streams', undefined, ALL, '2026-08-01', '2026-08-01'],
  ['months before the limit', undefined, SOME, '2024-11-01', '2025-01-01'],
  ['months for this stream', '2019-02-14', SOME, '2024-11-01', '2024-11-01'],
  [
    'months for this stream and others',
    '2019-02-14',
    [...ALL, ...SOME],
    '2024-11-01',
    '2024-11-01',
  ],
  ['months for another stream', undefined, [{ stream: 'absences', months: 1 }], null, '2025-01-01'],
  ['a start date after the oldest month', '2026-09-15', ALL, '2026-09-15', '2026-09-15'],
  ['a start date before the oldest month', '2026-01-15', ALL, '2026-08-01', '2026-08-01'],
])('the first day with %s', (_what, startDate, retention, kept, read) => {
  const settings = { startDate, retention }
  expect(firstKept('clockings', settings, NOW)).toBe(kept)
  expect(firstRead('clockings', settings, NOW)).toBe(read)
})

describe('the first day that a delta may start on', () => {
  // spec: Limits: access-clocking delta start date
  test.each([
    ['2026-11-20T03:00:00Z', '2025-01-01'],
    ['2026-12-31T09:59:59Z', '2025-01-01'],
    // In some time zone it is already the new year, and the service may be there.
    ['2026-12-31T10:00:00Z', '2026-01-01'],
    ['2027-01-01T00:00:00Z', '2026-01-01'],
  ])('is at %s not before %s', (now, earliest) => {
    expect(earliestDeltaStart(new Date(now))).toBe(earliest)
  })

  // spec: Limits: access-clocking delta start date
  test.each([
    ['an old start begins with the window', '2020-05-05', '2025-01-01'],
    ['a start inside the window is kept', '2026-03-01', '2026-03-01'],
  ])('%s', (_why, start, window) => {
    expect(deltaWindow(start, NOW)).toBe(window)
  })

  test('has no window for undated streams', () => {
    expect(deltaWindow(null, NOW)).toBeNull()
  })
})

const EVENING = new Date('2026-11-20T23:59:00Z')

test.each([undefined, '1970-01-01', '2026-11-18'])('a stream may start on %s', (start) => {
  expect(() => refuseLateStart(start, EVENING)).not.toThrow()
})

test.each(['2026-11-19', '2035-01-01'])('a stream may not start on %s', (start) => {
  expect(() => refuseLateStart(start, EVENING)).toThrow(
    `start_date must be the day before yesterday, 2026-11-18, or earlier; it is ${start}.`,
  )
})

test.each<[string, Partial<Parameters<typeof lastDayOf>[0]>, number, string]>([
  ['is today', {}, 0, '2026-11-20'],
  ['is as many days ahead as the setting says', {}, 30, '2026-12-20'],
  ['is not before that of an earlier list', { listedUntil: '2027-01-01' }, 30, '2027-01-01'],
  ['is after that of an earlier list', { listedUntil: '2026-12-01' }, 30, '2026-12-20'],
  [
    'does not depend on earlier lists in a full refresh',
    { listedUntil: '2027-01-01', mode: 'full_refresh' },
    30,
    '2026-12-20',
  ],
  [
    'is the one that lists alone are asked for',
    { listedUntil: '2027-01-01', mode: 'full_refresh', startsNoDelta: true },
    30,
    '2027-01-01',
  ],
])('the last day of lists %s', (_, given, futureDays, expected) => {
  const listed = { listedUntil: null, mode: 'incremental', startsNoDelta: false, ...given } as const
  expect(lastDayOf(listed, futureDays, NOW)).toBe(expected)
})
