import { guarded } from './guarded-scanner.ts'
import type { PageScanner, RecordShape, ScannerOptions } from './page-scanner.ts'
import { loadScanModule } from './scan-module.ts'
import { createWasmEngine } from './wasm-engine.ts'

/** The scanner in WebAssembly; compiles it on the first call. */
export function createWasmScanner(shape: RecordShape, options: ScannerOptions): PageScanner {
  const module = loadScanModule()
  return guarded(shape, options, (maxRecordBytes) =>
    createWasmEngine(module, shape, maxRecordBytes),
  )
}
