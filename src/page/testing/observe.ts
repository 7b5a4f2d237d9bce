import type { Batch, LineParts } from '../../protocol/record-batch.ts'
import type { PageEnd, PageScanner, RecordShape } from '../page-scanner.ts'

/** The shape that the tests read with. */
export const shape: RecordShape = {
  key: 'id',
  version: 'changeVersion',
  deleted: { field: 'status', value: 'Deleted' },
  array: 'x',
}

/** Lines that are JSON themselves: `[record,"live"]` is not, so the tail closes an object. */
export const parts: LineParts = {
  prefix: Buffer.from('{"data":'),
  suffix: Buffer.from(',"tail":"live"}}\n'),
  deleteSuffix: Buffer.from(',"tail":"removed"}}\n'),
}

/** All that a scanner tells of a record. */
interface ObservedRecord {
  readonly text: string
  readonly kind: number | undefined
  readonly key: number | undefined
  readonly keyText: string
  readonly version: string | undefined
}

/** All that a scanner tells of a page. */
export interface ObservedPage {
  readonly records: readonly ObservedRecord[]
  /** Highest version per batch that is not empty. */
  readonly highest: readonly (string | undefined)[]
  readonly lines: string
  readonly end: PageEnd
}

/** Reads a body cut at the given places; throws what the scanner throws. */
export function observe(
  scanner: PageScanner,
  body: Uint8Array,
  cuts: readonly number[] = [],
): ObservedPage {
  const records: ObservedRecord[] = []
  const highest: (string | undefined)[] = []
  let lines = ''
  scanner.begin()
  const places = [0, ...cuts.filter((cut) => cut <= body.length).sort((a, b) => a - b), body.length]
  places.slice(1).forEach((to, index) => {
    const batch = scanner.push(body.slice(places[index], to))
    records.push(...recordsOf(batch))
    if (batch.count > 0) highest.push(batch.highestVersion)
    lines += Buffer.from(batch.lines(parts)).toString()
  })
  return { records, highest, lines, end: scanner.end() }
}

/** The same, with the error as its name and message. */
export function observeOrError(
  scanner: PageScanner,
  body: Uint8Array,
  cuts: readonly number[] = [],
): ObservedPage | string {
  try {
    return observe(scanner, body, cuts)
  } catch (error) {
    return String(error)
  }
}

function recordsOf(batch: Batch): ObservedRecord[] {
  return Array.from({ length: batch.count }, (_, index) => ({
    text: Buffer.from(batch.record(index)).toString(),
    kind: batch.ops[index],
    key: batch.keys[index],
    keyText: batch.keyText(index),
    version: batch.versionText(index),
  }))
}
