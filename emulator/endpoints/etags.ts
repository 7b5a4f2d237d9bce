import type { ServiceRequest } from '../http/http-types.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ResolvedOptions } from '../options.ts'
import type { StoredRecord } from '../store/store.ts'

/** The header of a record's version, where the service has ETags. */
export function etagOf(
  record: StoredRecord,
  { etags }: ResolvedOptions,
): Readonly<Record<string, string>> {
  return etags ? { etag: tagOf(record) } : {}
}

/**
 * Refuses a request whose `If-Match` does not name the record's present version. Without ETags the
 * header is ignored.
 */
export function checkVersion(
  { headers }: ServiceRequest,
  record: StoredRecord,
  { etags, staleEtag }: ResolvedOptions,
): void {
  const wanted = headers['if-match']
  if (!etags || wanted === undefined) return
  const tags = wanted.split(',').map((tag) => tag.trim())
  if (tags.includes('*') || tags.includes(tagOf(record))) return
  const status = staleEtag === 'conflict' ? 409 : 412
  throw new ServiceError(status, 'The record has changed since')
}

function tagOf({ version }: StoredRecord): string {
  return `"${version}"`
}
