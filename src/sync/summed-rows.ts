import { JsonDigest } from '../records/json-digest.ts'
import { type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import {
  contentText,
  createKeySum,
  createTextSum,
  type Digest,
  digestOf,
  type SummedColumn,
  summedColumns,
  versionText,
} from './checksums.ts'
import { type Day, isDay } from './days.ts'
import { type Key, keyAt } from './id-set.ts'

/** The days of the summed records; null for streams without dates. */
export interface DayRange {
  readonly from: Day
  readonly until: Day
}

/** The sums of a part of a stream: of the whole stream, or of a month. */
export interface PartSums {
  readonly part: string
  readonly records: number
  readonly keys: string
  readonly versions: string
  readonly content: string
}

/** How a listed row differs from what the sync knows: it is missing, or newer than all known versions. */
type Unreported = 'missing' | 'newer'

/** The known rows with which listed rows are compared. */
interface KnownRows {
  /** See `LiveKeys.mayHave`. */
  mayHave(key: Key): boolean
  /** The highest version so far; null for none. */
  readonly highestVersion: string | null
  /** The rows for which `listedVersion` can be called. */
  readonly watched: ReadonlyMap<Key, unknown>
}

/** A digest of all rows for each of some parts of a stream. */
export type Fingerprints = ReadonlyMap<string, string>

/** The rows of a listing and of the changes after it, each in its last version. */
export interface SummedRows {
  /** False until `begin`, and again after `end`; then no rows are taken. */
  readonly isOn: boolean
  /** Begins a listing of all rows, or of the rows in a range of days. */
  begin(range: DayRange | null): void
  /** While `known` is set, rows come from a listing. Rows of changes are not compared. */
  compareWith(known: KnownRows | undefined): void
  /** Takes the records of a batch that are written; of a listing also those that mark a row as deleted. */
  take(batch: RecordBatch): void
  /**
   * The version of a watched row in the listing, empty if it has none; undefined if the listing does not have the
   * row.
   */
  listedVersion(key: Key): string | undefined
  /** The highest version in the listing. */
  readonly highestListed: string
  /**
   * Chooses the parts to write again and returns them: those whose fingerprint has changed, or with a row that no
   * change had reported.
   */
  choose(before: Fingerprints, lives: (key: Key) => boolean): ReadonlySet<string>
  /**
   * For a second listing: sets the op to SKIP for records of other parts, for those that differ from the first
   * listing, and for deleted rows.
   */
  skipOthers(batch: RecordBatch, lives: (key: Key) => boolean): void
  /** The number of rows of a kind that the second listing has confirmed. */
  unreported(kind: Unreported): number
  /** The fingerprints of all parts, except those of which the second listing did not confirm each row. */
  fingerprints(lives: (key: Key) => boolean): Fingerprints
  /** The sums of the living rows, and their number, including those of other days. */
  sums(lives: (key: Key) => boolean): { readonly count: number; readonly parts: PartSums[] }
  readonly range: DayRange | null
  end(): void
}

/** Creates the rows of a stream, without a listing. */
export function createSummedRows(stream: Stream): SummedRows {
  let isOn = false
  let listing = createListing(null, [])
  return {
    get isOn() {
      return isOn
    },
    get range() {
      return listing.range
    },
    get highestListed() {
      return listing.highestListed
    },
    begin(range) {
      listing = createListing(range, summedColumns(stream))
      isOn = true
    },
    end() {
      listing = createListing(null, [])
      isOn = false
    },
    compareWith(known) {
      listing.known = known
    },
    take(batch) {
      if (isOn) take(batch, stream, listing)
    },
    listedVersion: (key) => listing.versions.get(key),
    choose(before, lives) {
      const { table } = listing
      const changed = [...fingerprintsOf(table, lives)].filter(
        ([part, text]) => before.get(part) !== text,
      )
      const unreported = [...table.places()].filter((at) => table.unreportedAt(at) !== undefined)
      listing.chosen = new Set([
        ...changed.map(([part]) => part),
        ...unreported.map((at) => table.partAt(at)),
      ])
      return listing.chosen
    },
    skipOthers: (batch, lives) => confirm(batch, lives, listing),
    unreported(kind) {
      const { table } = listing
      let count = 0
      for (const at of table.places())
        if (table.unreportedAt(at) === kind && table.isConfirmed(at)) count++
      return count
    },
    fingerprints(lives) {
      const { table, chosen } = listing
      const whole = fingerprintsOf(table, lives)
      for (const [key, at] of table.entries()) {
        const isConcerned = lives(key) || table.unreportedAt(at) !== undefined
        if (isConcerned && !table.isConfirmed(at) && chosen.has(table.partAt(at)))
          whole.delete(table.partAt(at))
      }
      return whole
    },
    sums: (lives) => sumsOf(listing.table, stream, lives),
  }
}

/** A listing of rows, and the changes after it. */
interface Listing {
  readonly range: DayRange | null
  readonly columns: readonly SummedColumn[]
  readonly table: RowTable
  readonly digest: JsonDigest
  /** See `SummedRows.compareWith`. */
  known: KnownRows | undefined
  /** The versions of watched rows; see `SummedRows.listedVersion`. */
  readonly versions: Map<Key, string>
  highestListed: string
  /** See `SummedRows.choose`. */
  chosen: ReadonlySet<string>
}

function createListing(range: DayRange | null, columns: readonly SummedColumn[]): Listing {
  return {
    range,
    columns,
    table: createRowTable(),
    digest: new JsonDigest(),
    known: undefined,
    versions: new Map(),
    highestListed: '',
    chosen: new Set(),
  }
}

/** See `SummedRows.take`. */
function take(batch: RecordBatch, stream: Stream, listing: Listing): void {
  const { table, known } = listing
  for (let i = 0; i < batch.count; i++) {
    const key = keyAt(batch, i)
    const op = batch.ops[i]
    const isEnd = op === SOFT_DELETE && known?.mayHave(key) === true
    if (op === UPSERT || isEnd) keep(key, bytesOf(batch, i), stream, listing)
    else if (op !== SKIP) table.delete(key)
  }
}

/** Keeps the present version of a row. */
function keep(key: Key, bytes: Buffer, stream: Stream, listing: Listing): void {
  const { table, columns, range, digest } = listing
  const record = JSON.parse(bytes.toString()) as Fields
  const version = versionOf(record)
  const unreported = unreportedOf(key, version, listing)
  noteListed(key, version, listing)
  const summedVersion = versionText(key, version, stream)
  table.set(key, {
    version: digestOf(summedVersion),
    content: digestOf(contentText(summedVersion, record, columns)),
    whole: wholeOf(bytes, digest),
    part: partOf(record, range, stream),
    unreported,
  })
}

function unreportedOf(
  key: Key,
  version: string,
  { known, table }: Listing,
): Unreported | undefined {
  if (known === undefined) return undefined
  const before = table.placeOf(key)
  // A row that is listed twice keeps its kind.
  if (before !== undefined) return table.unreportedAt(before)
  if (!known.mayHave(key)) return 'missing'
  const { highestVersion } = known
  return highestVersion !== null && version > highestVersion ? 'newer' : undefined
}

/** Notes what the listing itself says, in addition to the changes after it. */
function noteListed(key: Key, version: string, listing: Listing): void {
  const { known, versions, highestListed } = listing
  if (known === undefined) return
  if (known.watched.has(key)) versions.set(key, version)
  if (version > highestListed) listing.highestListed = version
}

/** See `SummedRows.skipOthers`. */
function confirm(
  batch: RecordBatch,
  lives: (key: Key) => boolean,
  { table, chosen, digest }: Listing,
) {
  for (let i = 0; i < batch.count; i++) {
    const key = keyAt(batch, i)
    const at = table.placeOf(key)
    const isThere = at !== undefined && (lives(key) || table.unreportedAt(at) !== undefined)
    const isAsTaken =
      isThere &&
      batch.ops[i] !== SKIP &&
      chosen.has(table.partAt(at)) &&
      isSame(table.wholeAt(at), wholeOf(bytesOf(batch, i), digest))
    if (isAsTaken) table.confirm(at)
    else batch.ops[i] = SKIP
  }
}

/** The parts into which a stream is summed: months, or the whole stream if it has no dates. */
function partOf(record: Fields, range: DayRange | null, { dateField }: Stream): string {
  if (dateField === undefined) return 'all'
  const day = record[dateField]
  if (typeof day !== 'string' || !isDay(day.slice(0, 10))) return 'none'
  const isListed = range === null || (day >= range.from && day.slice(0, 10) <= range.until)
  return isListed ? day.slice(0, 7) : OTHER_DAYS
}

/** The part of rows whose days were not listed; they are not summed. */
const OTHER_DAYS = ''

function fingerprintsOf(table: RowTable, lives: (key: Key) => boolean): Map<string, string> {
  const sums = new Map<string, ReturnType<typeof createTextSum>>()
  for (const [key, at] of table.entries()) {
    const part = table.partAt(at)
    if (!lives(key) || part === OTHER_DAYS) continue
    const sum = sums.get(part) ?? createTextSum()
    sums.set(part, sum)
    sum.addDigest(table.wholeAt(at))
  }
  const short = (sum: string) => digestOf(sum).map((half) => half.toString(36))
  return new Map([...sums].map(([part, { text }]) => [part, short(text).join('')]))
}

function sumsOf(
  table: RowTable,
  stream: Stream,
  lives: (key: Key) => boolean,
): ReturnType<SummedRows['sums']> {
  const sums = new Map<string, PartSum>()
  // A stream without dates has one part, even if it is empty.
  if (stream.dateField === undefined) sums.set('all', createPartSum(stream))
  let count = 0
  for (const [key, at] of table.entries()) {
    if (!lives(key)) continue
    count++
    const part = table.partAt(at)
    if (part === OTHER_DAYS) continue
    const sum = sums.get(part) ?? createPartSum(stream)
    sums.set(part, sum)
    sum.add(key, table.versionAt(at), table.contentAt(at))
  }
  return { count, parts: [...sums].map(([part, sum]) => ({ part, ...sum.read() })) }
}

type PartSum = ReturnType<typeof createPartSum>

function createPartSum(stream: Stream) {
  const [keys, versions, content] = [createKeySum(stream), createTextSum(), createTextSum()]
  let records = 0
  return {
    add(key: Key, versionDigest: Digest, contentDigest: Digest) {
      records++
      keys.add([key])
      versions.addDigest(versionDigest)
      content.addDigest(contentDigest)
    },
    read: () => ({ records, keys: keys.text, versions: versions.text, content: content.text }),
  }
}

/** What is kept of a row. */
interface KeptRow {
  readonly version: Digest
  readonly content: Digest
  /** The digest of the whole record. */
  readonly whole: Digest
  readonly part: string
  readonly unreported: Unreported | undefined
}

type RowTable = ReturnType<typeof createRowTable>

/** The numbers of a row, and their positions. With its key, a row takes about 100 bytes of memory. */
const FIELDS = 9
const [VERSION, CONTENT, WHOLE, PART, UNREPORTED, CONFIRMED] = [0, 2, 4, 6, 7, 8]
const KINDS: readonly (Unreported | undefined)[] = [undefined, 'missing', 'newer']

/** Creates a table of rows, each at a place of one array of numbers. */
function createRowTable() {
  const parts: string[] = []
  const places = new Map<Key, number>()
  let numbers = new Uint32Array()
  /** The place for the next row. */
  let free = 0
  const digestAt = (at: number): Digest => [numbers[at] as number, numbers[at + 1] as number]
  return {
    entries: () => places.entries(),
    places: () => places.values(),
    placeOf: (key: Key) => places.get(key),
    versionAt: (at: number) => digestAt(at + VERSION),
    contentAt: (at: number) => digestAt(at + CONTENT),
    wholeAt: (at: number) => digestAt(at + WHOLE),
    partAt: (at: number) => parts[numbers[at + PART] as number] as string,
    unreportedAt: (at: number) => KINDS[numbers[at + UNREPORTED] as number],
    /** Whether the second listing has confirmed the row. */
    isConfirmed: (at: number) => numbers[at + CONFIRMED] === 1,
    confirm(at: number) {
      numbers[at + CONFIRMED] = 1
    },
    delete(key: Key) {
      places.delete(key)
    },
    /** Adds or replaces a row, which then is not confirmed. */
    set(key: Key, { version, content, whole, part, unreported }: KeptRow) {
      if (!parts.includes(part)) parts.push(part)
      const at = places.get(key) ?? free
      if (at === free) free += FIELDS
      if (at === numbers.length) numbers = doubled(numbers)
      places.set(key, at)
      const rest = [parts.indexOf(part), KINDS.indexOf(unreported), 0]
      numbers.set([...version, ...content, ...whole, ...rest], at)
    },
  }
}

/** A copy with room for twice as many rows. */
function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(Math.max(64 * FIELDS, 2 * numbers.length))
  more.set(numbers)
  return more
}

function isSame(a: Digest, b: Digest): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

type Fields = Readonly<Record<string, unknown>>

function bytesOf(batch: RecordBatch, index: number): Buffer {
  const { buffer, byteOffset, length } = batch.record(index)
  return Buffer.from(buffer, byteOffset, length)
}

/** The digest of a record: the same for all ways to write it, because two answers may differ in that. */
function wholeOf(bytes: Buffer, digest: JsonDigest): Digest {
  digest.value(bytes, 0)
  return [digest.high >>> 0, digest.low >>> 0]
}

/** The version of a record; empty if it has none. */
function versionOf(record: Fields): string {
  const version = record['changeVersion']
  return typeof version === 'string' ? version : ''
}
