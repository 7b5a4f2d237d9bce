import { MAX_NOTES, MAX_STEPS, SCRIPT, SHAPE_COUNT, SHAPE_ROOM, SHAPES } from './memory'
import { ARRAY, CHANGE_TYPE, DATA, NONE, recordName } from './names'

// Records of a stream have the same members in the same order, or in one of a few orders. The text between the values
// of an element, its names and punctuation, is its shape. The next element is compared with the known shapes
// (match.ts), so that only its values have to be read.

/** A step of a shape: a text, and which wanted name the following value belongs to, or one of the marks below. */
export const STEP_BYTES: u32 = 32
export const TEXT: usize = 0
export const LENGTH: usize = 4
/** A mask of the bytes of the last vector that do not belong to the text. */
export const IGNORED: usize = 8
export const WANTED: usize = 12
/**
 * The number of cuts that the rules make in the text, their address, and the rule for the following value, 0 if it
 * stays.
 */
export const CUTS: usize = 16
export const CUTS_AT: usize = 20
export const RULE: usize = 24
/** In the first step: whether the rules may change records of this shape. If not, a record with an array under a rule has another shape. */
export const RULED: usize = 28

/** A cut: its offset in the text, and the action of its note. */
export const CUT_BYTES: u32 = 8

/** Marks of a text without a following value: the element ends, or its `data` begins or ends. */
export const LAST: u32 = 32
export const DATA_BEGINS: u32 = 33
export const DATA_ENDS: u32 = 34

const MAX_SHAPE_DEPTH: u32 = 32
const ALL_CUTS: u32 = MAX_STEPS * STEP_BYTES
const TEXTS: u32 = ALL_CUTS + MAX_NOTES * CUT_BYTES

/** The number of known shapes. */
export let known: u32 = 0
// Shapes are stored in a ring; the next one is written after the newest one.
let place: u32 = 0

let steps: u32 = 0
let step: u32 = 0
let textTo: u32 = 0
let cutTo: u32 = 0
/** The number of notes that the steps already contain. */
let noted: u32 = 0
let isRuled: bool = false

/** The first step of a known shape; 0 is the newest one. */
export function stepsOf(shape: u32): u32 {
  return SHAPES + ((place + SHAPE_COUNT - shape) % (SHAPE_COUNT + 1)) * SHAPE_ROOM
}

/** Stores the shape of an element that the general scanner has read; false if it has none. */
export function learn(start: u32, end: u32, isChange: bool): bool {
  steps = SHAPES + place * SHAPE_ROOM
  step = steps
  textTo = steps + TEXTS
  cutTo = steps + ALL_CUTS
  noted = 0
  isRuled = false
  if (!isComplete || !writeSteps(start, end, isChange) || noted != notes) return false
  store<u32>(steps, isRuled ? 1 : 0, RULED)
  place = (place + 1) % (SHAPE_COUNT + 1)
  if (known < SHAPE_COUNT) known++
  return true
}

function writeSteps(start: u32, end: u32, isChange: bool): bool {
  let text = start
  let p = start
  let depth: u32 = 0
  let wanted: u32 = NONE
  let isValue = true
  let dataSeen = false
  let inData = false
  while (p < end) {
    const c: u32 = load<u8>(p)
    if (c == 0x22 && !isValue) {
      const close = stringEnd(p + 1)
      // Elements with white space or escaped names have no shape.
      if (load<u8>(close + 1) != 0x3a || hasEscape(p, close)) return false
      const name = recordName(p + 1, close, false)
      wanted = NONE
      if (depth == 1 && name == DATA) {
        if (dataSeen) return false
        dataSeen = true
        wanted = DATA
      } else if (isChange ? inData && depth == 2 : depth == 1) {
        if (name < DATA) wanted = name
      } else if (depth == 1 && name == CHANGE_TYPE) wanted = name
      p = close + 2
      isValue = true
    } else if (c == 0x7b) {
      if (wanted == DATA) {
        if (!isChange || !add(text, p, DATA_BEGINS)) return false
        inData = true
        text = p
      } else if (wanted != NONE || depth == MAX_SHAPE_DEPTH) return false
      depth++
      p++
      isValue = false
    } else if (c == 0x7d) {
      depth--
      p++
      if (inData && depth == 1) {
        if (!add(text, p, DATA_ENDS)) return false
        inData = false
        text = p
      }
      isValue = false
    } else if (c == 0x2c) {
      p++
      isValue = false
    } else if (c <= 0x20) return false
    else {
      if (!add(text, p, wanted == DATA || wanted == ARRAY ? NONE : wanted)) return false
      p = valueEnd(p, c)
      text = p
      isValue = false
    }
  }
  return add(text, end, LAST)
}

