import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, isPassing, PATIENCE, retryAfterMs, sleep, tooLongToWait } from './retry.ts'

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

describe('the wait before a repetition', () => {
  it('is anything from nothing to a bound that doubles up to the cap', () => {
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const wait = backoffMs(attempt, PATIENCE, () => random)
          expect(wait).toBeGreaterThanOrEqual(0)
          expect(wait).toBeLessThan(Math.min(30_000, 500 * 2 ** attempt))
        },
      ),
    )
  })

  it.each([
    [0, 250],
    [1, 500],
    [4, 4000],
    [20, 15_000],
  ])('after attempt %d is %d ms on average', (attempt, expected) => {
    expect(backoffMs(attempt, PATIENCE, () => 0.5)).toBe(expected)
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
  expect(statuses.map(isPassing)).toEqual(statuses.map(() => expected))
})

describe('a sleep', () => {
  it('ends with the reason of the signal', async () => {
    const stop = new AbortController()
    const sleeping = sleep(60_000, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(sleeping).rejects.toThrow('stopped')
  })

  it('does not begin when the signal is already aborted', async () => {
    await expect(sleep(0, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  })

  it('leaves no listener at the signal', async () => {
    const { signal } = new AbortController()
    await sleep(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
