import { describe, expect, it } from 'vitest'
import { createServerClock } from './clock.ts'

const START = new Date('2026-01-01T00:00:00Z')

function clockAt(monotonic: { ms: number }) {
  return createServerClock(START, () => monotonic.ms)
}

describe("the service's clock", () => {
  it('starts with the local time and advances with the monotonic clock', () => {
    const monotonic = { ms: 5000 }
    const clock = clockAt(monotonic)
    monotonic.ms += 1500
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:01.500Z')
  })

  it('does not change the time of this machine', () => {
    const monotonic = { ms: 5000 }
    const clock = clockAt(monotonic)
    clock.set('Wed, 15 Jul 2026 08:30:00 GMT')
    monotonic.ms += 60_000
    expect(clock.here().toISOString()).toBe('2026-01-01T00:01:00.000Z')
  })

  it('is set by a Date header and advances from there', () => {
    const monotonic = { ms: 5000 }
    const clock = clockAt(monotonic)
    clock.set('Wed, 15 Jul 2026 08:30:00 GMT')
    monotonic.ms += 60_000
    expect(clock.now().toISOString()).toBe('2026-07-15T08:31:00.000Z')
  })

  it.each([
    undefined,
    '',
    'yesterday',
    '5',
    'day 5',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Fri, 01 Jan 2150 00:00:00 GMT',
  ])('is not changed by the header %j', (header) => {
    const clock = clockAt({ ms: 0 })
    clock.set(header)
    expect(clock.now()).toEqual(START)
  })
})