/** Adds a step for the text from `from` to `to`; false if there is no room. */
function add(from: u32, to: u32, wanted: u32): bool {
  const length = to - from
  const room = (length + 15) & ~15
  if (step >= steps + ALL_CUTS - STEP_BYTES || textTo + room > steps + SHAPE_ROOM) return false
  memory.copy(textTo, from, length)
  store<u32>(step, textTo, TEXT)
  store<u32>(step, length, LENGTH)
  store<u32>(step, (0xffff << (length - (room - 16))) & 0xffff, IGNORED)
  store<u32>(step, wanted, WANTED)
  addNotes(from, to)
  step += STEP_BYTES
  textTo += room
  return true
}

/** Adds the notes between `from` and `to` to the step. The rule of the following value is a note at its start. */
function addNotes(from: u32, to: u32): void {
  const firstCut = cutTo
  let rule: u32 = 0
  for (; noted < notes && positionOf(noted) <= to; noted++) {
    const at = positionOf(noted)
    const action = actionOf(noted)
    // A note inside of a value cannot be part of a shape.
    if (at < from) return
    if (at == to && action > CUT) {
      rule = action
      if ((rule & VALUES_STAY) == 0 || (rule & IN_TEXTS) != 0 || load<u8>(to) == 0x5b)
        isRuled = true
    } else {
      isRuled = true
      store<u32>(cutTo, at - from)
      store<u32>(cutTo, action, 4)
      cutTo += CUT_BYTES
    }
  }
  store<u32>(step, (cutTo - firstCut) / CUT_BYTES, CUTS)
  store<u32>(step, firstCut, CUTS_AT)
  store<u32>(step, rule, RULE)
}

/**
 * Returns the position after the value that begins at `at` with the byte `c`. The value is known to be valid, so it
 * is only skipped.
 */
export function valueEnd(at: u32, c: u32): u32 {
  if (c == 0x22) return stringEnd(at + 1) + 1
  let depth: u32 = 0
  while (true) {
    c = load<u8>(at)
    if (c == 0x22) at = stringEnd(at + 1)
    else if (c == 0x5b || c == 0x7b) depth++
    else if (depth == 0 && (c == 0x2c || c == 0x7d || c == 0x5d || c <= 0x20)) return at
    else if (c == 0x5d || c == 0x7d) {
      if (--depth == 0) return at + 1
    }
    at++
  }
}

/** Returns the position of the closing quote of a string; `at` is a position inside of it. */
export function stringEnd(at: u32): u32 {
  while (load<u8>(at) != 0x22) at += load<u8>(at) == 0x5c ? 2 : 1
  return at
}

export function hasEscape(at: u32, end: u32): bool {
  for (; at < end; at++) if (load<u8>(at) == 0x5c) return true
  return false
}

// The rules do the same to all records of one shape, except in arrays. The script notes what they did to one record, with
// the positions in it; `learn` converts these to positions in the shape.

/** A note: a position, and what is done there. */
const NOTE_BYTES: u32 = 8

/**
 * What is done at a position: the copy of the record ends, or it continues. Any other number is the rule of the value
 * that begins there, or of the object between a cut and the position.
 */
export const CUT: u32 = 1
export const RESUME: u32 = 0
/** A flag of a rule: only objects and arrays change. */
export const VALUES_STAY: u32 = 4
/** A flag of a replacement under which values stay: it applies to texts with an escape, too. */
export const IN_TEXTS: u32 = 16

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

export function positionOf(index: u32): u32 {
  return load<u32>(SCRIPT + index * NOTE_BYTES)
}

export function actionOf(index: u32): u32 {
  return load<u32>(SCRIPT + index * NOTE_BYTES, 4)
}
