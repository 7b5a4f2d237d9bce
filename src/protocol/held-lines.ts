import type { LineWriter } from './line-writer.ts'

/** Lines that wait for what is to leave in the same write. */
export interface HeldLines {
  readonly isEmpty: boolean
  /** Lets go of what is held and holds these lines. */
  hold(lines: Uint8Array | string): Promise<void> | undefined
  /** Holds a line behind what is held. */
  append(line: string): void
  /** Writes what is held, and `more` behind it, in one write. */
  release(...more: readonly string[]): Promise<void> | undefined
}

export function createHeldLines(writer: LineWriter): HeldLines {
  let held: (Uint8Array | string)[] = []
  return {
    get isEmpty() {
      return held.length === 0
    },
    hold(lines) {
      const done = release()
      if (lines.length > 0) held.push(lines)
      return done
    },
    append: (line) => void held.push(line),
    release,
  }

  function release(...more: readonly string[]): Promise<void> | undefined {
    const lines = [...held, ...more]
    held = []
    return lines.length === 0 ? undefined : writer.write(...lines)
  }
}
