import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

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
  highestVersion(): number
  lineBytes(head: number, tail: number, removedTail: number): number
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

// The parts of the WebAssembly interface that are used here; neither ES2023 nor Node's types declare them.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

let module: ScanModule | undefined

/**
 * Compiles the scanner at the first call, synchronously: asynchronous compilation takes 0.1 s longer if other code
 * was compiled before.
 */
export function loadScanModule(): ScanModule {
  module ??= compile()
  return module
}

function compile(): ScanModule {
  const path = createRequire(import.meta.url).resolve('#scan.wasm')
  const code = new WebAssembly.Module(readFileSync(path))
  return {
    instantiate: (host) => new WebAssembly.Instance(code, { rewrite: host }).exports as ScanExports,
  }
}
