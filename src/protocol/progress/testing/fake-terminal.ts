import { Writable } from 'node:stream'
import type { Io } from '../../program.ts'
import type { ProgressClock } from '../sync-progress.ts'

/** A terminal that shows a test what people would see: it wraps lines and moves the cursor. */
export interface FakeTerminal {
  readonly stderr: Io['stderr']
  /** The visible text, without colours. */
  shown(): string
  /** Everything that was written to it. */
  written(): string
}

const ESCAPE = '\u001b'
/** Matches a control sequence or one character. */
const PARTS = new RegExp(`${ESCAPE}\\[[\\d;]*[A-Za-z]|.`, 'gs')

export function createFakeTerminal(columns: number, rows = 24): FakeTerminal {
  const lines: string[][] = [[]]
  let [x, y] = [0, 0]
  let all = ''
  const stderr = Object.assign(
    new Writable({
      write(chunk, _, done) {
        all += chunk
        show(String(chunk))
        done()
      },
    }),
    { isTTY: true, columns, rows },
  )
  return {
    stderr,
    written: () => all,
    shown: () =>
      lines
        .map((line) =>
          Array.from(line, (c) => c ?? ' ')
            .join('')
            .trimEnd(),
        )
        .join('\n'),
  }

  function show(text: string): void {
    for (const [part] of text.matchAll(PARTS)) {
      if (part === '\n') [x, y] = [0, y + 1]
      else if (part === '\r') x = 0
      else if (part === '\u001b[A') y--
      else if (part === '\u001b[K') line().splice(x)
      else if (part === '\u001b[J') {
        line().splice(x)
        lines.splice(y + 1)
      } else if (!part.startsWith('\u001b')) {
        if (x === columns) [x, y] = [0, y + 1]
        line()[x++] = part
      }
      line()
    }
  }

  function line(): string[] {
    lines[y] ??= []
    return lines[y] ?? []
  }
}

/** A clock that a test moves. */
export interface FakeClock extends ProgressClock {
  /** Lets seconds pass; ticks happen in their order. */
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
