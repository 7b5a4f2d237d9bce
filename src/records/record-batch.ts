import { isJsonObject, tryParseJson } from '../ground/json.ts'

/** What happens to a member: it is kept, left out, or rewritten. */
export type MemberRule = 'keep' | 'drop' | ValueReplacement | NestedReplacement | ObjectRules

/** Returns the new JSON text for the JSON text of a value. */
export type ValueReplacement = (json: string) => string

/** Replaces only objects and arrays and, if `texts` is set, texts with an escape: all texts that are JSON have one. */
interface NestedReplacement {
  readonly nested: ValueReplacement
  readonly texts: boolean
}

/**
 * What happens to the members of an object, or of each object in an array. `ruleOf` always returns the same rule for
 * the same name; a scanner calls it about once per name.
 */
export interface ObjectRules {
  readonly ruleOf: (name: string) => MemberRule
  /** What happens to a value that should be an object but is none. */
  readonly values: 'keep' | ValueReplacement
  /** Replaces an array as a whole; otherwise the rules apply to each object in it. */
  readonly lists?: ValueReplacement
}

/** What a record says of its row, in `RecordBatch.ops`. */
export const UPSERT = 0
/** The row was deleted. */
export const DELETE = 1
/** The row is still sent, marked as deleted. */
export const SOFT_DELETE = 2
/** Set by the caller: `lines` leaves the record out. */
export const SKIP = 3

/**
 * The parts around a record in a line: `prefix`, the record without its final brace, and a suffix. A suffix begins
 * with a comma and closes the object and the line.
 */
export interface LineParts {
  readonly prefix: Uint8Array
  /** After a live record. */
  readonly suffix: Uint8Array
  /** After a deleted record, hard or soft. */
  readonly deleteSuffix: Uint8Array
}

/**
 * The elements of the array `value` that one chunk of a page completed, in their order. Everything except the result
 * of `lines` is valid only until the next `push` or `begin` of the scanner.
 */
export interface RecordBatch {
  readonly count: number
  /** UPSERT, DELETE or SOFT_DELETE for each record; the caller may overwrite an entry with SKIP. */
  readonly ops: Uint8Array
  /** The numeric keys: integers from 0 to 2^53 - 1; NaN for any other key. */
  readonly keys: Float64Array
  /** Whether all keys are integers, each higher than the one before; undefined if nobody has looked. */
  readonly isRising?: boolean | undefined
  /** The key as it is written in the body: `12`, `"a-b"`. */
  keyText(index: number): string
  /** The version without quotes and escapes; undefined if it is missing or not a string. */
  versionText(index: number): string | undefined
  /**
   * The first ten bytes of the member with the date, as it was received; undefined if it has no such text without
   * escapes.
   */
  dateText(index: number): string | undefined
  /** The highest version in the batch, compared as strings; skipped records count, too. */
  readonly highestVersion: string | undefined
  /**
   * The bytes of a record. Line breaks between its tokens are replaced by spaces, and where the source expects an
   * array, a single object is wrapped in one.
   */
  record(index: number): Uint8Array
  /** The record before rules left out anything: only for decisions, never for an output. */
  received(index: number): Uint8Array
  /**
   * What is wrong with the batch, in a few words; null if every record was checked to be one JSON object. An output
   * rejects a batch with a fault.
   */
  readonly fault: string | null
  /** The members that every record has, and not as null; undefined if a scanner has checked the key. */
  readonly members?: ReadonlySet<string> | undefined
  /** The rules of a catalog's selection that were already applied to the records. */
  readonly selection?: ObjectRules | undefined
  /**
   * The lines of all records that are not SKIP, in a new buffer. The caller may keep the buffer, or pass it to a line
   * writer, which reuses it for other lines.
   */
  lines(parts: LineParts): Uint8Array
}

/** A record as JSON text, with the JSON text of its key. */
export interface JsonRecord {
  /**
   * A JSON object with at least one member, on one line, without white space around it, as JSON.stringify writes it.
   */
  readonly json: string
  /** See `RecordBatch.received`; by default the same. */
  readonly received?: string
  /** The JSON text of the key, by default `null`; for a key of several columns, an array of their values. */
  readonly key?: string
}

