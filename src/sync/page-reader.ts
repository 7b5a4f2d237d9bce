import { createPageScanner } from '../page/create-page-scanner.ts'
import { MalformedPageError } from '../page/malformed-page.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import { createJsonBatch } from '../protocol/json-batch.ts'
import {
  createRecordRewriter,
  type ObjectRules,
  type RecordRewriter,
  rewritten,
} from '../protocol/record-rewriter.ts'
import type { Stream } from '../streams/collection.ts'
import type { PageReader } from './pages.ts'

/** How the pages of a stream are read: external references are made into records, all else is spliced. */
export function createPageReader(
  { nested, softDelete, array }: Stream,
  rules: ObjectRules | undefined,
): PageReader {
  if (nested === 'referenced_collections') {
    const rewrite = rules && createRecordRewriter(rules)
    return { parse: (body, collection) => references(body, collection, rewrite) }
  }
  return {
    scanner: createPageScanner({
      key: 'id',
      version: 'changeVersion',
      ...(softDelete === undefined ? {} : { deleted: softDelete }),
      ...(array === undefined ? {} : { array }),
    }),
  }
}

function references(body: Buffer, collection: string, rewrite: RecordRewriter | undefined) {
  try {
    const { references, nextLink } = parseReferencePage(body.toString('utf8'), collection)
    const records = references.map((reference) => {
      const whole = JSON.stringify(reference)
      // The state holds keys, so what is hashed is hashed before it is one.
      const json =
        rewrite === undefined ? whole : rewritten(Buffer.from(whole), rewrite).toString('utf8')
      const left = JSON.parse(json) as typeof reference
      return { json, key: JSON.stringify([left.collection, left.name, left.value]) }
    })
    const end = { count: records.length, ...(nextLink === undefined ? {} : { nextLink }) }
    return { batch: createJsonBatch(records), end }
  } catch (error) {
    if (error instanceof SyntaxError) throw new MalformedPageError(error.message, { cause: error })
    throw error
  }
}
