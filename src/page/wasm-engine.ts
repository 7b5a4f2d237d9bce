import type { RecordBatch } from '../records/record-batch.ts'
import {
  type PageEnd,
  type Problem,
  problemKinds,
  type RecordShape,
  type ScanEngine,
} from './page-scanner.ts'
import type { ScanExports, ScanModule } from './scan-module.ts'
import { WasmBatch } from './wasm-batch.ts'

/** The texts that a scanner compares with, in the order of their numbers (1 to 11) in the scanner. */
function namesOf({ key, version, deleted, array }: RecordShape): readonly string[] {
  const names = [
    key,
    version,
    deleted?.field ?? key,
    array ?? key,
    'data',
    'changeType',
    'value',
    'nextlink',
    'deltalink',
    deleted?.value ?? '',
    'Delete',
  ]
  for (const name of names) {
    if (!/^[ !#-[\]-~]{0,256}$/.test(name)) {
      throw new TypeError(
        `cannot look for ${JSON.stringify(name)}: use at most 256 plain characters`,
      )
    }
  }
  return names
}

/** Memory above this size is given back at the next page: one giant record must not stay for ever. */
const KEEP_MEMORY_BYTES = 32 * 1024 * 1024
/** The answers of `place()`. */
const DONE = 1
const NOTHING_YET = 2
const IN_ELEMENT = 3
/** The value of a link position that stands for null; 0 stands for no link in this chunk. */
const NULL_LINK = 1

/** The fast scanner. Each engine has a memory of its own. */
export function createWasmEngine(
  module: ScanModule,
  shape: RecordShape,
  maxRecordBytes: number,
): ScanEngine {
  return new WasmEngine(module, namesOf(shape), maxRecordBytes)
}

class WasmEngine implements ScanEngine {
  readonly #module: ScanModule
  readonly #names: readonly string[]
  readonly #maxRecordBytes: number
  #wasm: ScanExports
  /** Offset in the body of the first byte behind the chunk scanned last. */
  #bytes = 0
  #nextLink: string | undefined
  #deltaLink: string | undefined

  constructor(module: ScanModule, names: readonly string[], maxRecordBytes: number) {
    this.#module = module
    this.#names = names
    this.#maxRecordBytes = maxRecordBytes
    this.#wasm = this.#instantiate()
    this.begin()
  }

  begin(): void {
    if (this.#wasm.memory.buffer.byteLength > KEEP_MEMORY_BYTES) this.#wasm = this.#instantiate()
    this.#wasm.begin(this.#maxRecordBytes)
    this.#bytes = 0
    this.#nextLink = undefined
    this.#deltaLink = undefined
  }

  scan(chunks: readonly Uint8Array[]): RecordBatch | Problem {
    const wasm = this.#wasm
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const at = wasm.prepare(length) >>> 0
    const memory = new Uint8Array(wasm.memory.buffer)
    let to = at
    for (const chunk of chunks) {
      memory.set(chunk, to)
      to += chunk.length
    }
    const problem = wasm.scan()
    if (problem !== 0) {
      const kind = problemKinds[problem - 1] ?? 'not-json'
      return {
        kind,
        at: this.#bytes + (wasm.problemAt.value >>> 0) - at,
        elements: wasm.elements.value,
      }
    }
    this.#bytes += length
    this.#takeLinks()
    return new WasmBatch(wasm)
  }

  end(): PageEnd | Problem {
    const { elements, itemsSeen } = this.#wasm
    const place = this.#wasm.place()
    if (place !== DONE) {
      const kind = place === NOTHING_YET ? 'empty' : place === IN_ELEMENT ? 'cut-in-element' : 'cut'
      return { kind, at: this.#bytes, elements: elements.value }
    }
    if (itemsSeen.value === 0) return { kind: 'items-missing', at: this.#bytes, elements: 0 }
    return {
      ...(this.#nextLink !== undefined && { nextLink: this.#nextLink }),
      ...(this.#deltaLink !== undefined && { deltaLink: this.#deltaLink }),
      count: elements.value,
    }
  }

  #takeLinks(): void {
    const { nextLinkAt, nextLinkEnd, deltaLinkAt, deltaLinkEnd } = this.#wasm
    if (nextLinkAt.value !== 0) this.#nextLink = this.#link(nextLinkAt.value, nextLinkEnd.value)
    if (deltaLinkAt.value !== 0) this.#deltaLink = this.#link(deltaLinkAt.value, deltaLinkEnd.value)
  }

  #link(at: number, end: number): string | undefined {
    if (at === NULL_LINK) return undefined
    const { buffer } = this.#wasm.memory
    return JSON.parse(Buffer.from(buffer, at >>> 0, (end >>> 0) - (at >>> 0)).toString())
  }

  #instantiate(): ScanExports {
    const wasm = this.#module.instantiate()
    this.#names.forEach((name, index) => {
      Buffer.from(wasm.memory.buffer).write(name, wasm.nameAt(index + 1), 'latin1')
      wasm.name(index + 1, name.length)
    })
    return wasm
  }
}
