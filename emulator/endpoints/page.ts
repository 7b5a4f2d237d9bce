import type { ListFault } from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import type { StoredRecord } from '../store/store.ts'

/** Part of a list: the positions of its records, and whether matching ones follow. */
export interface Page {
  readonly positions: readonly number[]
  readonly more: boolean
}

type Dialect = ResolvedOptions['dialect']

/** The links of a page to the next one. */
interface Links {
  readonly nextLink?: string | undefined
  readonly deltaLink?: string | undefined
}

/** The records that a page is taken from. */
interface PagedRecords {
  readonly length: number
  at(position: number): StoredRecord | undefined
}

/** Where a page begins and how long it is. */
interface PageChoice {
  /** The position of the first record that may be on it. */
  readonly start: number
  /** How many matching records to skip from there. */
  readonly skip?: number
  readonly size: number
}

/** The first matching records of a choice, as they are now. */
export function takePage(
  records: PagedRecords,
  { start, skip = 0, size }: PageChoice,
  matches: (record: StoredRecord) => boolean,
): Page {
  const positions: number[] = []
  let passed = 0
  for (let position = start; position < records.length; position += 1) {
    if (!matches(records.at(position) as StoredRecord)) continue
    if (passed < skip) {
      passed += 1
      continue
    }
    if (positions.length === size) return { positions, more: true }
    positions.push(position)
  }
  return { positions, more: false }
}

/** The items that a fault leaves on a page. */
export function leftBy<T>(fault: ListFault | undefined, items: readonly T[]): readonly T[] {
  if (fault?.kind === 'empty') return []
  if (fault?.kind === 'short') return items.filter((_, i) => i % 2 === 1)
  return items
}

/** The body of a page of items that are JSON texts. */
export function pageBody(items: readonly string[], links: Links, dialect: Dialect): Buffer {
  return pageOfParts([Buffer.from(items.join(','))], links, dialect)
}

/**
 * The body of a page whose items are bytes, commas included. A missing next link is left out in the
 * documentation, and null in the specification.
 */
export function pageOfParts(parts: readonly Buffer[], links: Links, dialect: Dialect): Buffer {
  const nextLink = links.nextLink ?? (dialect === 'specification' ? null : undefined)
  const rest = JSON.stringify({ nextLink, deltaLink: links.deltaLink }).slice(1)
  const end = `]${rest === '}' ? '' : ','}${rest}`
  return Buffer.concat([Buffer.from('{"value":['), ...parts, Buffer.from(end)])
}
