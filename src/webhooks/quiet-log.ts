import type { Time } from '../http/time.ts'
import type { Log } from '../protocol/connector.ts'

/** Warnings about what anybody outside can cause as often as they like. */
export interface QuietLog {
  /** `about` is what a line is about; `text` makes it from the number of times since the last one. */
  warn(about: string, text: (count: number) => string): void
  /** Says what is left to say. */
  close(): void
}

interface Line {
  readonly text: (count: number) => string
  readonly since: number
  count: number
}

const LINE_EVERY_MS = 60_000
const LOOK_EVERY_MS = 5000

/** Says the first of its kind at once, and each minute how many more there were. */
export function createQuietLog(log: Log, time: Pick<Time, 'now' | 'every'>): QuietLog {
  const lines = new Map<string, Line>()
  const stop = time.every(LOOK_EVERY_MS, () => {
    for (const [about, line] of lines) {
      if (time.now() - line.since < LINE_EVERY_MS) continue
      if (line.count === 0) lines.delete(about)
      else say(about, line)
    }
  })
  return {
    warn(about, text) {
      const line = lines.get(about)
      if (line === undefined) say(about, { text, since: 0, count: 1 })
      else line.count++
    },
    close() {
      stop()
      for (const [about, line] of lines) if (line.count > 0) say(about, line)
    },
  }

  function say(about: string, { text, count }: Line): void {
    log.warn(text(count))
    lines.set(about, { text, since: time.now(), count: 0 })
  }
}
