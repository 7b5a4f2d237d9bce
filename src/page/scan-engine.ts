import type { Batch } from '../protocol/record-batch.ts'
import type { Problem } from './malformed-page.ts'
import type { PageEnd } from './page-scanner.ts'

/** Reads the bytes of a body that are UTF-8 and have no byte order mark; after a problem only `begin` helps. */
export interface ScanEngine {
  begin(): void
  /** Takes the chunks together, as if they were one. */
  scan(chunks: readonly Uint8Array[]): Batch | Problem
  end(): PageEnd | Problem
}
