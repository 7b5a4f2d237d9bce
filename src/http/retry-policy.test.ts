import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRetryable, retryAfterMs, retryPolicyOf, tooLongToWait, waitMs } from './retry-policy.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

describe('Retry-After', () => {
  it.each([
    ['60', 60_000],
    [' 60 ', 60_000],
    ['1.5', 1500],
    ['0', 0],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['2026-03-01T12:00:30Z', 30_000],
    ['Sun, 01 Mar 2026 11:59:00 GMT', 0],
  ])('%j asks to wait %d ms', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected)
  })

  it.each([
    undefined,
    '',
    ' ',
    '-5',
    'soon',
    'soon 5',
    '1e3',
    '0x10',
    '60 seconds',
    '12:00:00 o clock',
  ])('%j says nothing', (header) => {
    expect(retryAfterMs(header, NOW)).toBeUndefined()
  })
})

describe('the wait before the next attempt', () => {
  const retryPolicy = { ...retryPolicyOf(10), random: () => 0.5 }
  const failed = (before: number, sinceMs = 0) => ({ before, sinceMs })

  it('is anything from nothing to a bound that doubles up to a minute', () => {
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (before, random) => {
          const wait = waitMs(failed(before), { ...retryPolicy, random: () => random })
          expect(wait).toBeGreaterThanOrEqual(0)
          expect(wait).toBeLessThan(Math.min(60_000, 500 * 2 ** before))
        },
      ),
    )
  })

  it.each([
    [0, 250],
    [1, 500],
    [4, 4000],
    [20, 30_000],
  ])('after %d failures before this one is %d ms on average', (before, expected) => {
    expect(waitMs(failed(before), retryPolicy)).toBe(expected)
  })

  it('is cut, so that the last attempt is made when the patience ends', () => {
    expect(waitMs(failed(20, 595_000), retryPolicy)).toBe(5000)
  })

  it('is none after that', () => {
    expect(waitMs(failed(20, 600_000), retryPolicy)).toBeUndefined()
  })

  it('is what the service asks for, as long as the patience covers it', () => {
    expect([
      waitMs(failed(0), retryPolicy, 600_000),
      waitMs(failed(1, 1), retryPolicy, 600_000),
      waitMs(failed(1, 1), retryPolicy, 0),
    ]).toEqual([600_000, undefined, 500])
  })

  it('is never any when retry_minutes is 0', () => {
    expect([waitMs(failed(0), retryPolicyOf(0)), waitMs(failed(0), retryPolicyOf(0), 1)]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('ends earlier for a command that must answer soon', () => {
    expect([retryPolicyOf(10, 15_000).forMs, retryPolicyOf(0.1, 15_000).forMs]).toEqual([
      15_000, 6000,
    ])
  })

  it('is a failure of its own when it is too long', () => {
    expect(tooLongToWait(3_600_000)).toMatchObject({
      failure: 'transient',
      message: expect.stringContaining('60 minutes'),
    })
  })
})

it.each([
  [true, [408, 425, 429, 500, 502, 503, 504, 599]],
  [false, [301, 304, 400, 401, 403, 404, 405, 409, 410, 414, 501]],
])('a repetition may heal (%s) the statuses %j', (expected, statuses) => {
  expect(statuses.map(isRetryable)).toEqual(statuses.map(() => expected))
})
