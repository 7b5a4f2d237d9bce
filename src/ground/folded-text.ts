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
