import { expect, test } from 'vitest'
import type { RetainedMonths } from '../config/config.ts'
import { firstKept, firstRead } from './delta-window.ts'

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
