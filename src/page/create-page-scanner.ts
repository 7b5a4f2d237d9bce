import { isUtf8 } from 'node:buffer'
import type { RecordBatch } from '../records/record-batch.ts'
import {
  damage,
  type PageEnd,
  type PageScanner,
  type Problem,
  type RecordShape,
  type ScanEngine,
  type ScannerOptions,
} from './page-scanner.ts'
import { loadScanModule } from './scan-module.ts'
import { createWasmEngine } from './wasm-engine.ts'

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const OPENING_BYTES = 64

/** Removes the byte order mark of a body, and checks that the rest is UTF-8, wherever the chunks are cut. */
class BodyGuard {
  /** The bytes of the byte order mark so far. */
  markBytes = 0
  #markOpen = true
  #opening = Buffer.alloc(0)
  /** The bytes of a character that the previous chunk did not complete: at most 3. */
  #unfinished: number[] = []

  /** The first bytes of the body, for error messages. */
  get opening(): Uint8Array {
    return this.#opening
  }

  /** Returns the part of the chunk to scan, or undefined if it is not UTF-8. */
  accept(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#opening.length < OPENING_BYTES) {
      const more = chunk.subarray(0, OPENING_BYTES - this.#opening.length)
      this.#opening = Buffer.concat([this.#opening, more])
    }
    if (!this.#isText(chunk)) return undefined
    return this.#markOpen ? this.#withoutMark(chunk) : chunk
  }

  #withoutMark(chunk: Uint8Array): Uint8Array {
    let at = 0
    while (this.#markOpen && at < chunk.length) {
      if (chunk[at] === BYTE_ORDER_MARK[this.markBytes]) {
        at++
        this.markBytes++
        this.#markOpen = this.markBytes < BYTE_ORDER_MARK.length
      } else this.#markOpen = false
    }
    return chunk.subarray(at)
  }

  #isText(chunk: Uint8Array): boolean {
    let from = 0
    if (this.#unfinished.length > 0) {
      const missing = lengthOfCharacter(this.#unfinished[0] ?? 0) - this.#unfinished.length
      from = Math.min(missing, chunk.length)
      this.#unfinished.push(...chunk.subarray(0, from))
      if (from < missing) return this.#mayGoOn()
      if (!isUtf8(Uint8Array.from(this.#unfinished))) return false
      this.#unfinished = []
    }
    const to = completeLength(chunk, from)
    if (to < chunk.length) this.#unfinished = [...chunk.subarray(to)]
    return isUtf8(chunk.subarray(from, to)) && this.#mayGoOn()
  }

  /** Whether further bytes could complete the unfinished character. */
  #mayGoOn(): boolean {
    return this.#unfinished.slice(1).every((byte) => byte >> 6 === 0b10)
  }
}

/** The length in bytes of the UTF-8 character that begins with `first`; 1 if it begins none. */
function lengthOfCharacter(first: number): number {
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}

/** The start of a last character that the chunk does not complete, otherwise the length of the chunk. */
function completeLength(chunk: Uint8Array, from: number): number {
  for (let at = chunk.length - 1; at >= Math.max(from, chunk.length - 3); at--) {
    const byte = chunk[at] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return at + lengthOfCharacter(byte) > chunk.length ? at : chunk.length
  }
  return chunk.length
}

const MEBIBYTE = 1024 * 1024

/** Creates a scanner for the pages of one stream, one page after the other. The first call compiles it. */
export function createPageScanner(shape: RecordShape, options: ScannerOptions = {}): PageScanner {
  const module = loadScanModule()
  return guarded(shape, options, (maxRecordBytes) =>
    createWasmEngine(module, shape, maxRecordBytes, options),
  )
}

/** Wraps an engine so that it gets only UTF-8 text. */
export function guarded(
  shape: RecordShape,
  { maxRecordBytes = 16 * MEBIBYTE }: ScannerOptions,
  createEngine: (maxRecordBytes: number) => ScanEngine,
): PageScanner {
  return new GuardedScanner(shape.key, maxRecordBytes, createEngine(maxRecordBytes))
}

class GuardedScanner implements PageScanner {
  readonly #key: string
  readonly #maxRecordBytes: number
  readonly #engine: ScanEngine
  #guard = new BodyGuard()
  #bytes = 0
  #damage: Error | undefined

  constructor(key: string, maxRecordBytes: number, engine: ScanEngine) {
    this.#key = key
    this.#maxRecordBytes = maxRecordBytes
    this.#engine = engine
  }

  begin(): void {
    this.#guard = new BodyGuard()
    this.#bytes = 0
    this.#damage = undefined
    this.#engine.begin()
  }

  push(...chunks: readonly Uint8Array[]): RecordBatch {
    if (this.#damage !== undefined) throw this.#damage
    const batch = this.#engine.scan(chunks.map((chunk) => this.#accept(chunk)))
    if ('kind' in batch) throw this.#fail(batch)
    return batch
  }

  #accept(chunk: Uint8Array): Uint8Array {
    const text = this.#guard.accept(chunk)
    if (text === undefined) throw this.#fail({ kind: 'not-utf8', at: this.#bytes, elements: 0 })
    this.#bytes += chunk.length
    return text
  }

  end(): PageEnd {
    if (this.#damage !== undefined) throw this.#damage
    const end = this.#engine.end()
    if ('kind' in end) throw this.#fail(end)
    return end
  }

  #fail(problem: Problem): Error {
    this.#damage = damage(
      { ...problem, at: problem.at + (problem.kind === 'not-utf8' ? 0 : this.#guard.markBytes) },
      { key: this.#key, maxRecordBytes: this.#maxRecordBytes, opening: this.#guard.opening },
    )
    return this.#damage
  }
}
