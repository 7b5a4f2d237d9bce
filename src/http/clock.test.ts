import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createServerClock, sleep } from './clock.ts'

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

const START = new Date('2026-01-01T00:00:00Z')

function clockAt(monotonic: { ms: number }) {
  return createServerClock(START, () => monotonic.ms)
}

describe("the service's clock", () => {
  it('starts with the local time and goes on with the monotonic clock', () => {
    const monotonic = { ms: 5000 }
    const clock = clockAt(monotonic)
    monotonic.ms += 1500
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:01.500Z')
  })

  it('takes the time of a Date header and goes on from there', () => {
    const monotonic = { ms: 5000 }
    const clock = clockAt(monotonic)
    clock.set('Wed, 15 Jul 2026 08:30:00 GMT')
    monotonic.ms += 60_000
    expect(clock.now().toISOString()).toBe('2026-07-15T08:31:00.000Z')
  })

  it.each([undefined, '', 'yesterday', '5', 'day 5'])('is not moved by the header %j', (header) => {
    const clock = clockAt({ ms: 0 })
    clock.set(header)
    expect(clock.now()).toEqual(START)
  })
})
