import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, deltaWindow, earliestDeltaStart, refuseLateStart, windows } from './days.ts'

const day = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2060-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

describe('windows of days', () => {
  it('cover every day of the range once, in order, and none is longer than asked', () => {
    fc.assert(
      fc.property(day, fc.nat(3000), fc.integer({ min: 1, max: 365 }), (from, days, length) => {
        const until = addDays(from, days)
        const slices = windows(from, until, length)
        let next = from
        for (const slice of slices) {
          expect(slice.from).toBe(next)
          expect(slice.until <= until).toBe(true)
          expect(addDays(slice.from, length - 1) >= slice.until).toBe(true)
          next = addDays(slice.until, 1)
        }
        expect(next).toBe(addDays(until, 1))
      }),
    )
  })

  it('are none when the range is empty', () => {
    expect(windows('2026-02-01', '2026-01-31', 365)).toEqual([])
  })
})

describe('the start of a delta', () => {
  // spec: Limits: access-clocking delta start date
  it.each([
    ['2026-11-20T03:00:00Z', '2025-01-01'],
    ['2026-12-31T09:59:59Z', '2025-01-01'],
    // Somewhere it is the new year already, and the service may be there.
    ['2026-12-31T10:00:00Z', '2026-01-01'],
    ['2027-01-01T00:00:00Z', '2026-01-01'],
  ])('is at %s not before %s', (now, earliest) => {
    expect(earliestDeltaStart(new Date(now))).toBe(earliest)
  })

  // spec: Limits: access-clocking delta start date
  it.each([
    ['an old start begins with the window', '2020-05-05', '2025-01-01'],
    ['a start inside the window is kept', '2026-03-01', '2026-03-01'],
  ])('%s', (_why, start, window) => {
    expect(deltaWindow(start, new Date('2026-11-20T03:00:00Z'))).toBe(window)
  })

  it('has no window for undated streams', () => {
    expect(deltaWindow(null, new Date())).toBeNull()
  })
})

const now = new Date('2026-11-20T23:59:00Z')

it.each([undefined, '1970-01-01', '2026-11-18'])('a stream may start on %s', (start) => {
  expect(() => refuseLateStart(start, now)).not.toThrow()
})

it.each(['2026-11-19', '2035-01-01'])('a stream may not start on %s', (start) => {
  expect(() => refuseLateStart(start, now)).toThrow(
    `start_date must be the day before yesterday, 2026-11-18, or earlier; it is ${start}.`,
  )
})
