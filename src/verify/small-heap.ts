import { runInNewContext } from 'node:vm'
import { knowsFlags, setFlag } from '../ground/v8-flags.ts'

/** The number of DuckDB rows after which the memory of rows that were read is released. */
const ROWS = 8192

/** Limits the space for short-lived objects to 2 MB instead of up to 48 MB: a comparison has no others. */
export function keepHeapSmall(): void {
  setFlag('--semi-space-growth-factor=1')
}

/**
 * Creates a function to call with the number of DuckDB rows that were read. V8 does not know their size, and would
 * let tens of megabytes of them wait for the next full collection; this function collects them in time.
 */
export function createCollector(): (rows: number) => void {
  if (!knowsFlags) return () => {}
  setFlag('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let waiting = 0
  return (rows) => {
    waiting += rows
    if (waiting < ROWS) return
    waiting = 0
    collect()
  }
}
