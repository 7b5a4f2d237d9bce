import { answerLength, answerOf, find, remember } from './answers'
import { ANSWER, allocateUpTo, copy, ensure, PADDING, top } from './memory'
import {
  beginScript,
  CUT,
  enterList,
  hasEscape,
  IN_TEXTS,
  leaveList,
  note,
  RESUME,
  spoilScript,
  stringEnd,
  VALUES_STAY,
  valueEnd,
} from './shape'

// Applies rules to the members of records. Members that stay are copied byte for byte to the memory after the chunk.
// A record of which everything stays is not copied.

// Imported from the host: see `ScanHost`. AssemblyScript names imports by the file that declares them.

/** The rule for a member with this name, in an object at `depth` under the rules of a subject. */
declare function askRule(subject: u32, start: u32, end: u32, depth: u32): u32

/** Writes the replacement of a value to the address that `room` returns, and returns its length. */
declare function askReplacement(subject: u32, start: u32, end: u32): u32

// The host's answers: the kind of rule in the low bits, flags, and above them the number of its subject.
const KIND: u32 = 3
export const KEEP: u32 = 0
const DROP: u32 = 1
const REPLACE: u32 = 2
/** There are rules for the members of the object, or of each object in the array. */
const INSIDE: u32 = 3
/** The number will soon belong to another subject, so the answer must not be cached. */
const PASSING: u32 = 8
/** An array is replaced as a whole. */
const LISTS: u32 = 32
const SUBJECT: u32 = 6

/** The rule for records; KEEP if there are no rules. */
export let root: u32 = KEEP
/** Everything before this position has been copied, as far as it stays. */
let from: u32 = 0
/** The end of the copy; 0 while the record is unchanged. */
let to: u32 = 0
/** The end of the last record after its rules. */
export let leftEnd: u32 = 0

/** Activates rules; must be called before the first page. */
export function useRules(rules: u32): void {
  root = rules
}

/** Begins a record at `at`. */
export function beginRecord(at: u32): void {
  from = at
  to = 0
}

/** Copies what stays up to `at`. */
export function leave(at: u32): void {
  if (to == 0) to = top
  const length = at - from
  ensure(to + length + PADDING)
  to = copy(to, from, length)
  from = at
}

/** Continues the record at `at`. */
export function resume(at: u32): void {
  from = at
}

/** Ends the record before `end`; returns its start after the rules. */
export function endRecord(start: u32, end: u32): u32 {
  leftEnd = end
  if (to == 0) return start
  leave(end)
  const at = top
  leftEnd = to
  allocateUpTo(to)
  return at
}

/** The address for the replacement of a value. */
export function room(bytes: u32): u32 {
  ensure(to + bytes + PADDING)
  return to
}

/** Replaces the value between `start` and `end`. */
export function replace(rule: u32, start: u32, end: u32): void {
  leave(start)
  const subject = rule >> SUBJECT
  const isLasting = (rule & PASSING) == 0
  const entry = isLasting ? find(subject << 1, start, end) : 0
  if (entry != 0) {
    const size = answerLength(entry)
    to = copy(room(size), answerOf(entry), size)
  } else {
    const size = askReplacement(subject, start, end)
    if (isLasting) remember(subject << 1, start, end, to, size)
    to += size
  }
  resume(end)
}

/** Rewrites the record that begins at `start`, and records what is done to records of its shape. */
export function rewriteRecord(start: u32, end: u32): u32 {
  beginRecord(start)
  beginScript()
  object(start, root, 0)
  return endRecord(start, end)
}

