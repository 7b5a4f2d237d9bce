import {
  acquireBuffer,
  append,
  type ByteSink,
  copy,
  createByteSink,
  isEqual,
  reserve,
  viewOf,
} from './buffers.ts'
import type { ObjectRules, ValueReplacement } from './object-rules.ts'
import { type RecordBatch, SKIP, UPSERT } from './record-batch.ts'

/** Appends the record that begins at `start`, valid JSON text of an object, as its rules leave it. */
export type RecordRewriter = (from: DataView, start: number, sink: ByteSink) => void

/** One record under rules, as text; for many of them make a rewriter. */
export function rewriteRecord(record: Uint8Array, rules: ObjectRules): string {
  return rewritten(record, createRecordRewriter(rules)).toString('utf8')
}

/** A record as a rewriter leaves it, in bytes of its own. */
function rewritten(record: Uint8Array, rewrite: RecordRewriter): Buffer {
  const sink = createByteSink(Buffer.allocUnsafe(record.length))
  rewrite(viewOf(record), 0, sink)
  return sink.bytes.subarray(0, sink.length)
}

/**
 * Rewrites records without parsing them: what stays is copied byte for byte, so that numbers keep
 * every digit. Records of one stream have the same members in nearly the same order, so a name is
 * first compared with the one that stood there last.
 */
export function createRecordRewriter(rules: ObjectRules): RecordRewriter {
  const shape = shapeOf(rules, { names: 0 })
  return (from, start, sink) => {
    object(from, start, shape, sink)
  }
}

/** Rules with the names in the order in which they were met last. */
interface Shape {
  readonly rules: ObjectRules
  readonly met: Met[]
  readonly known: Map<string, Met>
  readonly shared: Shared
}

/** What the shapes of a rewriter share. */
interface Shared {
  /** How many names are remembered, in all shapes. */
  names: number
}

