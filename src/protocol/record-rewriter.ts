import { type ByteSink, copy, createByteSink, reserve } from './byte-sink.ts'
import { createValueWriter, type ValueWriter } from './value-writer.ts'

/** What becomes of one member: it stays as it is, is left out, or is written anew. */
export type MemberRule = 'keep' | 'drop' | Replacement | ObjectRules

/** The new JSON text of a value whose JSON text is given. */
export type Replacement = (json: string) => string

/**
 * What becomes of the members of an object, or of each object in a list. `ruleOf` is asked once per
 * name, more or less.
 */
export interface ObjectRules {
  readonly ruleOf: (name: string) => MemberRule
  /** Whether anything that is no object stays; it becomes null otherwise. */
  readonly keepsValues: boolean
}

/** Appends a record, valid JSON text of an object, as its rules leave it. */
export type RecordRewriter = (record: Uint8Array, sink: ByteSink) => void

/** One record under rules, as text; for many of them make a rewriter. */
export function rewriteRecord(record: Uint8Array, rules: ObjectRules): string {
  return rewritten(record, createRecordRewriter(rules)).toString('utf8')
}

/** A record as a rewriter leaves it, in bytes of its own. */
export function rewritten(record: Uint8Array, rewrite: RecordRewriter): Buffer {
  const sink = createByteSink(record.length)
  rewrite(record, sink)
  return sink.bytes.subarray(0, sink.length)
}

/** An empty sink with room for so many bytes. */
/**
 * Rewrites records without parsing them: what stays is copied byte for byte, so that numbers keep
 * every digit. Records of one stream have the same members in nearly the same order, so a name is
 * first compared with the one that stood there last.
 */
export function createRecordRewriter(rules: ObjectRules): RecordRewriter {
  const shape = shapeOf(rules, new Map())
  return (record, sink) => {
    reserve(sink, record.length)
    object(asBuffer(record), 0, shape, sink)
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Rules with the names in the order in which they were met last. */
interface Shape {
  readonly rules: ObjectRules
  readonly met: Met[]
  readonly known: Map<string, Met>
  /** Of each replacement, shared by all members that it is made to. */
  readonly writers: Map<Replacement, ValueWriter>
}

/** A name that was met, and what becomes of its value. */
interface Met {
  /** The name with its quotes, as it stands in the record. */
  readonly text: Buffer
  readonly rule: 'keep' | 'drop' | ValueWriter | Shape
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const NULL = Buffer.from('null')
const SPACE = 0x20
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
/** Names of an object that are remembered. */
const MOST_NAMES = 1000

function shapeOf(rules: ObjectRules, writers: Shape['writers']): Shape {
  return { rules, met: [], known: new Map(), writers }
}

/** Writes the object at `start`, and answers with the position behind it. */
function object(from: Buffer, start: number, shape: Shape, sink: ByteSink): number {
  put(sink, OPEN_OBJECT)
  const begin = sink.length
  // Neighbours that stay are copied together, with the commas between them.
  let run = -1
  let runEnd = 0
  let at = skipSpace(from, start + 1)
  for (let i = 0; from[at] === QUOTE; i++) {
    const { text, rule } = memberAt(from, at, i, shape)
    const valueAt = skipSpace(from, skipSpace(from, at + text.length) + 1)
    let end: number
    if (rule === 'keep') {
      if (run < 0) run = at
      end = endOfValue(from, valueAt)
      runEnd = end
    } else {
      if (run >= 0) member(from, run, runEnd, begin, sink)
      run = -1
      if (rule === 'drop') end = endOfValue(from, valueAt)
      else {
        member(from, at, valueAt, begin, sink)
        end = changed(from, valueAt, rule, sink)
      }
    }
    at = skipSpace(from, end)
    if (from[at] === COMMA) at = skipSpace(from, at + 1)
  }
  if (run >= 0) member(from, run, runEnd, begin, sink)
  put(sink, CLOSE_OBJECT)
  return at + 1
}

/** Copies what begins with a member, behind a comma unless it is the first of its object. */
function member(from: Buffer, start: number, end: number, begin: number, sink: ByteSink): void {
  if (sink.length > begin) put(sink, COMMA)
  copy(from, start, end, sink)
}

/** Writes a value under a rule, and answers with the position behind it. */
function changed(from: Buffer, at: number, rule: ValueWriter | Shape, sink: ByteSink): number {
  if (typeof rule === 'function') {
    const end = endOfValue(from, at)
    rule(from, at, end, sink)
    return end
  }
  if (from[at] === OPEN_OBJECT) return object(from, at, rule, sink)
  if (from[at] === OPEN_LIST) return list(from, at, rule, sink)
  const end = endOfValue(from, at)
  if (rule.rules.keepsValues) copy(from, at, end, sink)
  else copy(NULL, 0, NULL.length, sink)
  return end
}

function list(from: Buffer, start: number, shape: Shape, sink: ByteSink): number {
  put(sink, OPEN_LIST)
  let at = skipSpace(from, start + 1)
  while (from[at] !== CLOSE_LIST) {
    at = skipSpace(from, changed(from, at, shape, sink))
    if (from[at] !== COMMA) continue
    put(sink, COMMA)
    at = skipSpace(from, at + 1)
  }
  put(sink, CLOSE_LIST)
  return at + 1
}

function memberAt(from: Buffer, at: number, index: number, shape: Shape): Met {
  const expected = shape.met[index]
  if (expected !== undefined && stands(expected.text, from, at)) return expected
  const end = endOfString(from, at)
  const met =
    shape.known.get(from.toString('latin1', at, end)) ?? learn(from.subarray(at, end), shape)
  shape.met[index] = met
  return met
}

function learn(bytes: Buffer, { rules, known, writers }: Shape): Met {
  const text = Buffer.from(bytes)
  const rule = rules.ruleOf(JSON.parse(text.toString('utf8')) as string)
  const met = { text, rule: prepared(rule, writers) }
  if (known.size < MOST_NAMES) known.set(text.toString('latin1'), met)
  return met
}

function prepared(rule: MemberRule, writers: Shape['writers']): Met['rule'] {
  if (typeof rule === 'object') return shapeOf(rule, writers)
  if (typeof rule !== 'function') return rule
  const writer = writers.get(rule) ?? createValueWriter(rule)
  writers.set(rule, writer)
  return writer
}

function stands(text: Buffer, from: Buffer, at: number): boolean {
  for (let i = text.length - 1; i > 0; i--) if (text[i] !== from[at + i]) return false
  return true
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  // In valid JSON nothing else between tokens is as low as a space.
  while ((bytes[at] as number) <= SPACE) at++
  return at
}

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at + 1
}

/** Brackets are counted and strings stepped over; anything else ends at what no number or word has. */
function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start]
  if (first === QUOTE) return endOfString(bytes, start)
  let at = start
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    while (at < bytes.length && !isBehindWord(bytes[at] as number)) at++
    return at
  }
  let depth = 0
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      continue
    }
    at++
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at
  }
  return at
}

function isBehindWord(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte <= 0x20
}

function put(sink: ByteSink, byte: number): void {
  reserve(sink, 1)
  sink.bytes[sink.length++] = byte
}
