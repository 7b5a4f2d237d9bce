import type { ObjectRules, RecordBatch } from '../records/record-batch.ts'

/** A page that must not be used, because it is incomplete or does not have the documented form. */
export class MalformedPageError extends Error {
  override name = 'MalformedPageError'
}

/** A page with a record, or another single part, above the limit of the scanner. */
export class RecordTooLargeError extends MalformedPageError {
  override name = 'RecordTooLargeError'
}

/**
 * A page that would be the same at the next request: a name, a key or a version is too long for a state or a warehouse, a
 * value is nested too deep, or a change is of an unknown kind.
 */
export class LastingDamageError extends MalformedPageError {
  override name = 'LastingDamageError'
}

/** The maximum length of a member name, a key and a version in bytes; `wasm/memory.ts` has the same. */
export const MAX_TEXT = 1024

/** The possible problems of a body, in the order of their numbers in the scanner (from 1). */
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
  'unknown-change',
  'not-utf8',
  'empty',
  'cut-in-element',
  'cut',
  'items-missing',
] as const

export interface Problem {
  readonly kind: (typeof problemKinds)[number]
  /** The offset in the body. */
  readonly at: number
  /** The number of complete elements of `value` before the problem. */
  readonly elements: number
}

/** The facts about a page that messages need. */
export interface PageFacts {
  readonly key: string
  readonly maxRecordBytes: number
  /** The first bytes of the body. */
  readonly opening: Uint8Array
}

/** The error for a problem. It quotes the body only if that looks like a web page. */
export function damage({ kind, at, elements }: Problem, facts: PageFacts): MalformedPageError {
  const element = `element ${elements + 1} of \`value\``
  switch (kind) {
    case 'not-json':
      return new MalformedPageError(`the body is not JSON at byte ${at}${startOf(facts.opening)}`)
    case 'too-deep':
      return new LastingDamageError(`the body is nested deeper than 256 levels at byte ${at}`)
    case 'not-an-object':
      return new MalformedPageError('the body is JSON, but not an object')
    case 'items-not-a-list':
      return new MalformedPageError('`value` is not an array')
    case 'items-twice':
      return new MalformedPageError(`the body has the duplicate key \`value\`, at byte ${at}`)
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
      return new LastingDamageError(`the name at byte ${at} is longer than ${MAX_TEXT} bytes`)
    case 'key-too-long':
      return new LastingDamageError(
        `${element} has a \`${facts.key}\` that is longer than ${MAX_TEXT} bytes`,
      )
    case 'version-too-long':
      return new LastingDamageError(
        `${element} has a version that is longer than ${MAX_TEXT} bytes`,
      )
    case 'unknown-change':
      return new LastingDamageError(
        `${element} has a \`changeType\` that says neither that it was deleted nor that it was inserted or updated`,
      )
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
 * Describes the tag with which a web page begins. Nothing else of a body is quoted, because it may be personal data
 * or a secret, and a secret that is cut off could not be masked.
 */
function startOf(opening: Uint8Array): string {
  const [tag] =
    /^<[!?]?[a-z]{1,10}\b/i.exec(Buffer.from(opening).toString('latin1').trimStart()) ?? []
  return tag === undefined ? '' : ` (it starts with \`${tag}\`, like a web page)`
}

/** The members to look for at the top level of each record. All names and values are printable ASCII. */
export interface RecordShape {
  /** The member that identifies a record; every record must have it, and not as null. */
  readonly key: string
  /** The member with the version of a record, a string. */
  readonly version: string
  /** The member and its value that mark a deleted record. */
  readonly deleted?: { readonly field: string; readonly value: string }
  /** A member that is an array: if it is a single object, it is passed on as an array of one. */
  readonly array?: string
  /** The member with the date of a record. */
  readonly date?: string
}

/**
 * Finds the records of a page `{"value": [...], "nextLink": ..., "deltaLink": ...}` in its bytes. The whole body is
 * checked, so that nothing but valid JSON (RFC 8259, at most 256 levels) reaches the records. After an error only
 * `begin` may be called.
 */
export interface PageScanner {
  /** Begins a new page. */
  begin(): void
  /**
   * Scans the next chunks of the body, which may be cut anywhere, and returns one batch for all of them. Chunks need
   * not be joined by the caller.
   *
   * @throws MalformedPageError, RecordTooLargeError, LastingDamageError
   */
  push(...chunks: readonly Uint8Array[]): RecordBatch
  /** Ends the page. @throws MalformedPageError if the body is not complete */
  end(): PageEnd
}

export interface ScannerOptions {
  /** Larger elements are an error. Default: 16 MiB. */
  readonly maxRecordBytes?: number
  /** What happens to the members of records; by default all are kept. */
  readonly rules?: ObjectRules | undefined
  /** The rules of a selection, which are applied after `rules`; the batches have it as `selection`. */
  readonly selection?: ObjectRules | undefined
}

/** The result of a complete page. */
export interface PageEnd {
  /** Never empty. */
  readonly nextLink?: string | undefined
  readonly deltaLink?: string | undefined
  /** The number of elements of `value`. */
  readonly count: number
}

/** Scans a body that is UTF-8 without a byte order mark. After a problem only `begin` may be called. */
export interface ScanEngine {
  begin(): void
  /** Scans the chunks as if they were one. */
  scan(chunks: readonly Uint8Array[]): RecordBatch | Problem
  end(): PageEnd | Problem
}

/** A longer link is found when its page is scanned. */
const TAIL_BYTES = 4096
const NEXT_LINK = Buffer.from('"nextLink"')
/** Matches the member and the brace that ends the page, from the name on. */
const LAST_MEMBER = /^"nextLink"\s*:\s*("(?:[^"\\]|\\.)+")\s*\}\s*$/
/** Matches what comes before a member. */
const BEFORE_MEMBER = /[{,]\s*$/

/**
 * Returns the next link of a page that ends with it, without scanning the records, so that the next page can be
 * requested before this one is processed. In a valid page nothing else can match; undefined if the page ends with
 * something else.
 */
export function lastNextLink(chunks: readonly Buffer[]): string | undefined {
  const tail = tailOf(chunks)
  const at = tail.lastIndexOf(NEXT_LINK)
  if (at < 0 || !BEFORE_MEMBER.test(tail.toString('latin1', Math.max(0, at - 16), at)))
    return undefined
  const [, text] = LAST_MEMBER.exec(tail.toString('utf8', at)) ?? []
  try {
    return text === undefined ? undefined : (JSON.parse(text) as string)
  } catch {
    return undefined
  }
}

function tailOf(chunks: readonly Buffer[]): Buffer {
  const last = chunks.at(-1)
  if (last !== undefined && last.length >= TAIL_BYTES) return last.subarray(-TAIL_BYTES)
  const parts: Buffer[] = []
  for (let i = chunks.length - 1, missing = TAIL_BYTES; i >= 0 && missing > 0; i--) {
    const part = (chunks[i] as Buffer).subarray(-missing)
    parts.unshift(part)
    missing -= part.length
  }
  return Buffer.concat(parts)
}
