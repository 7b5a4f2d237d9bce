import { blockLines } from './block.ts'
import { inWords, stopInWords } from './log-lines.ts'
import { createRates } from './rates.ts'
import { red, type Screen } from './screen.ts'
import type { ProgressClock, ProgressListener } from './sync-progress.ts'
import { tableLines } from './table.ts'

/** How often the block is drawn. */
const DRAW_MS = 250

export interface TerminalSettings {
  readonly screen: Screen
  readonly clock: ProgressClock
  /** Said of a sync that was stopped: what a later one continues from. */
  readonly kept: string
  /** False where the program says on stderr itself what failed. */
  readonly tellsFailures: boolean
}

/** Shows how far a sync is as a block that is drawn again and again, and at its end a table. */
export function createTerminal(settings: TerminalSettings): ProgressListener {
  const { screen, clock, kept, tellsFailures } = settings
  const rates = createRates(clock.now)
  let stop = () => {}
  return {
    begun(sync) {
      const draw = () => screen.draw(blockLines(sync, rates, screen))
      draw()
      stop = clock.every(DRAW_MS, draw)
    },
    finished(sync, { failures, stoppedBy }) {
      stop()
      screen.draw([])
      const lines = sync === undefined ? [] : [...tableLines(sync, screen.columns)]
      if (stoppedBy) lines.push(stopInWords(sync, stoppedBy, kept))
      if (tellsFailures) lines.push(...failures.map((failure) => red(inWords(failure), screen)))
      if (lines.length > 0) screen.write(`${lines.join('\n')}\n`)
    },
  }
}
