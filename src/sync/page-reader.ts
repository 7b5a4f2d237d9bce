import { createPageScanner } from '../page/create-page-scanner.ts'
import { MalformedPageError } from '../page/malformed-page.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import { createJsonBatch } from '../protocol/json-batch.ts'
import type { Stream } from '../streams/collection.ts'
import type { PageReader } from './pages.ts'

/** How the pages of a stream are read: external references are made into records, all else is spliced. */
export function createPageReader({ nested, softDelete, array }: Stream): PageReader {
  if (nested === 'referenced_collections') return { parse: references }
  return {
    scanner: createPageScanner({
      key: 'id',
      version: 'changeVersion',
      ...(softDelete === undefined ? {} : { deleted: softDelete }),
      ...(array === undefined ? {} : { array }),
    }),
  }
}

function references(body: Buffer, collection: string) {
  try {
    const { references, nextLink } = parseReferencePage(body.toString('utf8'), collection)
    const records = references.map((reference) => ({
      json: JSON.stringify(reference),
      key: JSON.stringify([reference.collection, reference.name, reference.value]),
    }))
    const end = { count: records.length, ...(nextLink === undefined ? {} : { nextLink }) }
    return { batch: createJsonBatch(records), end }
  } catch (error) {
    if (error instanceof SyntaxError) throw new MalformedPageError(error.message, { cause: error })
    throw error
  }
}
