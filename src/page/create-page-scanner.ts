import { guarded } from './guarded-scanner.ts'
import type { PageScanner, RecordShape, ScannerOptions } from './page-scanner.ts'
import { loadScanModule } from './scan-module.ts'
import { createWasmEngine } from './wasm-engine.ts'

/** A scanner for the pages of one stream, one page after the other; compiled on the first call. */
export function createPageScanner(shape: RecordShape, options: ScannerOptions = {}): PageScanner {
  const module = loadScanModule()
  return guarded(shape, options, (maxRecordBytes) =>
    createWasmEngine(module, shape, maxRecordBytes),
  )
}
