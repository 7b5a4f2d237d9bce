import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** A memory that grows; its buffer is another one after each growth. */
interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** A number that the WebAssembly side changes. */
interface WasmNumber {
  readonly value: number
}

/** What `wasm/scan.ts` exports. Addresses are offsets in `memory`. */
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
  /** From now on there are rules; before the first page. */
  useRules(root: number): void
  /** Where `ScanHost.askReplacement` writes. */
  room(bytes: number): number
}

/** What the scanner asks for where there are rules; see `wasm/host.ts`. */
export interface ScanHost {
  askRule(subject: number, start: number, end: number, depth: number): number
  askReplacement(subject: number, start: number, end: number): number
}

/** Compiled code, shared by all scanners of the process. */
export interface ScanModule {
  instantiate(host: ScanHost): ScanExports
}

// The part of the WebAssembly interface used here: neither ES2023 nor node's types describe it.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

let module: ScanModule | undefined

/**
 * Compiles the scanner when it is first asked for, and at once: the asynchronous way ends a tenth
 * of a second later when other code was compiled before.
 */
export function loadScanModule(): ScanModule {
  module ??= compile()
  return module
}

function compile(): ScanModule {
  const path = createRequire(import.meta.url).resolve('#scan.wasm')
  const code = new WebAssembly.Module(readFileSync(path))
  return {
    instantiate: (host) => new WebAssembly.Instance(code, { host }).exports as ScanExports,
  }
}
