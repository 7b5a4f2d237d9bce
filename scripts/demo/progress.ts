import type { WriteStream } from 'node:tty'
import { grouped } from './table.ts'

/** Tells a person how a sync proceeds. */
export interface Progress {
  /** Records of a stream have arrived. */
  add(stream: string, count: number): void
  /** Clears the line that is rewritten; the answer is the number of records. */
  end(): number
}

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY'>>

/** How often a line is shown: often enough to look alive, or few enough to read in a log. */
const TTY_MS = 100
const PLAIN_MS = 1000

/** On a terminal one line is rewritten, elsewhere a plain line is written every second. */
export function createProgress(output: Output, now: () => number = Date.now): Progress {
  const startedAt = now()
  const isTty = output.isTTY === true
  const every = isTty ? TTY_MS : PLAIN_MS
  const counts = new Map<string, number>()
  let total = 0
  let shownAt = startedAt
  return {
    add(stream, count) {
      const ofStream = (counts.get(stream) ?? 0) + count
      counts.set(stream, ofStream)
      total += count
      if (now() - shownAt < every) return
      shownAt = now()
      const rate = Math.round((total * 1000) / (shownAt - startedAt))
      const line = `  ${stream} ${grouped(ofStream)} records, ${grouped(total)} in all, ${grouped(rate)} records/s`
      output.write(isTty ? `\r\u001b[K${line}` : `${line}\n`)
    },
    end() {
      if (isTty) output.write('\r\u001b[K')
      return total
    },
  }
}
