import type { Time } from '../limiter.ts'

/** Time that passes only while everybody sleeps, in the order of waking. */
export interface VirtualTime extends Time {
  /** How often somebody slept. */
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
    sleep: (ms) =>
      new Promise((wake) => {
        sleeps++
        const at = time + ms
        const later = sleepers.findIndex((other) => other.at > at)
        sleepers.splice(later < 0 ? sleepers.length : later, 0, { at, wake })
      }),
    async run(work) {
      let isDone = false
      const end = () => {
        isDone = true
      }
      work.then(end, end)
      for (;;) {
        // A turn of the real event loop: every promise that can go on has done so.
        await new Promise(setImmediate)
        const next = sleepers.shift()
        if (isDone || next === undefined) return work
        time = next.at
        next.wake()
      }
    },
  }
}
