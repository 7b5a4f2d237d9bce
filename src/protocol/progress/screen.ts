import type { Mask } from '../../ground/mask.ts'
import { clean } from '../../ground/text.ts'
import type { Io } from '../program.ts'

/** A terminal or another output: permanent lines, and below them a block that is redrawn. */
export interface Screen {
  /** Whether a block can be drawn. */
  readonly isTerminal: boolean
  readonly isColoured: boolean
  readonly columns: number
  readonly rows: number
  /** Writes whole lines above the block. */
  write(text: string): void
  /** Replaces the block; an empty array removes it. */
  draw(lines: readonly string[]): void
}

const TO_START = '\r'
const UP = '\u001b[A'
const ERASE_BELOW = '\u001b[J'
const ERASE_LINE = '\u001b[K'

/** The size of a terminal that does not report one. */
const COLUMNS = 80
const ROWS = 24

/** Creates the screen of `stderr`; secrets are masked. With `TERM=dumb` no cursor is moved. */
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

  /** The control sequences that erase the block and move the cursor to its start. */
  function erasing(): string {
    if (block.length === 0) return ''
    // A terminal that has become narrower has wrapped its lines.
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

/** The text in red, if the screen shows colours. */
export function red(text: string, { isColoured }: Pick<Screen, 'isColoured'>): string {
  return isColoured ? `\u001b[31m${text}\u001b[0m` : text
}
