import type { Time } from '../clock.ts'
import type { RetryPolicy } from '../retry.ts'

/** A clock that advances only while all code sleeps. */
export interface VirtualTime extends Time {
  /** How many sleeps there were. */
  readonly sleeps: number
  /** Lets time pass until `work` is done; returns its result. */
  run<T>(work: Promise<T>): Promise<T>
}

export function createVirtualTime(): VirtualTime {
  const sleepers: { readonly at: number; readonly wake: () => void }[] = []
  let time = 0
  let sleeps = 0
  return {
    now: () => time,
    get sleeps() {
      return sleeps
    },
    sleep: (ms, signal) => {
      sleeps++
      return asleep(ms, signal)
    },
    every(ms, tick) {
      const stop = new AbortController()
      const next = (): Promise<void> => asleep(ms, stop.signal).then(tick).then(next)
      next().catch(() => {})
      return () => stop.abort()
    },
    async run(work) {
      let isDone = false
      const end = () => {
        isDone = true
      }
      work.then(end, end)
      for (;;) {
        // One turn of the real event loop, in which every promise that can continue does so.
        await new Promise(setImmediate)
        const next = isDone ? undefined : sleepers.shift()
        if (next === undefined) return work
        time = next.at
        next.wake()
      }
    },
  }

  function asleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const onAbort = () => {
        const index = sleepers.indexOf(sleeper)
        if (index >= 0) sleepers.splice(index, 1)
        reject(signal.reason)
      }
      const wake = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const sleeper = { at: time + ms, wake }
      const later = sleepers.findIndex((other) => other.at > sleeper.at)
      sleepers.splice(later < 0 ? sleepers.length : later, 0, sleeper)
      signal.addEventListener('abort', onAbort)
    })
  }
}

/** A retry policy for this number of attempts, whose waits take no real time. */
export function shortRetryPolicy(attempts = 3): RetryPolicy {
  return {
    forMs: (attempts - 1) * 1000,
    baseMs: 1000,
    capMs: 1000,
    conflictMs: [1, 1, 1],
    time: createSteppingTime(),
  }
}

/** A clock on which every sleep takes one second, whatever it asks for, and no real time. */
function createSteppingTime(): Time {
  const ticks = new Map<symbol, { readonly ms: number; readonly tick: () => void; at: number }>()
  let time = 0
  return {
    now: () => time,
    async sleep(_ms, signal) {
      signal.throwIfAborted()
      time += 1000
      for (const due of [...ticks.values()].filter(({ at }) => at <= time)) {
        due.at += due.ms
        due.tick()
      }
    },
    every(ms, tick) {
      const key = Symbol('tick')
      ticks.set(key, { ms, tick, at: time + ms })
      return () => void ticks.delete(key)
    },
  }
}
