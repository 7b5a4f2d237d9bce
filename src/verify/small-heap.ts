import { runInNewContext } from 'node:vm'
import { knowsFlags, setFlag } from '../ground/v8-flags.ts'

/** After so many rows of DuckDB the memory of those that have been read is given back. */
const ROWS = 8192

/** Objects that live for a moment get a room of 2 MB, in place of up to 48: a comparison has no others. */
export function keepHeapSmall(): void {
  setFlag('--semi-space-growth-factor=1')
}

/**
 * To be told of rows of DuckDB that have been read. V8 does not know how large they are, so it lets tens of megabytes of
 * them wait for the next collection of all; this makes it collect in time.
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
