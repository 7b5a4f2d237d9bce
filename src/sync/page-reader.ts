import { createPageScanner } from '../page/create-page-scanner.ts'
import { MalformedPageError } from '../page/malformed-page.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import { createJsonBatch } from '../protocol/json-batch.ts'
import type { PageReader } from './pages.ts'
import type { Progress } from './progress.ts'

/** How the pages of a stream are read: external references are made into records, all else is spliced. */
export function createPageReader(progress: Progress): PageReader {
  const { stream } = progress
  if (stream.nested === 'referenced_collections') {
    return { parse: (body) => references(body, progress.slice ?? '') }
  }
  const { softDelete, array } = stream
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
