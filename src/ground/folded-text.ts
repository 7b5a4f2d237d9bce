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
