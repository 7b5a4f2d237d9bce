import { MAX_NOTES, SCRIPT } from './layout'

// What the rules do to a record they do to each one of its shape, but for what is in lists. It is taken down with the
// positions in this record; shape.ts makes positions in the shape of them.

/** A note: a position, and what is done there. */
const NOTE_BYTES: u32 = 8

/** What stays ends here, */
export const CUT: u32 = 1
/** and goes on here. Anything else is the rule of the value that begins here, or of the object between a cut and here. */
export const RESUME: u32 = 0

/** How many notes there are. */
export let notes: u32 = 0
/** Whether they are all that is done to a record of this shape. */
export let isComplete: bool = true
/** How many lists are around what is written. */
let lists: u32 = 0

/** Begins with another record. */
export function beginScript(): void {
  notes = 0
  isComplete = true
}

/** Takes down what is done at a position; positions rise. */
export function note(at: u32, what: u32): void {
  if (lists != 0) return
  if (notes == MAX_NOTES) {
    isComplete = false
    return
  }
  const to = SCRIPT + notes++ * NOTE_BYTES
  store<u32>(to, at)
  store<u32>(to, what, 4)
}

/** What follows is in a list. */
export function enterList(): void {
  lists++
}

export function leaveList(): void {
  lists--
}

/** The next record of this shape has to be asked about again. */
export function spoilScript(): void {
  isComplete = false
}

/** Where a note is about. */
export function positionOf(index: u32): u32 {
  return load<u32>(SCRIPT + index * NOTE_BYTES)
}

/** What it says. */
export function actionOf(index: u32): u32 {
  return load<u32>(SCRIPT + index * NOTE_BYTES, 4)
}
