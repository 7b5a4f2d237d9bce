import { exactTextOfBody } from '../ground/json.ts'
import { createPageScanner } from '../page/create-page-scanner.ts'
import {
  LastingDamageError,
  MAX_TEXT,
  MalformedPageError,
  type PageEnd,
  type PageScanner,
} from '../page/page-scanner.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import type { Redaction } from '../privacy/redaction.ts'
import type { StreamRequest } from '../protocol/connector.ts'
import { createJsonBatch, type RecordBatch } from '../records/record-batch.ts'
import { rewriteRecord } from '../records/record-rules.ts'
import type { Stream } from '../streams/collections.ts'

/** How the bodies of a stream become batches: with a scanner, or parsed as a whole. */
export type PageReader =
  | { readonly scanner: PageScanner }
  /** Throws MalformedPageError. */
  | {
      readonly parse: (
        body: Buffer,
        slice: string,
      ) => { readonly batch: RecordBatch; readonly end: PageEnd }
    }

/** An empty object in JSON has two bytes, but takes thirty times as much memory. */
const MAX_PARSED_CONTAINERS = 150_000

/**
 * Creates the reader for the pages of a stream. External references are parsed and become records; the pages of all
 * other streams are scanned. Records are returned after redaction, and after the selection if there is a scanner.
 */
export function createPageReader(
  { nested, softDelete, array, dateField }: Stream,
  { rules, rulesOf = () => undefined }: Pick<Redaction, 'rules' | 'rulesOf'>,
  maxRecordMb: number,
  selection?: StreamRequest['selection'],
): PageReader {
  if (nested === 'referenced_collections')
    return { parse: (body, collection) => references(body, collection, rulesOf) }
  const shape = {
    key: 'id',
    version: 'changeVersion',
    ...(softDelete === undefined ? {} : { deleted: softDelete }),
    ...(array === undefined ? {} : { array }),
    ...(dateField === undefined ? {} : { date: dateField }),
  }
  return {
    scanner: createPageScanner(shape, {
      maxRecordBytes: maxRecordMb * 1024 ** 2,
      rules,
      selection,
    }),
  }
}

type RulesOf = NonNullable<Redaction['rulesOf']>

/** An upper limit for the number of objects and arrays in a JSON text: braces in strings count, too. */
function containersIn(body: Buffer): number {
  let count = 0
  for (const byte of body) if (byte === 0x7b || byte === 0x5b) count++
  return count
}

function references(body: Buffer, collection: string, rulesOf: RulesOf) {
  if (containersIn(body) > MAX_PARSED_CONTAINERS)
    throw new MalformedPageError(`it has more than ${MAX_PARSED_CONTAINERS} objects and lists`)
  try {
    const { references, nextLink } = parseReferencePage(exactTextOfBody([body]), collection)
    const records = references.flatMap((reference) => {
      const { name, value, internalReference } = reference
      if ([name, value, internalReference ?? ''].some((text) => Buffer.byteLength(text) > MAX_TEXT))
        throw new LastingDamageError(`a reference has a text that is longer than ${MAX_TEXT} bytes`)
      const rules = rulesOf(reference)
      if (rules === 'drop') return []
      const whole = JSON.stringify(reference)
      // The state stores keys, so they are made of hashed values.
      const json = rules === undefined ? whole : rewriteRecord(Buffer.from(whole), rules)
      const left = JSON.parse(json) as typeof reference
      return [
        { json, received: whole, key: JSON.stringify([left.collection, left.name, left.value]) },
      ]
    })
    return { batch: createJsonBatch(records), end: { count: references.length, nextLink } }
  } catch (error) {
    if (error instanceof SyntaxError) throw new MalformedPageError(error.message, { cause: error })
    throw error
  }
}
