import { createHash } from 'node:crypto'
import { type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import type { JsonSchema } from '../records/stream-spec.ts'
import type { Stream } from '../streams/collections.ts'
import { keyOf, readStreamSchema } from '../streams/streams.ts'
import {
  createKeySum,
  createTextSum,
  digestOf,
  keyText,
  SEPARATOR,
  textOf,
  type ValueType,
} from './checksums.ts'
import { type Day, isDay } from './days.ts'
import { type Key, keyAt } from './id-set.ts'

/**
 * A single value of a record that is summed. If a field has several spellings, the first one that is present is used.
 */
interface SummedColumn {
  readonly paths: readonly (readonly string[])[]
  readonly type: ValueType
}

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

/**
 * The numbers that are stored for each row, and their positions. With its key, a row takes about 100 bytes of memory.
 */
const FIELDS = 9
const [VERSION, CONTENT, WHOLE, PART, UNREPORTED, CONFIRMED] = [0, 2, 4, 6, 7, 8]
/** The part of rows whose days were not listed; they are not summed. */
const OTHER_DAYS = ''
const KINDS: readonly (Unreported | undefined)[] = [undefined, 'missing', 'newer']

/** Creates the rows of a stream, without a listing. */
export function createSummedRows(stream: Stream): SummedRows {
  /** Read from the schema only when there is something to sum; most syncs have nothing. */
  let columns: readonly SummedColumn[] = []
  const parts: string[] = []
  let places = new Map<Key, number>()
  let numbers = new Uint32Array()
  /** The position for the next row. */
  let free = 0
  let isOn = false
  let range: DayRange | null = null
  let known: KnownRows | undefined
  let listed = new Map<Key, string>()
  let highestListed = ''
  let chosen: ReadonlySet<string> = new Set()
  return {
    get isOn() {
      return isOn
    },
    get range() {
      return range
    },
    begin(days) {
      forget()
      columns = summedColumns(stream)
      isOn = true
      range = days
    },
    compareWith(other) {
      known = other
    },
    take(batch) {
      if (!isOn) return
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const op = batch.ops[i]
        const isEnd = op === SOFT_DELETE && known?.mayHave(key) === true
        if (op === UPSERT || isEnd) keep(key, textOfRecord(batch, i))
        else if (op !== SKIP) places.delete(key)
      }
    },
    listedVersion: (key) => listed.get(key),
    get highestListed() {
      return highestListed
    },
    choose(before, lives) {
      const differs = ([part, text]: [string, string]) => before.get(part) !== text
      chosen = new Set([
        ...[...fingerprintsOf(lives)].filter(differs).map(([part]) => part),
        ...[...places.values()].filter((at) => numbers[at + UNREPORTED] !== 0).map(partAt),
      ])
      return chosen
    },
    skipOthers(batch, lives) {
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const at = places.get(key)
        const isThere = at !== undefined && (lives(key) || numbers[at + UNREPORTED] !== 0)
        if (isThere && isAsTaken(batch, i, at)) numbers[at + CONFIRMED] = 1
        else batch.ops[i] = SKIP
      }
    },
    unreported(kind) {
      let count = 0
      for (const at of places.values())
        if (KINDS[numbers[at + UNREPORTED] as number] === kind && numbers[at + CONFIRMED] === 1)
          count++
      return count
    },
    fingerprints(lives) {
      const whole = new Map(fingerprintsOf(lives))
      for (const [key, at] of places) {
        const isConcerned = lives(key) || numbers[at + UNREPORTED] !== 0
        if (isConcerned && numbers[at + CONFIRMED] === 0 && chosen.has(partAt(at)))
          whole.delete(partAt(at))
      }
      return whole
    },
    sums(lives) {
      const sums = new Map<string, PartSum>()
      // A stream without dates has one part, even if it is empty.
      if (stream.dateField === undefined) sums.set('all', createPartSum(stream))
      let count = 0
      for (const [key, at] of places) {
        if (!lives(key)) continue
        count++
        const part = partAt(at)
        if (part === OTHER_DAYS) continue
        const sum = sums.get(part) ?? createPartSum(stream)
        sums.set(part, sum)
        sum.add(key, numbers, at)
      }
      return { count, parts: [...sums].map(([part, sum]) => ({ part, ...sum.read() })) }
    },
    end: forget,
  }

  function forget(): void {
    places = new Map()
    numbers = new Uint32Array()
    free = 0
    isOn = false
    known = undefined
    listed = new Map()
    highestListed = ''
    chosen = new Set()
  }

  function keep(key: Key, text: string): void {
    const record = JSON.parse(text) as Fields
    const before = places.get(key)
    const unreported = unreportedOf(key, record, before)
    if (known !== undefined) {
      const version = versionOf(record)
      if (known.watched.has(key)) listed.set(key, version)
      if (version > highestListed) highestListed = version
    }
    const version = versionText(key, record, stream)
    const content = [
      version,
      ...columns.map(({ paths, type }) => textOf(firstOf(record, paths), type)),
    ].join(SEPARATOR)
    const at = before ?? free
    if (at === free) free += FIELDS
    if (at === numbers.length) numbers = doubled(numbers)
    places.set(key, at)
    const part = partOf(record)
    if (!parts.includes(part)) parts.push(part)
    const digests = [...digestOf(version), ...digestOf(content), ...digestOf(text)]
    numbers.set([...digests, parts.indexOf(part), unreported, 0], at)
  }

  function isAsTaken(batch: RecordBatch, index: number, at: number): boolean {
    if (batch.ops[index] === SKIP || !chosen.has(partAt(at))) return false
    const [first, second] = digestOf(textOfRecord(batch, index))
    return numbers[at + WHOLE] === first && numbers[at + WHOLE + 1] === second
  }

  function partAt(at: number): string {
    return parts[numbers[at + PART] as number] as string
  }

  function fingerprintsOf(lives: (key: Key) => boolean): Map<string, string> {
    const sums = new Map<string, ReturnType<typeof createTextSum>>()
    for (const [key, at] of places) {
      if (!lives(key) || partAt(at) === OTHER_DAYS) continue
      const sum = sums.get(partAt(at)) ?? createTextSum()
      sums.set(partAt(at), sum)
      sum.addDigest([numbers[at + WHOLE] as number, numbers[at + WHOLE + 1] as number])
    }
    const short = (sum: string) => digestOf(sum).map((half) => half.toString(36))
    return new Map([...sums].map(([part, { text }]) => [part, short(text).join('')]))
  }

  function partOf(record: Fields): string {
    if (stream.dateField === undefined) return 'all'
    const day = record[stream.dateField]
    if (typeof day !== 'string' || !isDay(day.slice(0, 10))) return 'none'
    const isListed = range === null || (day >= range.from && day.slice(0, 10) <= range.until)
    return isListed ? day.slice(0, 7) : OTHER_DAYS
  }

  /** The index of the row's kind in `KINDS`. */
  function unreportedOf(key: Key, record: Fields, before: number | undefined): number {
    if (known === undefined) return 0
    // A row that is listed twice keeps its kind.
    if (before !== undefined) return numbers[before + UNREPORTED] as number
    if (!known.mayHave(key)) return KINDS.indexOf('missing')
    const { highestVersion } = known
    const isNewer = highestVersion !== null && versionOf(record) > highestVersion
    return isNewer ? KINDS.indexOf('newer') : 0
  }
}

