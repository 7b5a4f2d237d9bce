import type { RetryPolicy } from '../retry-policy.ts'
import type { Time } from '../time.ts'

/** A retry policy for so many attempts in all, whose waits cost a test nothing. */
export function shortRetryPolicy(attempts = 3): RetryPolicy {
  return {
    forMs: (attempts - 1) * 1000,
    baseMs: 1000,
    capMs: 1000,
    conflictMs: [1, 1, 1],
    time: createSteppingTime(),
  }
}

/** Time in which every sleep takes one second, whatever it asks for, and no real time. */
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
