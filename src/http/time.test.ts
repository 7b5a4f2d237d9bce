import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { sleep } from './time.ts'

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
