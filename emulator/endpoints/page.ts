import type { ResolvedOptions } from '../options.ts'
import { type Id, position, type StoredRecord } from '../store/store.ts'

/** Part of a list: the records, and whether matching ones follow. */
export interface Page {
  readonly records: readonly StoredRecord[]
  readonly more: boolean
}

/**
 * The first `size` matching records with an id after `after` (undefined: from the start), as they are
 * now.
 */
export function takePage(
  records: readonly StoredRecord[],
  after: Id | undefined,
  size: number,
  matches: (record: StoredRecord) => boolean,
): Page {
  const taken: StoredRecord[] = []
  for (let at = startOf(records, after); at < records.length; at += 1) {
    const record = records[at] as StoredRecord
    if (!matches(record)) continue
    if (taken.length === size) return { records: taken, more: true }
    taken.push(record)
  }
  return { records: taken, more: false }
}

/**
 * The body of a page of items that are JSON texts. A missing next link is left out in the
 * documentation, and null in the specification.
 */
export function pageBody(
  items: readonly string[],
  links: { readonly nextLink?: string | undefined; readonly deltaLink?: string | undefined },
  dialect: ResolvedOptions['dialect'],
): string {
  const nextLink = links.nextLink ?? (dialect === 'specification' ? null : undefined)
  const rest = JSON.stringify({ nextLink, deltaLink: links.deltaLink }).slice(1)
  return `{"value":[${items.join(',')}]${rest === '}' ? '' : ','}${rest}`
}

function startOf(records: readonly StoredRecord[], after: Id | undefined): number {
  if (after === undefined) return 0
  const at = position(records, after)
  return records[at]?.id === after ? at + 1 : at
}
