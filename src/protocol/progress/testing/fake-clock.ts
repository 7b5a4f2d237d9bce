import type { ProgressClock } from '../sync-progress.ts'

/** A clock that a test moves. */
export interface FakeClock extends ProgressClock {
  /** Lets so many seconds pass; ticks come in their order. */
  pass(seconds: number): void
}

export function createFakeClock(): FakeClock {
  const tickers = new Set<{ readonly ms: number; readonly tick: () => void; next: number }>()
  let time = 0
  return {
    now: () => time,
    every(ms, tick) {
      const ticker = { ms, tick, next: time + ms }
      tickers.add(ticker)
      return () => tickers.delete(ticker)
    },
    pass(seconds) {
      const until = time + seconds * 1000
      for (;;) {
        const [first] = [...tickers].sort((a, b) => a.next - b.next)
        if (first === undefined || first.next > until) break
        time = first.next
        first.next += first.ms
        first.tick()
      }
      time = until
    },
  }
}
