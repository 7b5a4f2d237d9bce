import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ColumnType } from './column.ts'

/** What `wasm/rows.ts` exports. Addresses are offsets in `memory`, which never grows. */
interface RowExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly generationAt: { readonly value: number }
  readonly linesAt: { readonly value: number }
  readonly linesRoom: { readonly value: number }
  readonly rowsAt: { readonly value: number }
  readonly rowsEnd: { readonly value: number }
  readonly count: { readonly value: number }
  readonly longest: { readonly value: number }
  addColumn(type: number, nameLength: number): number
  encode(at: number, end: number, generationLength: number): number
}

// The part of the WebAssembly interface used here: neither ES2023 nor node's types describe it.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { readonly exports: unknown }
}

/** The numbers of types in `wasm/rows.ts` are their places. */
const TYPES: readonly ColumnType[] = [
  ...(['JSON', 'VARCHAR', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP_NS'] as const),
]
const NEWLINE = 0x0a

let code: object | undefined

/** Takes rows, which are valid until it returns. */
interface RowSink {
  append(rows: Buffer, count: number, longest: number): void
}

/**
 * The rows of plain records: without escapes, white space and deletes, with names that columns have and values that
 * fit them. They are what `createRowEncoder` makes of them, in a tenth of the time.
 */
export class PlainRows {
  readonly #wasm: RowExports
  readonly #memory: Buffer
  #lines: Buffer = Buffer.alloc(0)
  #generationLength = 0
  /** The lines from here to there are in the memory. */
  #from = 0
  #to = 0

  constructor() {
    code ??= new WebAssembly.Module(
      readFileSync(createRequire(import.meta.url).resolve('#rows.wasm')),
    )
    this.#wasm = new WebAssembly.Instance(code).exports as RowExports
    this.#memory = Buffer.from(this.#wasm.memory.buffer)
  }

  /** Rows have one more column from now on. */
  addColumn(type: ColumnType, name: Buffer): void {
    const at = this.#wasm.addColumn(TYPES.indexOf(type), name.length)
    if (at !== 0) name.copy(this.#memory, at)
  }

  begin(lines: Buffer, generation: number): void {
    this.#lines = lines
    this.#generationLength = this.#memory.write(String(generation), this.#wasm.generationAt.value)
    this.#to = 0
  }

  /** Makes rows from the line at `at` on, and answers where the first one begins that is not plain, or the end. */
  encode(at: number, text: RowSink): number {
    const { linesAt, rowsAt, rowsEnd, count, longest } = this.#wasm
    for (;;) {
      if (at >= this.#to) this.#load(at)
      const offset = linesAt.value - this.#from
      const end = this.#wasm.encode(at + offset, this.#to + offset, this.#generationLength)
      if (count.value === 0) return at
      at = end - offset
      text.append(this.#memory.subarray(rowsAt.value, rowsEnd.value), count.value, longest.value)
    }
  }

  /** Brings as many lines into the memory as it has room for; none where the first one is longer. */
  #load(at: number): void {
    const { linesAt, linesRoom } = this.#wasm
    const end = Math.min(at + linesRoom.value, this.#lines.length)
    this.#lines.copy(this.#memory, linesAt.value, at, end)
    this.#from = at
    this.#to =
      at + this.#memory.subarray(linesAt.value, linesAt.value + end - at).lastIndexOf(NEWLINE) + 1
  }
}
