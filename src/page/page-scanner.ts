import type { Batch } from '../protocol/record-batch.ts'
import type { Problem } from './malformed-page.ts'

/** What to look for among the top-level members of each record. The texts are printable ASCII. */
export interface RecordShape {
  /** The member that identifies a record: every record must have it, and not as null. */
  readonly key: string
  /** The member whose string orders the versions of a record. */
  readonly version: string
  /** The value of a member that marks a deleted record. */
  readonly deleted?: { readonly field: string; readonly value: string }
  /** A member that is an array: a lone object in its place is passed on as an array of one. */
  readonly array?: string
}

/**
 * Finds the records of a page `{"value": [...], "nextLink": ..., "deltaLink": ...}` in its bytes.
 * The whole body is checked: nothing that is not JSON (RFC 8259, at
 * most 256 levels) reaches the records. After an error only `begin` is useful.
 */
export interface PageScanner {
  /** Forgets the previous page. */
  begin(): void
  /**
   * Takes the next bytes of the body, in chunks cut anywhere: one batch for all of them, without a
   * copy that joins them. @throws MalformedPageError, RecordTooLargeError
   */
  push(...chunks: readonly Uint8Array[]): Batch
  /** Ends the page. @throws MalformedPageError if the body is not complete */
  end(): PageEnd
}

/** Limits of a scanner. */
export interface ScannerOptions {
  /** A larger element is an error; 64 MiB if not given. */
  readonly maxRecordBytes?: number
}

/** How a complete page ended. */
export interface PageEnd {
  readonly nextLink?: string
  readonly deltaLink?: string
  /** Elements of `value`. */
  readonly count: number
}

/** Reads the bytes of a body that are UTF-8 and have no byte order mark; after a problem only `begin` helps. */
export interface ScanEngine {
  begin(): void
  /** Takes the chunks together, as if they were one. */
  scan(chunks: readonly Uint8Array[]): Batch | Problem
  end(): PageEnd | Problem
}
