import { type DayRange, isDay } from '../ground/days.ts'
import { JsonDigest } from '../records/json-digest.ts'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import {
  contentText,
  createKeySum,
  createTextSum,
  digestOf,
  type SummedColumn,
  summedColumns,
  versionText,
} from './checksums.ts'
import { createIdSet, type Key, keyAt } from './id-set.ts'
import type { LiveKeys } from './live-keys.ts'

/** The sums of a part of a stream: of the whole stream, or of a month. */
export type PartSums = { readonly part: string } & ReturnType<PartSum['texts']>

/** How a listed row differs from what the sync knows: it is missing, or newer than all known versions. */
type Unreported = 'missing' | 'newer'

/** The known rows with which listed rows are compared. */
interface KnownRows extends Pick<LiveKeys, 'mayHave' | 'wasWritten' | 'highestVersion'> {
  /** The rows for which `listed` can be called. */
  readonly watched: ReadonlyMap<Key, unknown>
}

/** A digest of all rows for each of some parts of a stream. */
export type Fingerprints = ReadonlyMap<string, string>

/**
 * The parts of a stream as lists have shown them: its months, or the whole stream if it has no days. What was seen of a
 * part describes the warehouse only until a row of it is written.
 */
export type ListedParts = ReturnType<typeof createListedParts>

/** Creates the parts of a stream, without a list. */
export function createListedParts(stream: Stream) {
  /** False until `begin`, and again after `end`; then nothing is noted. */
  let isOn = false
  let lists = createLists(stream, null)
  return {
    get range(): DayRange | null {
      return lists.range
    },
    /** The highest version in the lists. */
    get highestListed(): string {
      return lists.highest
    },
    /**
     * Begins lists of all rows, or of the rows in a range of days, and compares them with the known rows if there are any.
     * Sums are computed only `withSums`.
     */
    begin(range: DayRange | null, withSums: boolean, known?: KnownRows) {
      lists = createLists(stream, range, withSums ? summedColumns(stream) : undefined, known)
      isOn = true
    },
    end() {
      lists = createLists(stream, null)
      isOn = false
    },
    /** Notes the records of a list. */
    note(batch: RecordBatch) {
      if (isOn) for (let i = 0; i < batch.count; i++) noteRow(batch, i, lists)
    },
    /** Other records than those of the list are written: what was seen of their parts is no longer valid. */
    written(batch: RecordBatch) {
      if (isOn) for (let i = 0; i < batch.count; i++) invalidate(batch, i, lists)
    },
    /** How the lists have a watched row: its version, empty if it has none, and its part; undefined if they do not. */
    listed: (key: Key): { readonly version: string; readonly part: string } | undefined =>
      lists.watched.get(key),
    /**
     * Chooses the parts to write again and returns them: those whose fingerprint has changed, and those with a row that no
     * change had reported, or that was written since the fingerprint was taken.
     */
    choose(before: Fingerprints): ReadonlySet<string> {
      const chosen = new Set<string>()
      for (const [name, part] of lists.parts) {
        part.isChosen ||= before.get(name) !== fingerprintOf(part)
        if (part.isChosen) {
          part.digests.sort()
          chosen.add(name)
        }
        // Most parts are as they were, and are not compared with a second list.
        else part.digests = createDigests()
      }
      return chosen
    },
    /**
     * For a second list: sets the op to SKIP for records of other parts, for those that differ from the first list, and for
     * rows that were deleted.
     */
    skipOthers(batch: RecordBatch) {
      for (let i = 0; i < batch.count; i++) if (!confirm(batch, i, lists)) batch.ops[i] = SKIP
    },
    /** The number of rows of a kind that the second list has confirmed. */
    confirmed: (kind: Unreported): number => lists.confirmed[kind],
    /** The parts that the warehouse has as they were listed, with their fingerprints. */
    fingerprints: (): Fingerprints =>
      new Map(asListed(lists).map(([name, part]) => [name, fingerprintOf(part)] as const)),
    /** The keys of all rows in these parts. */
    *keys(): Generator<Key> {
      for (const [, { keys }] of asListed(lists)) yield* keys.keys()
    },
    /** The sums of the parts that the warehouse has as they were listed. */
    sums(): PartSums[] {
      const parts = lists.columns === undefined ? [] : asListed(lists)
      return parts.map(([part, { sums }]) => ({ part, ...sums.texts() }))
    },
  }
}

