import type { ObjectRules, RecordBatch } from '../records/record-batch.ts'

/** A page body that must not be used, because it is incomplete or not what the service promises. */
export class MalformedPageError extends Error {
  override name = 'MalformedPageError'
}

/** A body with a record, or another single part, above the limit of its scanner. */
export class RecordTooLargeError extends MalformedPageError {
  override name = 'RecordTooLargeError'
}

/** A body with a name, a key or a version that no state and no warehouse could hold. */
export class TextTooLongError extends MalformedPageError {
  override name = 'TextTooLongError'
}

/** Longest name of a member, key and version in bytes, as `wasm/layout.ts` has it. */
export const MAX_TEXT = 1024

/** What can be wrong with a body, in the order of the numbers in the scanner (from 1). */
export const problemKinds = [
  'not-json',
  'too-deep',
  'not-an-object',
  'items-not-a-list',
  'items-twice',
  'element-not-an-object',
  'element-without-key',
  'element-too-large',
  'link-not-text',
  'trailing',
  'text-too-large',
  'name-too-long',
  'key-too-long',
  'version-too-long',
  'not-utf8',
  'empty',
  'cut-in-element',
  'cut',
  'items-missing',
] as const

export interface Problem {
  readonly kind: (typeof problemKinds)[number]
  /** Offset in the body. */
  readonly at: number
  /** Elements of `value` that were complete before. */
  readonly elements: number
}

/** What the words of a problem need to know of the page. */
export interface PageFacts {
  readonly key: string
  readonly maxRecordBytes: number
  /** The first bytes of the body. */
  readonly opening: Uint8Array
}

/** The error to throw for a problem. Quotes the body only where it does not look like JSON at all. */
export function damage({ kind, at, elements }: Problem, facts: PageFacts): MalformedPageError {
  const element = `element ${elements + 1} of \`value\``
  switch (kind) {
    case 'not-json':
      return new MalformedPageError(`the body is not JSON at byte ${at}${startOf(facts.opening)}`)
    case 'too-deep':
      return new MalformedPageError(`the body is nested deeper than 256 levels at byte ${at}`)
    case 'not-an-object':
      return new MalformedPageError('the body is JSON, but not an object')
    case 'items-not-a-list':
      return new MalformedPageError('`value` is not an array')
    case 'items-twice':
      return new MalformedPageError(`the body has \`value\` twice, again at byte ${at}`)
    case 'element-not-an-object':
      return new MalformedPageError(`${element} is not an object`)
    case 'element-without-key':
      return new MalformedPageError(`${element} has no \`${facts.key}\``)
    case 'element-too-large':
      return new RecordTooLargeError(`${element} is larger than ${facts.maxRecordBytes} bytes`)
    case 'link-not-text':
      return new MalformedPageError(`the link at byte ${at} is neither a string nor null`)
    case 'trailing':
      return new MalformedPageError(`the body continues after its end, at byte ${at}`)
    case 'text-too-large':
      return new RecordTooLargeError(
        `the name or link at byte ${at} is larger than ${facts.maxRecordBytes} bytes`,
      )
    case 'name-too-long':
      return new TextTooLongError(`the name at byte ${at} is longer than ${MAX_TEXT} bytes`)
    case 'key-too-long':
      return new TextTooLongError(
        `${element} has a \`${facts.key}\` that is longer than ${MAX_TEXT} bytes`,
      )
    case 'version-too-long':
      return new TextTooLongError(`${element} has a version that is longer than ${MAX_TEXT} bytes`)
    case 'not-utf8':
      return new MalformedPageError(`the body is not UTF-8 text, somewhere after byte ${at}`)
    case 'empty':
      return new MalformedPageError('the body is empty')
    case 'cut-in-element':
      return new MalformedPageError(`the body ends inside ${element}`)
    case 'cut':
      return new MalformedPageError(`the body ends at byte ${at}, before it is complete`)
    case 'items-missing':
      return new MalformedPageError('the body has no `value`')
  }
}

/**
 * The tag that a web page begins with. Nothing else of a body is shown: it may hold personal data,
 * or a secret, which cut off could not be told any more.
 */
function startOf(opening: Uint8Array): string {
  const [tag] =
    /^<[!?]?[a-z]{1,10}\b/i.exec(Buffer.from(opening).toString('latin1').trimStart()) ?? []
  return tag === undefined ? '' : ` (it starts with \`${tag}\`, like a web page)`
}

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
   * copy that joins them. @throws MalformedPageError, RecordTooLargeError, TextTooLongError
   */
  push(...chunks: readonly Uint8Array[]): RecordBatch
  /** Ends the page. @throws MalformedPageError if the body is not complete */
  end(): PageEnd
}

export interface ScannerOptions {
  /** A larger element is an error; 16 MiB if not given. */
  readonly maxRecordBytes?: number
  /** What becomes of the members of records; left out where all stay. */
  readonly rules?: ObjectRules | undefined
  /** What is left of them after that; its batches say so. */
  readonly selection?: ObjectRules | undefined
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
  scan(chunks: readonly Uint8Array[]): RecordBatch | Problem
  end(): PageEnd | Problem
}
