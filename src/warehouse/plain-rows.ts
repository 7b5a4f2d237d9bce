import { createRequire } from 'node:module'
import { compileWasm, type WasmCode } from '../ground/webassembly.ts'

type Places = 'linesAt' | 'linesEnd' | 'rowsAt' | 'rowsEnd'

/** The exports of `wasm/rows.ts`. Places are offsets in `memory`, which never grows. */
interface RowExports extends Record<Places | 'count' | 'longest', { readonly value: number }> {
  readonly memory: { readonly buffer: ArrayBuffer }
  addColumn(type: number, nameLength: number): number
  encode(at: number, end: number): number
}

/** The numbers that `wasm/rows.ts` has for DuckDB's types. It has none for times, because hardly any stream has one. */
const TYPES = new Map(
  ['JSON', 'VARCHAR', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE'].map((type, number) => [type, number]),
)
const OTHER = TYPES.size
const NEWLINE = 0x0a

let code: WasmCode<RowExports> | undefined

/**
 * Encodes plain records to the same rows as `createRowEncoder`, but faster. A record is plain if it has no escapes, no
 * white space and no mark of a deletion, if each member has a column, and if each value fits its column.
 */
export class PlainRows {
  readonly #wasm: RowExports
  readonly #memory: Buffer
  #lines: Buffer = Buffer.alloc(0)
  /** The part of the lines that is in the memory of the WebAssembly. */
  #from = 0
  #to = 0

  constructor() {
    code ??= compileWasm(createRequire(import.meta.url).resolve('#rows.wasm'))
    this.#wasm = code.instantiate()
    this.#memory = Buffer.from(this.#wasm.memory.buffer)
  }

  /** Adds a column to the rows from now on. */
  addColumn(type: string, name: Buffer): void {
    const at = this.#wasm.addColumn(TYPES.get(type) ?? OTHER, name.length)
    if (at !== 0) name.copy(this.#memory, at)
  }

  /** Sets the lines for the next calls of `encode`. */
  begin(lines: Buffer): void {
    this.#lines = lines
    this.#to = 0
  }

  /** Gives the rows of the lines from `at` on; returns the start of the first line that is not plain, or the end. */
  encode(at: number, give: (rows: Buffer, count: number, longest: number) => void): number {
    const { linesAt, rowsAt, rowsEnd, count, longest } = this.#wasm
    for (let next = at; ; ) {
      if (next >= this.#to) this.#load(next)
      const offset = linesAt.value - this.#from
      const end = this.#wasm.encode(next + offset, this.#to + offset)
      if (count.value === 0) return next
      next = end - offset
      give(this.#memory.subarray(rowsAt.value, rowsEnd.value), count.value, longest.value)
    }
  }

  /** Copies as many whole lines as fit into the memory; none if the first one is too long. */
  #load(from: number): void {
    const { linesAt, linesEnd } = this.#wasm
    const size = this.#lines.copy(this.#memory.subarray(0, linesEnd.value), linesAt.value, from)
    const end = this.#memory.lastIndexOf(NEWLINE, linesAt.value + size - 1) + 1
    this.#from = from
    this.#to = from + Math.max(0, end - linesAt.value)
  }
}
