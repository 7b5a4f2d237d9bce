import { expect, it } from 'vitest'
import { addDays, dayOf, earlier, isDay, isLater, isLongAgo, isWhole, later } from './days.ts'

const NOW = new Date('2026-11-20T23:59:59Z')

it.each([
  ['2024-02-29', true],
  ['2026-02-29', false],
  ['2026-13-01', false],
  ['2026-2-01', false],
  ['2026-02-011', false],
  ['12026-02-01', false],
  ['', false],
])('%j is a day: %s', (text, expected) => {
  expect(isDay(text)).toBe(expected)
})

it.each([
  ['2026-02-28', 1, '2026-03-01'],
  ['2026-01-01', -1, '2025-12-31'],
  ['2026-03-29', 1, '2026-03-30'],
])('%s and %d days are %s', (day, days, expected) => {
  expect(addDays(day, days)).toBe(expected)
})

it('a time is of a day in UTC', () => {
  expect(dayOf(NOW)).toBe('2026-11-20')
})

it.each<[string | null, string | null, boolean, string | null, string | null]>([
  ['2026-01-01', '2026-01-02', false, '2026-01-01', '2026-01-02'],
  ['2026-01-02', '2026-01-01', true, '2026-01-01', '2026-01-02'],
  ['2026-01-01', '2026-01-01', false, '2026-01-01', '2026-01-01'],
  ['2026-01-01', null, false, '2026-01-01', '2026-01-01'],
  [null, '2026-01-01', false, null, '2026-01-01'],
  [null, null, false, null, null],
])('%s is later than %s: %s; the earlier one is %s, the later one %s', (a, b, is, first, last) => {
  expect([isLater(a, b), earlier(a, b), later(a, b)]).toEqual([is, first, last])
})

it.each([
  ['2026-10', '2026-09-15', true],
  ['2026-09', '2026-09-01', true],
  ['2026-09', '2026-09-15', false],
  ['2026-09', '2026-09-11', false],
  ['2026-08', '2026-09-01', false],
  ['all', '', true],
])('no day of %s is before %j: %s', (part, from, expected) => {
  expect(isWhole(part, from)).toBe(expected)
})

it.each([
  [7, true],
  [6.9, false],
  [0, false],
  [-1, false],
  [-1.1, true],
])('%d days ago is at least seven days ago, or of another clock: %s', (days, expected) => {
  expect(isLongAgo(new Date(NOW.getTime() - days * 86_400_000), 7, NOW)).toBe(expected)
})