/**
 * Creates a batch from JSON texts. Each text is parsed once, so that a damaged record never reaches a destination.
 */
export function createJsonBatch(records: readonly JsonRecord[]): RecordBatch {
  const ops = new Uint8Array(records.length).fill(UPSERT)
  const at = (index: number): JsonRecord => records[index] ?? { json: '{}' }
  const { fault, members } = checked(records)
  return {
    count: records.length,
    ops,
    keys: new Float64Array(records.length).fill(Number.NaN),
    highestVersion: undefined,
    fault,
    members,
    keyText: (index) => at(index).key ?? 'null',
    versionText: () => undefined,
    dateText: () => undefined,
    record: (index) => Buffer.from(at(index).json),
    received: (index) => Buffer.from(at(index).received ?? at(index).json),
    lines(parts) {
      const [prefix, suffix, deleteSuffix] = [parts.prefix, parts.suffix, parts.deleteSuffix].map(
        (part) => Buffer.from(part).toString(),
      )
      const lines = records.map(({ json }, i) => {
        const kind = ops[i]
        if (kind === SKIP) return ''
        return `${prefix}${json.slice(0, -1)}${kind === UPSERT ? suffix : deleteSuffix}`
      })
      return Buffer.from(lines.join(''))
    },
  }
}

/** Describes the first record that is not valid, without any of its values; and the members that all have. */
function checked(records: readonly JsonRecord[]): Pick<RecordBatch, 'fault' | 'members'> {
  let members: Set<string> | undefined
  for (const [i, { json }] of records.entries()) {
    const record = objectOf(json)
    if (record === undefined)
      return {
        fault: `record ${i + 1} of ${records.length} is not one JSON object on one line`,
      }
    members ??= new Set(Object.keys(record))
    for (const name of members) if ((record[name] ?? null) === null) members.delete(name)
  }
  return { fault: null, members }
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof json !== 'string' || !/^\{[^\n\r]*\}$/.test(json)) return undefined
  const record = tryParseJson(json)
  return isJsonObject(record) && Object.keys(record).length > 0 ? record : undefined
}

/** Adds the records of a batch that are not skipped to these counts. Returns their number. */
export function countRecords(
  { count, ops }: RecordBatch,
  counts: { records: number; deletes: number },
): number {
  let records = 0
  let skipped = 0
  for (let i = 0; i < count; i++) {
    if (ops[i] === UPSERT) records++
    else if (ops[i] === SKIP) skipped++
  }
  const counted = count - skipped
  counts.records += records
  counts.deletes += counted - records
  return counted
}

// Allocating a buffer costs more than filling it: the lines of a page touch some 80 new memory pages, each of which
// is a page fault. So the buffers of lines are reused.

const STEP_BYTES = 64 * 1024
/** Larger buffers are left to the garbage collector. */
const LARGEST_BYTES = 4 * 1024 * 1024
const MOST_FREE = 8

const lent = new WeakSet<ArrayBufferLike>()
const free: ArrayBuffer[] = []

/** A buffer of `bytes` with arbitrary content. It belongs to the caller until it is passed to `releaseBuffer`. */
export function acquireBuffer(bytes: number): Buffer {
  if (bytes > LARGEST_BYTES) return Buffer.allocUnsafeSlow(bytes)
  const index = free.findIndex((buffer) => buffer.byteLength >= bytes)
  const [found] = index < 0 ? [] : free.splice(index, 1)
  const buffer =
    found ?? Buffer.allocUnsafeSlow(Math.ceil((bytes + 1) / STEP_BYTES) * STEP_BYTES).buffer
  lent.add(buffer)
  return Buffer.from(buffer, 0, bytes)
}

/** Takes back a buffer that nobody will read again. A buffer that did not come from `acquireBuffer` is ignored. */
export function releaseBuffer({ buffer }: Uint8Array): void {
  if (!(buffer instanceof ArrayBuffer) || !lent.delete(buffer)) return
  if (free.length < MOST_FREE) free.push(buffer)
}
