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

/**
 * A text as it is compared with one that the service has kept: without blanks at its ends, its characters
 * composed (NFC). A service may do the same to what it is sent.
 */
export function folded(text: string): string {
  return text.normalize('NFC').trim()
}

/** The same without regard to case, which only some services heed. */
export function caseFolded(text: string): string {
  return folded(text).toLowerCase()
}

/** What some services do besides to a text that they keep. */
export interface Folding {
  /** Whether they take texts that differ in case alone for one. */
  readonly case: boolean
  /** What they do to blanks within a text. */
  readonly blanks: 'kept' | 'joined' | 'left out'
}

/** As `folded` does it. */
export const NO_FOLDING: Folding = { case: false, blanks: 'kept' }

/** A text as a service that folds so compares it. */
export function foldedBy(text: string, { case: isCase, blanks }: Folding): string {
  const whole = isCase ? caseFolded(text) : folded(text)
  return blanks === 'kept' ? whole : whole.replace(/\s+/gu, blanks === 'joined' ? ' ' : '')
}

/** A text as no service folds it more. */
export function foldedMost(text: string): string {
  return foldedBy(text, { case: true, blanks: 'left out' })
}

/** The least folding that does what `known` does and makes two texts one that `foldedMost` makes one. */
export function foldingOf(a: string, b: string, known: Folding): Folding {
  const blanks = ['kept', 'joined', 'left out'] as const
  const all = blanks.flatMap((one) => [
    { case: false, blanks: one },
    { case: true, blanks: one },
  ])
  const enough = all.find(
    (one) =>
      (one.case || !known.case) &&
      blanks.indexOf(one.blanks) >= blanks.indexOf(known.blanks) &&
      foldedBy(a, one) === foldedBy(b, one),
  )
  return enough ?? { case: true, blanks: 'left out' }
}

/** The name that a mistyped one was probably meant to be; undefined when none is like it. */
export function nearest(mistyped: string, names: Iterable<string>): string | undefined {
  const farthest = Math.max(1, Math.floor(mistyped.length / 3))
  const ranked = [...names]
    .map((name) => ({ name, edits: editsBetween(mistyped, name) }))
    .filter(({ edits }) => edits <= farthest)
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.name
}

/** How many letters must be added, removed or replaced, or neighbours exchanged (optimal string alignment). */
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
