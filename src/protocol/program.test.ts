import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { onSignals, type SignalledProcess } from './program.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A process that notes how it was ended. */
function processOf(pid: number) {
  const ends: string[] = []
  const self = Object.assign(new EventEmitter(), {
    pid,
    kill: (target: number, signal: string) => ends.push(`kill ${target} ${signal}`),
    exit: (code: number) => ends.push(`exit ${code}`),
  })
  const stops: string[] = []
  const signals = onSignals((signal) => stops.push(signal), self as unknown as SignalledProcess)
  return { self, ends, stops, signals }
}

describe('a signal', () => {
  it('stops the work, and ends the process with the signal after the last lines', () => {
    const { self, ends, stops, signals } = processOf(77)
    self.emit('SIGINT', 'SIGINT')
    expect([stops, ends]).toEqual([['SIGINT'], []])
    signals.finish()
    expect(ends).toEqual(['kill 77 SIGINT'])
    vi.runAllTimers()
    expect(ends).toHaveLength(1)
  })

  it('ends the process within two seconds even if the last lines cannot be written', () => {
    const { self, ends } = processOf(77)
    self.emit('SIGTERM', 'SIGTERM')
    vi.advanceTimersByTime(2000)
    expect(ends).toEqual(['kill 77 SIGTERM'])
  })

  it('ends the process at once the second time', () => {
    const { self, ends, stops } = processOf(77)
    self.emit('SIGINT', 'SIGINT')
    self.emit('SIGINT', 'SIGINT')
    expect([stops, ends]).toEqual([['SIGINT'], ['kill 77 SIGINT']])
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('%s ends the first process of a container by the exit code %i', (signal, code) => {
    const { self, ends, signals } = processOf(1)
    self.emit(signal, signal)
    signals.finish()
    expect(ends).toEqual([`exit ${code}`])
  })

  it('gives a server the time to end by itself that it asked for', () => {
    const { self, ends, signals } = processOf(77)
    signals.allow(20_000)
    self.emit('SIGTERM', 'SIGTERM')
    vi.advanceTimersByTime(19_000)
    signals.finish()
    vi.runAllTimers()
    expect(ends).toEqual([])

    const slow = processOf(78)
    slow.signals.allow(20_000)
    slow.self.emit('SIGTERM', 'SIGTERM')
    vi.advanceTimersByTime(20_000)
    expect(slow.ends).toEqual(['kill 78 SIGTERM'])
  })

  it('ends nothing if it never came', () => {
    const { self, ends, signals } = processOf(77)
    signals.finish()
    expect([ends, self.eventNames()]).toEqual([[], []])
  })
})
