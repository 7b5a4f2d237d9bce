import type { Log } from '../protocol/connector.ts'
import type { StartedStream, StreamWriter } from '../protocol/stream-writer.ts'
import { releaseBuffer } from '../records/record-batch.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import { LINE_PARTS } from '../warehouse/row-encoder.ts'
import { dayNumber, NO_DAY, type RowKey } from './digests.ts'
import type { HeldRows, VerifiedStream } from './row-table.ts'

const NEWLINE = 0x0a

/** A row that differs between the service and the warehouse. It contains no values of the row, except for its key. */
export interface Difference {
  readonly stream: string
  /** The key. Several columns are an array, in which values of external references are `****`. */
  readonly key: unknown
  /**
   * The kind of difference.
   *
   * - `missing`: the warehouse has no row.
   * - `too many`: the service has no record, or another row has the same key.
   * - `old`: the row has another version than the record.
   * - `changed`: the version is the same, and other fields differ.
   */
  readonly difference: 'missing' | 'too many' | 'old' | 'changed'
  /** The fields that differ. */
  readonly fields?: readonly string[]
  /** The version of the record at the service. */
  readonly version?: string
  /**
   * Set if a change since the last sync may be the reason: it is a difference only if it is still there after the
   * next sync.
   */
  readonly pending?: true
}

/** Called for a difference, with the key of its row. Returns a promise if the reader of the output is slow. */
export type Found = (difference: Difference, key: RowKey) => Promise<void> | undefined

export interface CompareSettings {
  readonly stream: VerifiedStream
  readonly held: HeldRows
  readonly found: Found
  readonly log: Log
}

/** The writer of a listing: its records are compared with the rows of a warehouse. */
export interface Comparison extends StreamWriter {
  /** The number of rows that the service does not list, and that syncs keep because they are too many. */
  readonly withheldRows: number
}

/**
 * Compares the records of a listing with rows, each in any order. Rows that the listing does not have are reported at
 * its end, unless it could not have had them: days and collections outside of the listing are not compared.
 */
export function compareStream({ stream, held, found, log }: CompareSettings): Comparison {
  const { table, reader, known } = held
  const { name } = stream
  let withheldRows = 0
  let source: StartedStream | undefined
  let isWhole = false
  return {
    started(started) {
      source = started
    },
    get withheldRows() {
      return withheldRows
    },
    async records(batch) {
      const lines = batch.lines(LINE_PARTS)
      const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
      for (let at = 0; at < bytes.length; ) {
        const end = reader.read(bytes, at)
        const isLiving = bytes[end] === NEWLINE
        at = end + (isLiving ? LINE_PARTS.suffix : LINE_PARTS.deleteSuffix).length - 1
        if (!isLiving) continue
        const unlike = compareRow(held, stream.version)
        if (unlike !== undefined) await report(unlike, reader.row.key, reader.version())
      }
      releaseBuffer(lines)
    },
    note({ type }) {
      isWhole ||= type === 'generation complete'
    },
    async ended(isComplete) {
      if (!isComplete) return
      for (const key of held.repeated) await report({ difference: 'too many' }, key)
      await reportNotFound()
    },
    // A listing does not report deletions, and nothing is stored.
    deletes: () => undefined,
    checkpoint: () => undefined,
    flush: async () => {},
  }

  function report(unlike: Unlike, key: RowKey, version?: string): Promise<void> | undefined {
    const what = {
      stream: name,
      key: printedKey(key, stream),
      ...unlike,
      ...(version === undefined ? {} : { version }),
    }
    const isPending = mayHaveChanged(unlike, version, known)
    return found(isPending ? { ...what, pending: true } : what, key)
  }

  async function reportNotFound(): Promise<void> {
    // To make the state, the ids of all rows are encoded, and mostly all of them were found.
    let isInDays: ((day: number) => boolean) | undefined
    const isInCollections = isWhole ? () => true : listedCollections(table)
    let left = 0
    for (let index = 0; index < table.count; index++) {
      if (table.isFound(index)) continue
      const key = table.keyOf(index)
      isInDays ??= listedDays(source?.state() ?? {}, stream)
      if (known?.withheld.has(key)) withheldRows++
      else if (isInDays(table.dayOf(index)) && isInCollections(key))
        await report({ difference: 'too many' }, key)
      else left++
    }
    if (left > 0)
      log.info(
        `${name}: ${left} rows were not compared, because the listing does not cover their days or their collection.`,
      )
  }
}

