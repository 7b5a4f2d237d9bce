import { MAX_NOTES, SCRIPT } from './layout'

// The rules do the same to all records of one shape, except in arrays. This file records it with the positions in one
// record; shape.ts converts them to positions in the shape.

/** A note: a position, and what is done there. */
const NOTE_BYTES: u32 = 8

/** A copy ends here, */
export const CUT: u32 = 1
/**
 * and continues here. Any other number is the rule of the value that begins here, or of the object between a cut and
 * this position.
 */
export const RESUME: u32 = 0

/** The number of notes. */
export let notes: u32 = 0
/** Whether the notes are complete for this shape. */
export let isComplete: bool = true
/** The number of arrays around the current position. */
let lists: u32 = 0

/** Begins a record. */
export function beginScript(): void {
  notes = 0
  isComplete = true
}

/** Records what is done at a position; positions increase. */
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

/** Enters an array. */
export function enterList(): void {
  lists++
}

export function leaveList(): void {
  lists--
}

/** Marks the script as unusable for further records. */
export function spoilScript(): void {
  isComplete = false
}

/** The position of a note. */
export function positionOf(index: u32): u32 {
  return load<u32>(SCRIPT + index * NOTE_BYTES)
}

/** The action of a note. */
export function actionOf(index: u32): u32 {
  return load<u32>(SCRIPT + index * NOTE_BYTES, 4)
}
