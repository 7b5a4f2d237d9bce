/** Longest line of a log. */
const MOST = 1000
/** An answer or a failure may have a sentence for each stream. */
export const LONGEST_ANSWER = 10_000

/**
 * Controls (line ends, ESC and C1 among them), marks that turn the direction of a text or cannot be seen,
 * separators of lines, and halves of characters.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu

/**
 * A text as one line that a terminal and a log can be given, whoever wrote it: nothing in it moves a cursor,
 * changes what stands around it or begins a line of its own. What is longer than `most` characters is cut.
 */
export function clean(text: string, most = MOST): string {
  // A character has two units at most, and what is cut need not be looked at.
  const line = text.slice(0, most * 4).replace(UNPRINTABLE, ' ')
  const characters = line.length > most || text.length > most * 4 ? [...line] : undefined
  if (characters === undefined || characters.length <= most) return line
  return `${characters.slice(0, most - 1).join('')}…`
}