/** Rewrites a valid object; returns the position after it. */
function object(at: u32, rule: u32, depth: u32): u32 {
  // The end of what has been written of the object: its brace, or a member.
  let last = at + 1
  let isFirst = true
  // Adjacent members that stay are copied together, with the text between them.
  let inRun = false
  let p = skipSpace(at + 1)
  while (load<u8>(p) == 0x22) {
    const nameEnd = stringEnd(p + 1) + 1
    const inner = ruleOf(rule, p, nameEnd, depth)
    const value = skipSpace(skipSpace(nameEnd) + 1)
    const c: u32 = load<u8>(value)
    const stays = staysWhole(inner, c)
    let end: u32
    if ((inner & KIND) == DROP) end = valueEnd(value, c)
    else {
      if (!stays || !inRun) join(last, p, isFirst)
      isFirst = false
      end = changed(value, inner, depth)
      last = end
    }
    inRun = stays
    p = skipSpace(end)
    if (load<u8>(p) == 0x2c) p = skipSpace(p + 1)
  }
  gap(last, p)
  return p + 1
}

/** Whether a value that begins with `c` stays unchanged, whatever it is. */
function staysWhole(rule: u32, c: u32): bool {
  return (rule & KIND) == KEEP || !isReplaced(rule, c, true)
}

/** Whether a rule changes a value that begins with `c`. */
export function isReplaced(rule: u32, c: u32, isEscaped: bool): bool {
  if ((rule & VALUES_STAY) == 0 || c == 0x7b || c == 0x5b) return true
  return (rule & IN_TEXTS) != 0 && c == 0x22 && isEscaped
}

/** Connects the member at `start` with what ends at `last`: with a comma, unless it is the first one. */
function join(last: u32, start: u32, isFirst: bool): void {
  if (!isFirst) {
    const comma = skipSpace(last)
    gap(last, comma)
    last = comma + 1
  }
  gap(last, start)
}

/** Leaves out the text between two positions. */
function gap(start: u32, end: u32): void {
  if (start == end) return
  leave(start)
  note(start, CUT)
  resume(end)
  note(end, RESUME)
}

/** Writes a value under a rule; returns the position after it. */
function changed(value: u32, rule: u32, depth: u32): u32 {
  const kind = rule & KIND
  const c: u32 = load<u8>(value)
  if (kind == INSIDE && c == 0x7b) return object(value, rule, depth + 1)
  if (kind == INSIDE && c == 0x5b) {
    note(value, rule)
    return list(value, rule, depth)
  }
  const end = valueEnd(value, c)
  if (kind == REPLACE && c == 0x7b) {
    note(value, CUT)
    note(end, rule)
  } else if (kind != KEEP) note(value, rule)
  const isEscaped = (rule & IN_TEXTS) != 0 && hasEscape(value, end)
  if (kind != KEEP && isReplaced(rule, c, isEscaped)) replace(rule, value, end)
  return end
}

/** Whether a rule applies to members of objects and arrays. */
export function isInside(rule: u32): bool {
  return (rule & KIND) == INSIDE
}

/** Applies rules to an array. This is not part of the script for the next records. */
export function list(at: u32, rule: u32, depth: u32): u32 {
  if (rule & LISTS) {
    const end = valueEnd(at, 0x5b)
    replace(rule, at, end)
    return end
  }
  enterList()
  let p = skipSpace(at + 1)
  gap(at + 1, p)
  while (load<u8>(p) != 0x5d) {
    const end = changed(p, rule, depth)
    p = skipSpace(end)
    gap(end, p)
    if (load<u8>(p) == 0x2c) {
      const next = skipSpace(p + 1)
      gap(p + 1, next)
      p = next
    }
  }
  leaveList()
  return p + 1
}

function ruleOf(rule: u32, start: u32, end: u32, depth: u32): u32 {
  const subject = rule >> SUBJECT
  const isLasting = (rule & PASSING) == 0
  const entry = isLasting ? find((subject << 1) | 1, start, end) : 0
  if (entry != 0) return load<u32>(answerOf(entry))
  const answer = askRule(subject, start, end, depth)
  if (answer & PASSING) spoilScript()
  else {
    store<u32>(ANSWER, answer)
    remember((subject << 1) | 1, start, end, ANSWER, 4)
  }
  return answer
}

function skipSpace(at: u32): u32 {
  // In valid JSON only white space between tokens is as low as a space.
  while (load<u8>(at) <= 0x20) at++
  return at
}