/** How a record and its row differ. */
type Unlike = Pick<Difference, 'difference' | 'fields'>

/** Compares the last record of the reader with its row, which is then found; undefined if they are equal. */
function compareRow(
  { table, reader: { row, fields } }: HeldRows,
  versionField: string | undefined,
): Unlike | undefined {
  const index = table.find(row.key)
  if (index < 0) return { difference: 'missing' }
  table.markFound(index)
  if (table.isSame(index, row)) return undefined
  const places = table.changedPlaces(index, row, fields.names.length)
  const names = places.map((place) => fields.names[place] as string)
  const others = names.filter((field) => field !== versionField)
  return { difference: others.length < names.length ? 'old' : 'changed', fields: others }
}

/**
 * Whether a change since the last sync may be the reason. The time of a deletion, and of a change without a new
 * version, is unknown.
 */
function mayHaveChanged(
  { difference }: Unlike,
  version: string | undefined,
  known: HeldRows['known'],
): boolean {
  if (difference === 'too many' || version === undefined) return true
  if (difference === 'changed') return false
  return known === undefined || known.version === null || version > known.version
}

/** Returns a function that says whether a listing in this state covers a day. */
function listedDays(state: ListedDays, { dateField }: VerifiedStream): (day: number) => boolean {
  const { start, listed_until: until } = state
  const first = typeof start === 'string' ? dayNumber(start) : 0
  const last = typeof until === 'string' ? dayNumber(until) : NO_DAY
  return (day) => dateField === undefined || day === NO_DAY || (day >= first && day <= last)
}

/**
 * Returns a function that says whether a key is in a collection of which rows were found: the service may list the
 * external references of some collections only.
 */
function listedCollections(table: HeldRows['table']): (key: RowKey) => boolean {
  const collections = new Set<unknown>()
  for (let index = 0; index < table.count; index++)
    if (table.isFound(index)) collections.add(collectionOf(table.keyOf(index)))
  return (key) => collections.has(collectionOf(key))
}

/** What the state of a listing says about its days. */
interface ListedDays {
  readonly start?: unknown
  readonly listed_until?: unknown
}

function collectionOf(key: RowKey): unknown {
  const value: unknown = typeof key === 'number' ? key : JSON.parse(key)
  return Array.isArray(value) ? value[0] : undefined
}

/** The differences of an earlier comparison, in which the same or another difference of a row can be looked up. */
export interface Earlier {
  readonly streams: ReadonlySet<string>
  find(difference: Difference): 'same' | 'other' | undefined
}

/** Reads the differences that an earlier comparison printed; other lines are ignored. */
export function earlierOf(differences: Iterable<unknown>): Earlier {
  const found = new Map<string, Set<string>>()
  const streams = new Set<string>()
  for (const one of differences) {
    if (!isDifference(one)) continue
    streams.add(one.stream)
    const place = placeOf(one)
    found.set(place, (found.get(place) ?? new Set()).add(kindOf(one)))
  }
  return {
    streams,
    find(difference) {
      const kinds = found.get(placeOf(difference))
      if (kinds === undefined) return undefined
      return kinds.has(kindOf(difference)) ? 'same' : 'other'
    },
  }
}

function placeOf({ stream, key }: Difference): string {
  return JSON.stringify([stream, key])
}

function kindOf({ difference, version }: Difference): string {
  return `${difference} ${version ?? ''}`
}

function isDifference(value: unknown): value is Difference {
  const { stream, key, difference } = (value ?? {}) as Partial<Difference>
  return typeof stream === 'string' && key !== undefined && typeof difference === 'string'
}

/**
 * A key as a JSON value: a number, a string, or an array of several columns without the values of external
 * references.
 */
function printedKey(key: number | string, { key: columns }: Pick<StreamSpec, 'key'>): unknown {
  if (typeof key === 'number') return key
  const value: unknown = JSON.parse(key)
  if (!Array.isArray(value)) return value
  return value.map((part, i) => (columns[i] === 'value' ? '****' : part))
}
