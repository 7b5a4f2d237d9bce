/** The longest line of a log, in characters. */
const MOST = 1000
/** The limit for whole messages, which may have long lists. */
export const LONGEST_ANSWER = 100_000

/**
 * Control characters (line breaks, ESC and C1 among them), format characters that change the direction of a text or
 * are invisible, line separators, and lone surrogates.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu

/**
 * Returns a text of any origin as one line that is safe for terminals and logs: it cannot move the cursor, change the
 * text around it, or start a new line. If it has more than `most` characters, the rest is cut off.
 */
export function clean(text: string, most = MOST): string {
  // A character has at most two UTF-16 units, and what is cut off need not be cleaned.
  const line = text.slice(0, most * 4).replace(UNPRINTABLE, ' ')
  const characters = line.length > most || text.length > most * 4 ? [...line] : undefined
  if (characters === undefined || characters.length <= most) return line
  return `${characters.slice(0, most - 1).join('')}…`
}

/**
 * Writes what could control a terminal, except for ASCII, as JSON does: `\u009b`. JSON stays the same value.
 */
export function withoutControls(text: string): string {
  return text.replace(/[\u0080-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/**
 * Returns a message of any length as lines of a log, each of them as `clean` makes it. A line after the first one
 * begins with `… `; it is broken between words, so that each name of a list is in one line.
 */
export function logLines(text: string): string[] {
  const words = clean(text, LONGEST_ANSWER).split(/(?<= )/u)
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && line.length + word.length > MOST) {
      lines.push(line.trimEnd())
      line = '… '
    }
    line += word
  }
  return [...lines, line].map((one) => clean(one))
}

/**
 * Normalizes a text before it is compared with one that the service has stored: composes its characters (NFC) and
 * removes blanks at both ends, as a service may have done.
 */
export function folded(text: string): string {
  return text.normalize('NFC').trim()
}

/** The form of a text without case and blanks: two texts of one form are one text for some services. */
export function formOf(text: string): string {
  return folded(text).toLowerCase().replace(/\s+/gu, '')
}

/** Characters that show nothing: blanks, control and format characters, and fillers. */
const BLANK = /^[\p{White_Space}\p{C}\p{Default_Ignorable_Code_Point}\u2800]*$/u

/** Whether nobody can see anything of a text. */
export function isBlank(text: string): boolean {
  return BLANK.test(text)
}

/** The name that is most similar to a mistyped one; undefined if none is similar enough. */
export function nearest(mistyped: string, names: Iterable<string>): string | undefined {
  const farthest = Math.max(1, Math.floor(mistyped.length / 3))
  const [first] = byLikeness(mistyped, names)
  return first !== undefined && first.edits <= farthest ? first.name : undefined
}

/** The names, with the most similar one to a mistyped one first. */
export function byLikeness(
  mistyped: string,
  names: Iterable<string>,
): { readonly name: string; readonly edits: number }[] {
  return [...names]
    .map((name) => ({ name, edits: editsBetween(mistyped, name) }))
    .sort((a, b) => a.edits - b.edits)
}

/**
 * The number of edits between two texts: letters added, removed or replaced, or neighbours exchanged (optimal string
 * alignment).
 */
function editsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const cell = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++) {
      const isExchange = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      rows[i]?.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + Number(a[i - 1] !== b[j - 1]),
          isExchange ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return cell(a.length, b.length)
}

/**
 * Normalizes a name. Names with the same spelling are the same field: the service has changed the case of names
 * before.
 */
export function spelling(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '')
}
