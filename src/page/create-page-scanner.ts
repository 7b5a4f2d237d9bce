import type { Batch } from '../protocol/record-batch.ts'
import { damage, type Problem } from './malformed-page.ts'
import type {
  PageEnd,
  PageScanner,
  RecordShape,
  ScanEngine,
  ScannerOptions,
} from './page-scanner.ts'
import { loadScanModule } from './scan-module.ts'
import { BodyGuard } from './utf8-guard.ts'
import { createWasmEngine } from './wasm-engine.ts'

const MEBIBYTE = 1024 * 1024

/** A scanner for the pages of one stream, one page after the other; compiled on the first call. */
export function createPageScanner(shape: RecordShape, options: ScannerOptions = {}): PageScanner {
  const module = loadScanModule()
  return guarded(shape, options, (maxRecordBytes) =>
    createWasmEngine(module, shape, maxRecordBytes),
  )
}

/** A scanner around an engine that sees only UTF-8 text. */
export function guarded(
  shape: RecordShape,
  { maxRecordBytes = 64 * MEBIBYTE }: ScannerOptions,
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

  push(...chunks: readonly Uint8Array[]): Batch {
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