/** Lists of one stream. */
type Lists = ReturnType<typeof createLists>

function createLists(
  stream: Stream,
  range: DayRange | null,
  columns?: readonly SummedColumn[],
  known?: KnownRows,
) {
  const lists = {
    stream,
    range,
    columns,
    known,
    digest: new JsonDigest(),
    parts: new Map<string, Part>(),
    /** Rows that no change had reported, and how many of them a second list has confirmed. */
    unreported: { missing: createIdSet(), newer: createIdSet() },
    confirmed: { missing: 0, newer: 0 },
    /** Rows that were written from other answers after the first list began. */
    others: createIdSet(),
    /** See `ListedParts.listed`. */
    watched: new Map<Key, { readonly version: string; readonly part: string }>(),
    highest: '',
  }
  // A stream without dates has one part, even if it is empty.
  if (stream.dateField === undefined) partNamed('all', lists)
  return lists
}

function partNamed(name: string, { parts, stream }: Lists): Part {
  const part = parts.get(name) ?? createPart(stream)
  parts.set(name, part)
  return part
}

/** What lists have shown of a part. */
type Part = ReturnType<typeof createPart>

function createPart(stream: Stream) {
  return {
    keys: createIdSet(),
    /** Of the whole records of the living rows. */
    fingerprint: createTextSum(),
    /** Of all rows that a second list can confirm. */
    digests: createDigests(),
    sums: createPartSum(stream),
    /** See `ListedParts.choose`. */
    isChosen: false,
    /** False if a row was listed twice, or was written from another answer. */
    isValid: true,
  }
}

/** Notes a record of a first list. */
function noteRow(batch: RecordBatch, i: number, lists: Lists): void {
  const { stream, columns, known, unreported, others, digest } = lists
  const op = batch.ops[i]
  const key = keyAt(batch, i)
  const isEnd = op === SOFT_DELETE && known?.mayHave(key) === true
  if (op !== UPSERT && !isEnd) return
  const bytes = bytesOf(batch, i)
  const record = JSON.parse(bytes.toString()) as Fields
  const version = versionOf(record)
  const name = partOf(record, lists)
  if (known?.watched.has(key)) lists.watched.set(key, { version, part: name ?? '' })
  if (version > lists.highest) lists.highest = version
  if (name === undefined) return
  const part = partNamed(name, lists)
  if (part.keys.has(key)) {
    part.isValid = false
    part.isChosen = true
  }
  part.keys.add(key)
  const whole = wholeOf(bytes, digest)
  if (known !== undefined) part.digests.add(whole)
  const kind = others.has(key) ? undefined : unreportedKind(key, version, known)
  if (kind !== undefined) unreported[kind].add(key)
  part.isChosen ||= kind !== undefined || isEnd || known?.wasWritten(key) === true
  if (isEnd) return
  part.fingerprint.addDigest([digest.high >>> 0, whole])
  if (columns === undefined) return
  const summedVersion = versionText(key, version, stream)
  part.sums.add(key, summedVersion, contentText(summedVersion, record, columns))
}

function unreportedKind(
  key: Key,
  version: string,
  known: KnownRows | undefined,
): Unreported | undefined {
  if (known === undefined) return undefined
  if (!known.mayHave(key)) return 'missing'
  const { highestVersion } = known
  return highestVersion !== null && version > highestVersion ? 'newer' : undefined
}

/** See `ListedParts.written`. */
function invalidate(batch: RecordBatch, i: number, lists: Lists): void {
  if (batch.ops[i] === SKIP) return
  const { parts, others } = lists
  const key = keyAt(batch, i)
  others.add(key)
  for (const part of parts.values()) if (part.keys.has(key)) part.isValid = false
  if (batch.ops[i] === DELETE) return
  const name = partOf(JSON.parse(bytesOf(batch, i).toString()) as Fields, lists)
  if (name !== undefined) partNamed(name, lists).isValid = false
}

