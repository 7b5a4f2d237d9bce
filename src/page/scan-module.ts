import { createRequire } from 'node:module'
import { compileWasm, type WasmCode } from '../ground/webassembly.ts'

/** A memory that can grow; after each growth it has another buffer. */
interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** A number that the WebAssembly code changes. */
interface WasmNumber {
  readonly value: number
}

/** The exports of `wasm/scan.ts`. Addresses are offsets in `memory`. */
export interface ScanExports {
  readonly memory: WasmMemory
  nameAt(which: number): number
  name(which: number, length: number): void
  begin(maxRecordBytes: number): void
  prepare(chunkBytes: number): number
  scan(): number
  place(): number
  readonly problemAt: WasmNumber
  readonly itemsSeen: WasmNumber
  readonly nextLinkAt: WasmNumber
  readonly nextLinkEnd: WasmNumber
  readonly deltaLinkAt: WasmNumber
  readonly deltaLinkEnd: WasmNumber
  readonly elements: WasmNumber
  readonly count: WasmNumber
  readonly rowsAt: WasmNumber
  readonly keysAt: WasmNumber
  readonly kindsAt: WasmNumber
  readonly partsAt: WasmNumber
  readonly windowAt: WasmNumber
  readonly isRising: WasmNumber
  readonly recordBytes: WasmNumber
  readonly highestVersion: WasmNumber
  fill(first: number, head: number, tail: number, removedTail: number): number
  readonly filled: WasmNumber
  /** Activates rules; must be called before the first page. */
  useRules(root: number): void
  /** Where `ScanHost.askReplacement` writes its result. */
  room(bytes: number): number
}

/** The functions that the scanner calls if there are rules: see `wasm/rewrite.ts`. */
export interface ScanHost {
  askRule(subject: number, start: number, end: number, depth: number): number
  askReplacement(subject: number, start: number, end: number): number
}

/** The compiled code, shared by all scanners of the process. */
export interface ScanModule {
  instantiate(host: ScanHost): ScanExports
}

let code: WasmCode<ScanExports> | undefined

/** Compiles the scanner at the first call. */
export function loadScanModule(): ScanModule {
  code ??= compileWasm(createRequire(import.meta.url).resolve('#scan.wasm'))
  const module = code
  return { instantiate: (host) => module.instantiate({ rewrite: host }) }
}
