import {
  acquireBuffer,
  type LineParts,
  type ObjectRules,
  type RecordBatch,
  SKIP,
  UPSERT,
} from '../records/record-batch.ts'
import type { ScanExports } from './scan-module.ts'

/** The layout of a row in 32-bit words: see `wasm/memory.ts`. */
const ROW_WORDS = 12
const LONE_START = 6
const LONE_END = 7
const FLAGS = 8
const CAME_START = 10
const CAME_END = 11
const ESCAPED_VERSION = 4
/** Special results of `highestVersion`, and the room for the parts of a line: see `wasm/batch.ts`. */
const NO_VERSION = -1
const UNPLAIN_VERSION = -2
const PARTS_ROOM = 65_536 - 16
/** The brackets around a single object that replaces an array. */
const OPENING = Buffer.from('[')
const CLOSING = Buffer.from(']')

/** A batch in the memory of its scanner. */
export class WasmBatch implements RecordBatch {
  readonly count: number
  readonly ops: Uint8Array
  readonly keys: Float64Array
  readonly selection: ObjectRules | undefined
  /** The scanner has already checked the JSON. */
  readonly fault = null
  readonly #wasm: ScanExports
  readonly #bytes: Buffer
  readonly #rows: Uint32Array

  constructor(wasm: ScanExports, selection: ObjectRules | undefined) {
    const { buffer } = wasm.memory
    this.#wasm = wasm
    this.selection = selection
    this.count = wasm.count.value
    this.#bytes = Buffer.from(buffer)
    this.#rows = new Uint32Array(buffer, wasm.rowsAt.value >>> 0, this.count * ROW_WORDS)
    this.keys = new Float64Array(buffer, wasm.keysAt.value >>> 0, this.count)
    this.ops = new Uint8Array(buffer, wasm.kindsAt.value >>> 0, this.count)
  }

  keyText(index: number): string {
    return this.#bytes.toString('utf8', this.#word(index, 2), this.#word(index, 3))
  }

  versionText(index: number): string | undefined {
    const start = this.#word(index, 4)
    if (start === 0) return undefined
    const text = this.#bytes.toString('utf8', start, this.#word(index, 5))
    return (this.#word(index, FLAGS) & ESCAPED_VERSION) === 0 ? text : JSON.parse(`"${text}"`)
  }

  get highestVersion(): string | undefined {
    const index = this.#wasm.highestVersion()
    if (index === NO_VERSION) return undefined
    return index === UNPLAIN_VERSION ? highest(this) : this.versionText(index)
  }

  record(index: number): Uint8Array {
    const start = this.#word(index, 0)
    const end = this.#word(index, 1)
    const loneStart = this.#word(index, LONE_START)
    if (loneStart === 0) return this.#bytes.subarray(start, end)
    const loneEnd = this.#word(index, LONE_END)
    return Buffer.concat([
      this.#bytes.subarray(start, loneStart),
      OPENING,
      this.#bytes.subarray(loneStart, loneEnd),
      CLOSING,
      this.#bytes.subarray(loneEnd, end),
    ])
  }

  received(index: number): Uint8Array {
    if (this.#word(index, LONE_START) !== 0) return this.record(index)
    return this.#bytes.subarray(this.#word(index, CAME_START), this.#word(index, CAME_END))
  }

  lines(parts: LineParts): Uint8Array {
    const { prefix, suffix, deleteSuffix } = parts
    const sizes = [prefix.length, suffix.length, deleteSuffix.length] as const
    const out = acquireBuffer(this.#wasm.lineBytes(...sizes))
    const fits = prefix.length + suffix.length + deleteSuffix.length <= PARTS_ROOM
    if (fits)
      this.#bytes.set(Buffer.concat([prefix, suffix, deleteSuffix]), this.#wasm.partsAt.value)
    let at = 0
    for (let index = 0; index < this.count; ) {
      if (fits) {
        index = this.#wasm.fill(index, ...sizes)
        const from = this.#wasm.windowAt.value
        const size = this.#wasm.filled.value
        out.set(this.#bytes.subarray(from, from + size), at)
        at += size
      }
      // The window is full, or this record cannot be written to it.
      if (index < this.count && (!fits || this.#wasm.filled.value === 0)) {
        at += this.#line(index++, parts, out, at)
      }
    }
    return out
  }

  #line(
    index: number,
    { prefix, suffix, deleteSuffix }: LineParts,
    out: Buffer,
    at: number,
  ): number {
    const kind = this.ops[index]
    if (kind === SKIP) return 0
    const record = this.record(index)
    const end = kind === UPSERT ? suffix : deleteSuffix
    out.set(prefix, at)
    out.set(record, at + prefix.length)
    out.set(end, at + prefix.length + record.length - 1)
    return prefix.length + record.length - 1 + end.length
  }

  #word(index: number, word: number): number {
    const value = this.#rows[index * ROW_WORDS + word]
    if (value === undefined) throw new RangeError(`the batch has no record ${index}`)
    return value
  }
}

/** The highest version of a batch, compared as strings. */
export function highest(batch: Pick<RecordBatch, 'count' | 'versionText'>): string | undefined {
  let best: string | undefined
  for (let index = 0; index < batch.count; index++) {
    const version = batch.versionText(index)
    if (version !== undefined && (best === undefined || version > best)) best = version
  }
  return best
}
