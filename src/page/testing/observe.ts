import assert from 'node:assert/strict'
import {
  DELETE,
  type LineParts,
  type RecordBatch,
  releaseBuffer,
  SOFT_DELETE,
  UPSERT,
} from '../../records/record-batch.ts'
import type { PageEnd, PageScanner, RecordShape } from '../page-scanner.ts'

/** The record shape of the tests. */
export const shape: RecordShape = {
  key: 'id',
  version: 'changeVersion',
  deleted: { field: 'status', value: 'Deleted' },
  array: 'x',
  date: 'date',
}

/** The parts of lines that are JSON themselves: the suffix closes the object. */
export const parts: LineParts = {
  prefix: Buffer.from('{"data":'),
  suffix: Buffer.from(',"tail":"live"}}\n'),
  deleteSuffix: Buffer.from(',"tail":"removed"}}\n'),
}

/** Everything that a scanner returns for a record. */
interface ObservedRecord {
  readonly text: string
  readonly kind: number | undefined
  readonly key: number | undefined
  readonly keyText: string
  readonly version: string | undefined
  readonly date: string | undefined
}

/** Everything that a scanner returns for a page. */
export interface ObservedPage {
  readonly records: readonly ObservedRecord[]
  /** The highest version of each batch that is not empty. */
  readonly highest: readonly (string | undefined)[]
  readonly lines: string
  readonly end: PageEnd
}

/** Scans a body that is cut at the given places; throws what the scanner throws. */
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
    const { keys } = batch
    assert.equal(
      batch.isRising,
      keys.every((key, i) => key > (keys[i - 1] ?? -1)),
    )
    if (batch.count > 0) highest.push(batch.highestVersion)
    const written = batch.lines(parts)
    lines += Buffer.from(written).toString()
    releaseBuffer(written)
  })
  return { records, highest, lines, end: scanner.end() }
}

/** Like `observe`, but returns an error as its name and message. */
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

function recordsOf(batch: RecordBatch): ObservedRecord[] {
  return Array.from({ length: batch.count }, (_, index) => ({
    text: Buffer.from(batch.record(index)).toString(),
    kind: batch.ops[index],
    key: batch.keys[index],
    keyText: batch.keyText(index),
    version: batch.versionText(index),
    date: batch.dateText(index),
  }))
}

/** A record as `JSON.parse` reads it. */
interface ParsedRecord {
  readonly value: unknown
  readonly kind: number
  readonly key: unknown
  readonly version: string | undefined
}

/** A page as `JSON.parse` reads it. */
export interface ParsedPage {
  readonly records: readonly ParsedRecord[]
  readonly end: PageEnd
}

/** Reads a body with `JSON.parse` and the rules of a page; undefined if it is not valid. */
export function judgedByParse(body: Uint8Array): ParsedPage | undefined {
  const page = parsed(body)
  if (!isObject(page)) return undefined
  const items = Object.keys(page).filter((name) => lower(name) === 'value')
  const value = page[items[0] ?? '']
  if (items.length !== 1 || !Array.isArray(value)) return undefined
  const nextLink = linkOf(page, 'nextlink')
  const deltaLink = linkOf(page, 'deltalink')
  const records = value.map(recordOf)
  if (nextLink === null || deltaLink === null || records.includes(undefined)) return undefined
  return {
    records: records.filter((record) => record !== undefined),
    end: {
      nextLink,
      deltaLink,
      count: records.length,
    },
  }
}

/** The link; undefined if there is none, null if it is not valid. */
function linkOf(page: Readonly<Record<string, unknown>>, name: string): string | undefined | null {
  const links = Object.entries(page).flatMap(([key, link]) =>
    lower(key) === name ? [link ?? ''] : [],
  )
  return links.every((link) => typeof link === 'string') ? links.findLast(Boolean) : null
}

function recordOf(element: unknown): ParsedRecord | undefined {
  if (!isObject(element)) return undefined
  const { changeType, data } = element
  const isChange = typeof changeType === 'string' && isObject(data)
  const record = isChange ? data : element
  const { id, changeVersion, status } = record
  if (id === undefined || id === null) return undefined
  if (isChange && !CHANGES.has(lower(changeType))) return undefined
  const mark = status === 'Deleted' ? SOFT_DELETE : UPSERT
  return {
    value: isObject(record['x']) ? { ...record, x: [record['x']] } : record,
    kind: isChange && lower(changeType) === 'delete' ? DELETE : mark,
    key: id,
    version: typeof changeVersion === 'string' ? changeVersion : undefined,
  }
}

const CHANGES: ReadonlySet<string> = new Set(['delete', 'insertorupdate', 'insert', 'update'])

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function lower(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
