import { readFileSync } from 'node:fs'
import { ConnectorError } from './errors.ts'

// The parts of the WebAssembly interface that are used here; neither ES2023 nor Node's types declare them.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports?: object) => { readonly exports: unknown }
}

/** The smallest module that has a memory. */
const WITH_MEMORY = Buffer.from('0061736d010000000503010001', 'hex')

/** Code that was compiled once, for any number of instances. */
export interface WasmCode<Exports> {
  /** Throws a config error if the process gets no memory for it. */
  instantiate(imports?: object): Exports
}

/**
 * Compiles a file, synchronously: asynchronous compilation takes 0.1 s longer if other code was compiled before.
 * Throws a config error if the process cannot run WebAssembly.
 */
export function compileWasm<Exports>(path: string): WasmCode<Exports> {
  return compile(readFileSync(path))
}

/**
 * Throws a config error if the process cannot run WebAssembly. The HTTP client would report that as a broken connection,
 * which is tried again.
 */
export function assertWasm(): void {
  compile(WITH_MEMORY).instantiate()
}

function compile<Exports>(bytes: Uint8Array): WasmCode<Exports> {
  const code = needed(() => new WebAssembly.Module(bytes))
  return {
    instantiate: (imports) =>
      needed(() => new WebAssembly.Instance(code, imports).exports as Exports),
  }
}

function needed<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new ConnectorError(
      'config',
      'no-webassembly',
      `WebAssembly cannot be used in this process: ${(error as Error).message}. Node must not be run with --jitless. If the address space is limited (ulimit -v), raise the limit, or set NODE_OPTIONS=--disable-wasm-trap-handler.`,
      { cause: error },
    )
  }
}