/** A name that was met, and what becomes of its value. */
interface Met {
  /** The name with its quotes, as it stands in the record. */
  readonly name: DataView
  readonly length: number
  readonly rule: 'keep' | 'drop' | ValueReplacement | Shape
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const SPACE = 0x20
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
/** Names that a rewriter remembers: a service that sends new ones in each record must not fill the memory. */
const MOST_NAMES = 10_000

function shapeOf(rules: ObjectRules, shared: Shared): Shape {
  return { rules, met: [], known: new Map(), shared }
}

/** Writes the object at `start`, and answers with the position behind it. */
function object(from: DataView, start: number, shape: Shape, sink: ByteSink): number {
  put(sink, OPEN_OBJECT)
  const begin = sink.length
  // Neighbours that stay are copied together, with the commas between them.
  let run = -1
  let runEnd = 0
  let at = skipSpace(from, start + 1)
  for (let i = 0; from.getUint8(at) === QUOTE; i++) {
    const { length, rule } = memberAt(from, at, i, shape)
    const valueAt = skipSpace(from, skipSpace(from, at + length) + 1)
    let end: number
    if (rule === 'keep' || staysWhole(rule, from.getUint8(valueAt))) {
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
    if (from.getUint8(at) === COMMA) at = skipSpace(from, at + 1)
  }
  if (run >= 0) member(from, run, runEnd, begin, sink)
  put(sink, CLOSE_OBJECT)
  return at + 1
}

/** Whether a rule for objects says nothing of the value that begins so, because it is none. */
function staysWhole(rule: Met['rule'], first: number): boolean {
  const isPlain = first !== OPEN_OBJECT && first !== OPEN_LIST
  return isPlain && typeof rule === 'object' && rule.rules.values === 'keep'
}

/** Copies what begins with a member, behind a comma unless it is the first of its object. */
function member(from: DataView, start: number, end: number, begin: number, sink: ByteSink): void {
  if (sink.length > begin) put(sink, COMMA)
  copy(from, start, end, sink)
}

/** Writes a value under a rule, and answers with the position behind it. */
function changed(
  from: DataView,
  at: number,
  rule: ValueReplacement | Shape,
  sink: ByteSink,
): number {
  const first = from.getUint8(at)
  if (typeof rule === 'object' && first === OPEN_OBJECT) return object(from, at, rule, sink)
  if (typeof rule === 'object' && first === OPEN_LIST) return list(from, at, rule, sink)
  const end = endOfValue(from, at)
  const replacement = typeof rule === 'object' ? rule.rules.values : rule
  if (replacement === 'keep') copy(from, at, end, sink)
  else {
    const value = Buffer.from(from.buffer, from.byteOffset + at, end - at).toString('utf8')
    append(Buffer.from(replacement(value)), sink)
  }
  return end
}

function list(from: DataView, start: number, shape: Shape, sink: ByteSink): number {
  put(sink, OPEN_LIST)
  let at = skipSpace(from, start + 1)
  while (from.getUint8(at) !== CLOSE_LIST) {
    at = skipSpace(from, changed(from, at, shape, sink))
    if (from.getUint8(at) !== COMMA) continue
    put(sink, COMMA)
    at = skipSpace(from, at + 1)
  }
  put(sink, CLOSE_LIST)
  return at + 1
}

function memberAt(from: DataView, at: number, index: number, shape: Shape): Met {
  const expected = shape.met[index]
  if (expected !== undefined && stands(expected, from, at)) return expected
  const bytes = Buffer.from(from.buffer, from.byteOffset + at, endOfString(from, at) - at)
  const met = shape.known.get(bytes.toString('latin1'))
  if (met === undefined) return learn(bytes, index, shape)
  if (index < MOST_NAMES) shape.met[index] = met
  return met
}

function learn(bytes: Buffer, index: number, { rules, met, known, shared }: Shape): Met {
  const rule = rules.ruleOf(JSON.parse(bytes.toString('utf8')) as string)
  const isRemembered = shared.names < MOST_NAMES
  const one = {
    name: viewOf(Buffer.from(bytes)),
    length: bytes.length,
    rule: typeof rule === 'object' ? shapeOf(rule, shared) : rule,
  }
  if (!isRemembered) return one
  shared.names++
  known.set(bytes.toString('latin1'), one)
  if (index < MOST_NAMES) met[index] = one
  return one
}

function stands({ name, length }: Met, from: DataView, at: number): boolean {
  return at + length <= from.byteLength && isEqual(name, 0, from, at, length)
}

// Outside of a view nothing can be read: JSON that is not valid ends with a RangeError.

function skipSpace(from: DataView, start: number): number {
  let at = start
  // In valid JSON nothing else between tokens is as low as a space.
  while (from.getUint8(at) <= SPACE) at++
  return at
}

function endOfString(from: DataView, start: number): number {
  let at = start + 1
  while (true) {
    const byte = from.getUint8(at)
    if (byte === QUOTE) return at + 1
    at += byte === BACKSLASH ? 2 : 1
  }
}

/** Brackets are counted and strings stepped over; anything else ends at what no number or word has. */
function endOfValue(from: DataView, start: number): number {
  const first = from.getUint8(start)
  if (first === QUOTE) return endOfString(from, start)
  let at = start
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    while (!isBehindWord(from.getUint8(at))) at++
    return at
  }
  let depth = 0
  while (true) {
    const byte = from.getUint8(at)
    if (byte === QUOTE) {
      at = endOfString(from, at)
      continue
    }
    at++
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at
  }
}

function isBehindWord(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte <= SPACE
}

function put(sink: ByteSink, byte: number): void {
  reserve(sink, 1)
  sink.view.setUint8(sink.length++, byte)
}

/**
 * Rewrites batches by rules: of their records, and of nothing else. Their `ops` are shared. A batch that comes under
 * these rules, as `selection`, passes as it is.
 */
export function createBatchRewriter(
  rules: ObjectRules | undefined,
): (batch: RecordBatch) => RecordBatch {
  if (rules === undefined) return (batch) => batch
  const rewrite = createRecordRewriter(rules)
  return (batch) => {
    if (batch.selection === rules) return batch
    const record = (index: number) => rewritten(batch.record(index), rewrite)
    return {
      count: batch.count,
      ops: batch.ops,
      keys: batch.keys,
      keyText: (index) => batch.keyText(index),
      versionText: (index) => batch.versionText(index),
      get highestVersion() {
        return batch.highestVersion
      },
      record,
      received: (index) => batch.received(index),
      lines(parts) {
        const sink = createByteSink(acquireBuffer(FIRST_BYTES))
        for (let index = 0; index < batch.count; index++) {
          const op = batch.ops[index]
          if (op === SKIP) continue
          append(parts.prefix, sink)
          rewrite(viewOf(batch.record(index)), 0, sink)
          // The suffix closes the record.
          sink.length--
          append(op === UPSERT ? parts.suffix : parts.deleteSuffix, sink)
        }
        return sink.bytes.subarray(0, sink.length)
      },
    }
  }
}

const FIRST_BYTES = 64 * 1024
