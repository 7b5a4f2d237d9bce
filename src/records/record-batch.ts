/** What becomes of one member: it stays as it is, is left out, or is written anew. */
export type MemberRule = 'keep' | 'drop' | ValueReplacement | ObjectRules

/** The new JSON text of a value whose JSON text is given. */
export type ValueReplacement = (json: string) => string

/**
 * What becomes of the members of an object, or of each object in a list. `ruleOf` answers the same for the same name;
 * a scanner asks once per name, more or less.
 */
export interface ObjectRules {
  readonly ruleOf: (name: string) => MemberRule
  /** What becomes of anything that stands there and is no object. */
  readonly values: 'keep' | ValueReplacement
}

/** What a record says of its row, in `RecordBatch.ops`. */
export const UPSERT = 0
/** The row is gone. */
export const DELETE = 1
/** The row is still sent, with a mark that it is deleted. */
export const SOFT_DELETE = 2
/** Written by the caller: `lines` leaves the record out. */
export const SKIP = 3

/**
 * What a line is made of: `prefix`, the record without its final brace, and a suffix. A suffix
 * begins with a comma and closes the object and the line.
 */
export interface LineParts {
  readonly prefix: Uint8Array
  /** Behind a live record. */
  readonly suffix: Uint8Array
  /** Behind a record of a row that is deleted. */
  readonly deleteSuffix: Uint8Array
}

/**
 * The elements of `value` that one chunk completed, in their order. Everything but the answer of
 * `lines` is valid until the next `push` or `begin` of its scanner.
 */
export interface RecordBatch {
  readonly count: number
  /** UPSERT, DELETE or SOFT_DELETE for each record; the caller may overwrite an entry with SKIP. */
  readonly ops: Uint8Array
  /** Keys that are written as an integer from 0 to 2^53 - 1; NaN for any other. */
  readonly keys: Float64Array
  /** The key as it stands in the body: `12`, `"a-b"`. */
  keyText(index: number): string
  /** The version without quotes and escapes; undefined if it is missing or not a string. */
  versionText(index: number): string | undefined
  /** The highest version of the batch by comparison of strings, skipped records included. */
  readonly highestVersion: string | undefined
  /**
   * The bytes of the record; line breaks between its tokens are spaces, and a lone object is in an
   * array where the source wants one.
   */
  record(index: number): Uint8Array
  /** The record before rules left anything out of it: to decide by, never to be passed on. */
  received(index: number): Uint8Array
  /**
   * What is wrong with its records, in a few words; null for records that were checked and are one JSON object each.
   * An output takes no others.
   */
  readonly fault: string | null
  /** The rules of a catalog's selection that its records are under already. */
  readonly selection?: ObjectRules | undefined
  /**
   * The lines of all records that are not SKIP, in a buffer of their own: the caller may keep it,
   * or hand it to a line writer, which uses it again for other lines.
   */
  lines(parts: LineParts): Uint8Array
}

/** A record as JSON text, with the JSON text of its key beside it. */
export interface JsonRecord {
  /** An object with a member at least, on one line, without white space around it: what JSON.stringify makes. */
  readonly json: string
  /** The JSON text of the key, `null` if left out; of several columns, an array of their values. */
  readonly key?: string
}

/** A batch of records that are texts. Each is parsed once, so that none that is damaged reaches a destination. */
export function createJsonBatch(records: readonly JsonRecord[]): RecordBatch {
  const ops = new Uint8Array(records.length).fill(UPSERT)
  const at = (index: number) => records[index] ?? { json: '{}' }
  return {
    count: records.length,
    ops,
    keys: new Float64Array(records.length).fill(Number.NaN),
    highestVersion: undefined,
    fault: faultOf(records),
    keyText: (index) => at(index).key ?? 'null',
    versionText: () => undefined,
    record: (index) => Buffer.from(at(index).json),
    received: (index) => Buffer.from(at(index).json),
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

/** What is wrong with the first record that cannot be passed on; none of its values. */
function faultOf(records: readonly JsonRecord[]): string | null {
  const at = records.findIndex(({ json }) => !isOneObject(json))
  return at < 0 ? null : `record ${at + 1} of ${records.length} is not one JSON object on one line`
}

function isOneObject(json: unknown): boolean {
  if (typeof json !== 'string' || !/^\{[^\n\r]*\}$/.test(json)) return false
  try {
    return Object.keys(JSON.parse(json)).length > 0
  } catch {
    return false
  }
}

// Fresh memory costs more than filling it: a page of lines touches some 80 new memory pages of the
// system, each a fault. So the buffers that lines are written to go round and round.

const STEP_BYTES = 64 * 1024
/** Larger buffers are left to the garbage collector. */
const LARGEST_BYTES = 4 * 1024 * 1024
const MOST_FREE = 8

const lent = new WeakSet<ArrayBufferLike>()
const free: ArrayBuffer[] = []

/** A buffer of `bytes` with any content. It stays the caller's, unless `releaseBuffer` gets it. */
export function acquireBuffer(bytes: number): Buffer {
  if (bytes > LARGEST_BYTES) return Buffer.allocUnsafeSlow(bytes)
  const index = free.findIndex((buffer) => buffer.byteLength >= bytes)
  const [found] = index < 0 ? [] : free.splice(index, 1)
  const buffer =
    found ?? Buffer.allocUnsafeSlow(Math.ceil((bytes + 1) / STEP_BYTES) * STEP_BYTES).buffer
  lent.add(buffer)
  return Buffer.from(buffer, 0, bytes)
}

/** Takes back a buffer whose bytes nobody will look at again; anything else is ignored. */
export function releaseBuffer({ buffer }: Uint8Array): void {
  if (!(buffer instanceof ArrayBuffer) || !lent.delete(buffer)) return
  if (free.length < MOST_FREE) free.push(buffer)
}