function textOfRecord(batch: RecordBatch, index: number): string {
  const { buffer, byteOffset, length } = batch.record(index)
  return Buffer.from(buffer, byteOffset, length).toString()
}

/** The version of a record; empty if it has none. */
function versionOf(record: Fields): string {
  const version = record['changeVersion']
  return typeof version === 'string' ? version : ''
}

type Fields = Readonly<Record<string, unknown>>

type PartSum = ReturnType<typeof createPartSum>

/** A copy with room for twice as many rows. */
function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(Math.max(64 * FIELDS, 2 * numbers.length))
  more.set(numbers)
  return more
}

function createPartSum(stream: Stream) {
  const [keys, versions, content] = [createKeySum(stream), createTextSum(), createTextSum()]
  let records = 0
  return {
    /** Adds a row, whose numbers begin at `at`. */
    add(key: Key, numbers: Uint32Array, at: number) {
      const half = (field: number) => numbers[at + field] as number
      records++
      keys.add([key])
      versions.addDigest([half(VERSION), half(VERSION + 1)])
      content.addDigest([half(CONTENT), half(CONTENT + 1)])
    },
    read: () => ({ records, keys: keys.text, versions: versions.text, content: content.text }),
  }
}

function versionText(key: Key, record: Fields, stream: Stream): string {
  if (stream.versioned === false) return keyText(key)
  return `${keyText(key)}${SEPARATOR}${versionOf(record)}`
}

function firstOf(record: Fields, paths: SummedColumn['paths']): unknown {
  for (const path of paths) {
    const value = path.reduce<unknown>(
      (at, name) => (at as Fields | null | undefined)?.[name],
      record,
    )
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** The columns that are summed, in the order of the schema: all except objects, arrays, the key and the version. */
function summedColumns(stream: Stream): SummedColumn[] {
  const columns = new Map<string, SummedColumn>()
  for (const { paths, type } of below(readStreamSchema(stream.stream), [])) {
    const [path = []] = paths
    if (path.length === 1 && [...keyOf(stream), 'changeVersion'].includes(path[0] as string))
      continue
    const name = path.join('.').toLowerCase()
    const known = columns.get(name)
    columns.set(name, { type, paths: [...(known?.paths ?? []), ...paths] })
  }
  return [...columns.values()]
}

/** A name for the summed columns: equal names mean equal columns. */
export function columnsName(stream: Stream): string {
  const names = summedColumns(stream).map(
    ({ paths, type }) => `${paths.map((path) => path.join('.')).join('|')} ${type}`,
  )
  return createHash('md5').update(names.join('\n')).digest('hex').slice(0, 16)
}

function below(schema: JsonSchema, path: readonly string[]): SummedColumn[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]): SummedColumn[] => {
    const at = [...path, name]
    if (inner.properties !== undefined) return below(inner, at)
    const type = typeOf(inner)
    return type === undefined ? [] : [{ paths: [at], type }]
  })
}

function typeOf(schema: JsonSchema): ValueType | undefined {
  const types = [schema['type'] ?? []].flat().filter((type) => type !== 'null')
  if (types.includes('object') || types.includes('array')) return undefined
  if (types.includes('number')) return 'number'
  if (schema['format'] === 'date-time') return undefined
  if (schema['x-view'] === 'date' || schema['format'] === 'date') return 'date'
  if (types.includes('string')) return 'text'
  return types[0] === 'boolean' || types[0] === 'integer' ? types[0] : undefined
}
