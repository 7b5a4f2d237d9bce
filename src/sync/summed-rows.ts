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
import type { Day } from './days.ts'
import { type Key, keyAt } from './id-set.ts'

/** A single value of a record that is summed; where two spellings of a field are known, the first that is there counts. */
interface SummedColumn {
  readonly paths: readonly (readonly string[])[]
  readonly type: ValueType
}

/** The days of the records that are summed; null where records have no day. */
export interface DayRange {
  readonly from: Day
  readonly until: Day
}

/** The sums of a part of a stream: of all of it, or of a month. */
export interface PartSums {
  readonly part: string
  readonly records: number
  readonly keys: string
  readonly versions: string
  readonly content: string
}

/** What a listing has of a row that nothing had told of. */
type Untold = 'missing' | 'newer'

/** What rows are compared with while they are listed. */
interface KnownRows {
  /** See `LiveKeys.mayHave`. */
  mayHave(key: Key): boolean
  /** The highest version that was met so far; null for none. */
  readonly highestVersion: string | null
  /** Of these rows `listedVersion` is asked. */
  readonly watched: ReadonlyMap<Key, unknown>
}

/** Some parts of a stream, each with a text that stands for all that its rows are. */
export type Fingerprints = ReadonlyMap<string, string>

/** The rows of a listing and of the changes that follow it, each as it came last. */
export interface SummedRows {
  /** False until `begin`, and again after `end`: nothing is taken then. */
  readonly isOn: boolean
  /** A listing of all rows begins; of those of some days where records have days. */
  begin(range: DayRange | null): void
  /** Rows are listed while this is given, and not told of; rows that are told of are no surprise. */
  compareWith(known: KnownRows | undefined): void
  /** Takes the records of a batch that are written, and of a listing those that tell of the end of a row. */
  take(batch: RecordBatch): void
  /** The version of a watched row in the listing, empty if it has none; undefined where the listing has no such row. */
  listedVersion(key: Key): string | undefined
  /** The highest version in the listing. */
  readonly highestListed: string
  /** Chooses the parts that are to be written again, and answers with them: those that are not as they were, or have a row that was not told of. */
  choose(before: Fingerprints, lives: (key: Key) => boolean): ReadonlySet<string>
  /** Of a second listing: sets the op to SKIP of each record that is of no chosen part, not as it was taken, or of a row that is gone since. */
  leaveOutOthers(batch: RecordBatch, lives: (key: Key) => boolean): void
  /** How many rows of a kind the second listing has confirmed. */
  untold(kind: Untold): number
  /** Of all parts but those of which the second listing did not confirm each row. */
  fingerprints(lives: (key: Key) => boolean): Fingerprints
  /** The sums of the rows that live, and how many these are, those of other days included. */
  sums(lives: (key: Key) => boolean): { readonly count: number; readonly parts: PartSums[] }
  readonly range: DayRange | null
  end(): void
}

/** How many numbers are kept of a row, and where they stand: with its key they take about 100 bytes of memory. */
const FIELDS = 9
const [VERSION, CONTENT, WHOLE, PART, UNTOLD, CONFIRMED] = [0, 2, 4, 6, 7, 8]
/** No part: rows of days that were not listed are not summed. */
const OTHER_DAYS = ''
const KINDS: readonly (Untold | undefined)[] = [undefined, 'missing', 'newer']

/** The rows of no listing so far. */
export function createSummedRows(stream: Stream): SummedRows {
  /** Read from the schema once there is something to sum, which most syncs have not. */
  let columns: readonly SummedColumn[] = []
  const parts: string[] = []
  let places = new Map<Key, number>()
  let numbers = new Uint32Array()
  /** Where those of the next row begin. */
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
        ...[...places.values()].filter((at) => numbers[at + UNTOLD] !== 0).map(partAt),
      ])
      return chosen
    },
    leaveOutOthers(batch, lives) {
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const at = places.get(key)
        const isThere = at !== undefined && (lives(key) || numbers[at + UNTOLD] !== 0)
        if (isThere && isAsTaken(batch, i, at)) numbers[at + CONFIRMED] = 1
        else batch.ops[i] = SKIP
      }
    },
    untold(kind) {
      let count = 0
      for (const at of places.values())
        if (KINDS[numbers[at + UNTOLD] as number] === kind && numbers[at + CONFIRMED] === 1) count++
      return count
    },
    fingerprints(lives) {
      const whole = new Map(fingerprintsOf(lives))
      for (const [key, at] of places) {
        const isConcerned = lives(key) || numbers[at + UNTOLD] !== 0
        if (isConcerned && numbers[at + CONFIRMED] === 0 && chosen.has(partAt(at)))
          whole.delete(partAt(at))
      }
      return whole
    },
    sums(lives) {
      const sums = new Map<string, PartSum>()
      // An undated stream has its one part also where it is empty.
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
    const untold = untoldOf(key, record, before)
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
    numbers.set([...digests, parts.indexOf(part), untold, 0], at)
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
    if (typeof day !== 'string') return 'none'
    const isListed = range === null || (day >= range.from && day.slice(0, 10) <= range.until)
    return isListed ? day.slice(0, 7) : OTHER_DAYS
  }

  /** The kind, as its place among `KINDS`. */
  function untoldOf(key: Key, record: Fields, before: number | undefined): number {
    if (known === undefined) return 0
    // A row that is listed twice is as surprising as it was.
    if (before !== undefined) return numbers[before + UNTOLD] as number
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

/** Empty for a record without one. */
function versionOf(record: Fields): string {
  const version = record['changeVersion']
  return typeof version === 'string' ? version : ''
}

type Fields = Readonly<Record<string, unknown>>

type PartSum = ReturnType<typeof createPartSum>

/** With room for twice as many rows. */
function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(Math.max(64 * FIELDS, 2 * numbers.length))
  more.set(numbers)
  return more
}

function createPartSum(stream: Stream) {
  const [keys, versions, content] = [createKeySum(stream), createTextSum(), createTextSum()]
  let records = 0
  return {
    /** Adds a row, of which the numbers begin at `at`. */
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

/** The columns that are summed, in the order of the schema: all that are no objects or lists, but key and version. */
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

/** Names the columns that are summed: the same name, the same columns. */
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
