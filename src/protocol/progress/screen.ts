import type { Mask } from '../../ground/mask.ts'
import { clean } from '../../ground/text.ts'
import type { Io } from '../program.ts'

/** A terminal, or what stands in its place: lines that stay, and below them a block that changes. */
export interface Screen {
  /** True when a block can be drawn. */
  readonly isTerminal: boolean
  readonly isColoured: boolean
  readonly columns: number
  readonly rows: number
  /** Writes whole lines above the block. */
  write(text: string): void
  /** Draws the block in place of the one before it; no lines take it away. */
  draw(lines: readonly string[]): void
}

const TO_START = '\r'
const UP = '\u001b[A'
const ERASE_BELOW = '\u001b[J'
const ERASE_LINE = '\u001b[K'

/** The size of a terminal that does not tell it. */
const COLUMNS = 80
const ROWS = 24

/** `stderr` as a screen; what the mask knows is not shown. `TERM=dumb` moves no cursor. */
export function createScreen(stderr: Io['stderr'], env: Io['env'], mask: Mask): Screen {
  let block: readonly string[] = []
  const isTerminal = stderr.isTTY === true && env['TERM'] !== 'dumb'
  const screen: Screen = {
    isTerminal,
    isColoured: isTerminal && !env['NO_COLOR'],
    get columns() {
      return stderr.columns || COLUMNS
    },
    get rows() {
      return stderr.rows || ROWS
    },
    write(text) {
      stderr.write(`${erasing()}${mask.text(text)}${drawing()}`)
    },
    draw(lines) {
      const before = erasing()
      block = lines.map((line) => clean(mask.text(line)))
      stderr.write(`${before}${drawing()}`)
    },
  }
  return screen

  /** Takes the block away, and leaves the cursor where it began. */
  function erasing(): string {
    if (block.length === 0) return ''
    // A terminal that was made narrower since has broken its lines.
    const height = block.reduce(
      (sum, { length }) => sum + Math.max(1, Math.ceil(length / screen.columns)),
      0,
    )
    return `${TO_START}${UP.repeat(height - 1)}${ERASE_BELOW}`
  }

  function drawing(): string {
    return block.map((line) => `${line}${ERASE_LINE}`).join('\n')
  }
}

/** The text in red where colours are wanted. */
export function red(text: string, { isColoured }: Pick<Screen, 'isColoured'>): string {
  return isColoured ? `\u001b[31m${text}\u001b[0m` : text
}
