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
 * Finds the records of a page `{"value": [...], "nextLink": ..., "deltaLink": ...}` in its bytes
 * (envelope: api.md 3 and 4). The whole body is checked: nothing that is not JSON (RFC 8259, at
 * most 256 levels) reaches the records. After an error only `begin` is useful.
 */
export interface PageScanner {
  /** Forgets the previous page. */
  begin(): void
  /**
   * Takes the next bytes of the body, in chunks cut anywhere: one batch for all of them, without a
   * copy that joins them. @throws DamagedPage, RecordTooLarge
   */
  push(...chunks: readonly Uint8Array[]): Batch
  /** Ends the page. @throws DamagedPage if the body is not complete */
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

/** Kinds of a record in `Batch.kinds`. */
export const LIVE = 0
/** A change envelope whose `changeType` is `Delete` (api.md 4.2). */
export const REMOVED = 1
/** A live record that carries the soft-delete mark of its shape (api.md 4.4). */
export const MARKED = 2
/** Written by the caller: `lines` leaves the record out. */
export const SKIP = 3

/**
 * What a line is made of: `head`, the record without its final brace, and a tail. A tail begins
 * with a comma and closes the object and the line.
 */
export interface LineParts {
  readonly head: Uint8Array
  /** Behind a live record. */
  readonly tail: Uint8Array
  /** Behind a removed or marked record. */
  readonly removedTail: Uint8Array
}

/**
 * The elements of `value` that one chunk completed, in their order. Everything but the answer of
 * `lines` is valid until the next `push` or `begin` of its scanner.
 */
export interface Batch {
  readonly count: number
  /** LIVE, REMOVED or MARKED for each record; the caller may overwrite an entry with SKIP. */
  readonly kinds: Uint8Array
  /** Keys that are written as an integer from 0 to 2^53 - 1; NaN for any other. */
  readonly keys: Float64Array
  /** The key as it stands in the body: `12`, `"a-b"`. */
  keyText(index: number): string
  /** The version without quotes and escapes; undefined if it is missing or not a string. */
  versionText(index: number): string | undefined
  /** The highest version of the batch by comparison of strings, skipped records included. */
  readonly highestVersion: string | undefined
  /**
   * The bytes of the record; line breaks between its tokens are spaces, and a lone object is in an
   * array where the shape says so.
   */
  record(index: number): Uint8Array
  /**
   * The lines of all records that are not SKIP, in a buffer of their own: the caller may keep it,
   * or hand it to a line writer, which uses it again for other lines.
   */
  lines(parts: LineParts): Uint8Array<ArrayBuffer>
}
/** A page body that must not be used, because it is incomplete or not what the service promises. */
export class DamagedPage extends Error {
  override name = 'DamagedPage'
}

/** A body with a record, or another single part, above the limit of its scanner. */
export class RecordTooLarge extends DamagedPage {
  override name = 'RecordTooLarge'
}