/** Whether a record of a second list is as the first one had it, and may be written. */
function confirm(batch: RecordBatch, i: number, lists: Lists): boolean {
  const { known, unreported, others, confirmed, digest } = lists
  const key = keyAt(batch, i)
  if (batch.ops[i] === SKIP || others.has(key)) return false
  const kind = unreported.missing.has(key) ? 'missing' : unreported.newer.has(key) ? 'newer' : null
  if (kind === null && known?.mayHave(key) !== true) return false
  const bytes = bytesOf(batch, i)
  const name = partOf(JSON.parse(bytes.toString()) as Fields, lists)
  const part = name === undefined ? undefined : lists.parts.get(name)
  if (part?.isChosen !== true) return false
  const isNew = part.digests.confirm(wholeOf(bytes, digest))
  if (isNew === undefined) return false
  if (isNew && kind !== null) confirmed[kind]++
  return true
}

/** The parts that the warehouse has as they were listed. */
function asListed({ parts }: Lists): [string, Part][] {
  return [...parts].filter(
    ([, { isValid, isChosen, digests }]) => isValid && (!isChosen || digests.areConfirmed),
  )
}

/** The part of a record: its month, or the whole stream if it has no dates; undefined if its day was not listed. */
function partOf(record: Fields, { range, stream: { dateField } }: Lists): string | undefined {
  if (dateField === undefined) return 'all'
  const day = record[dateField]
  if (typeof day !== 'string' || !isDay(day.slice(0, 10))) return 'none'
  const isListed = range === null || (day >= range.from && day.slice(0, 10) <= range.until)
  return isListed ? day.slice(0, 7) : undefined
}

function fingerprintOf({ fingerprint }: Part): string {
  return digestOf(fingerprint.text)
    .map((half) => half.toString(36))
    .join('')
}

type PartSum = ReturnType<typeof createPartSum>

function createPartSum(stream: Stream) {
  const [keys, versions, content] = [createKeySum(stream), createTextSum(), createTextSum()]
  let records = 0
  return {
    add(key: Key, version: string, contents: string) {
      records++
      keys.add([key])
      versions.add(version)
      content.add(contents)
    },
    texts: () => ({ records, keys: keys.text, versions: versions.text, content: content.text }),
  }
}

/**
 * The digests of the records of a part, 32 bits of each, because there may be millions: a record that differs from the
 * first list is taken for equal in one of 20,000 cases, and is then written as the second list has it.
 */
function createDigests() {
  let digests = new Uint32Array()
  let isConfirmed = new Uint8Array()
  let [size, confirmed] = [0, 0]
  return {
    add(digest: number) {
      if (size === digests.length) {
        const more = new Uint32Array(Math.max(256, 2 * size))
        more.set(digests)
        digests = more
      }
      digests[size++] = digest
    },
    /** All have been added: from now on, `confirm` finds them. */
    sort() {
      digests = digests.slice(0, size).sort()
      isConfirmed = new Uint8Array(size)
    },
    /** Notes that a second list has this record; undefined if the first had none like it, false if it was noted before. */
    confirm(digest: number): boolean | undefined {
      let [low, high] = [0, size]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((digests[middle] as number) < digest) low = middle + 1
        else high = middle
      }
      if (low === size || digests[low] !== digest) return undefined
      // Equal digests are confirmed one after the other.
      while (isConfirmed[low] === 1 && digests[low + 1] === digest) low++
      if (isConfirmed[low] === 1) return false
      isConfirmed[low] = 1
      confirmed++
      return true
    },
    get areConfirmed() {
      return confirmed === size
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

function bytesOf(batch: RecordBatch, index: number): Buffer {
  const { buffer, byteOffset, length } = batch.record(index)
  return Buffer.from(buffer, byteOffset, length)
}

/** 32 bits of the digest of a record; it is the same for all ways to write it, because two answers may differ in that. */
function wholeOf(bytes: Buffer, digest: JsonDigest): number {
  digest.value(bytes, 0)
  return digest.low >>> 0
}

/** The version of a record; empty if it has none. */
function versionOf(record: Fields): string {
  const version = record['changeVersion']
  return typeof version === 'string' ? version : ''
}
