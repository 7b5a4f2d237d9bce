import type { StreamSpec } from '../records/stream-spec.ts'
import { NO_DAY, type RowDigest, type RowKey } from './digests.ts'
import type { RecordReader, RowShape } from './record-reader.ts'

/** The number of rows in a chunk. */
const CHUNK = 4096
/** The size of the buffers for the texts of keys, in bytes. */
const TEXTS = 1024 * 1024
/** The number of positions for each of these buffers in the number that stands for a text. */
const PLACES = 2 ** 31
const LENGTH = 4

interface Chunk {
  /** The keys: integers, or below 0 the places of their texts. */
  keys: Float64Array
  highs: Int32Array
  lows: Int32Array
  days: Uint16Array
  isFound: Uint8Array
  /** A part of each field's digest for each row, by field. */
  fields: readonly (FieldParts | undefined)[]
}

/**
 * The parts of one field: for all rows, or for each row an index into a few different parts. A missing field is null
 * in all rows.
 */
type FieldParts = Uint16Array | { readonly which: Uint8Array; readonly parts: readonly number[] }

/** The number of different parts that a byte can distinguish. */
const FEW = 256

/**
 * Copies the parts of a field: most fields have few values, for which one byte per row is enough, and none for a single
 * value.
 */
function packed(field: Uint16Array): FieldParts {
  const parts: number[] = []
  const places = new Map<number, number>()
  const which = new Uint8Array(field.length)
  for (const [at, part] of field.entries()) {
    let place = places.get(part)
    if (place === undefined) {
      if (parts.length === FEW) return field.slice()
      place = parts.push(part) - 1
      places.set(part, place)
    }
    which[at] = place
  }
  return { which: parts.length === 1 ? NONE : which, parts }
}

/** Used if all rows have the same part. */
const NONE = new Uint8Array(0)

function partAt(field: FieldParts | undefined, at: number): number {
  if (field === undefined) return 0
  if (field instanceof Uint16Array) return field[at] as number
  return field.parts[field.which[at] ?? 0] as number
}

/**
 * The rows of a table by their keys, with digests instead of values. A row takes about 25 bytes, and at most 2 for
 * each field, so that a million rows need little memory, and no values are in memory.
 */
export class RowTable {
  #count = 0
  readonly #chunks: Chunk[] = []
  /** A hash table: the index of a row plus 1, at the slot of its key; 0 for a free slot. */
  #slots = new Int32Array(1024)
  readonly #texts: Buffer[] = []
  #textEnd = TEXTS
  /** The parts of the last chunk by field, until it is full: buffers that all chunks use one after the other. */
  readonly #parts: (Uint16Array | undefined)[] = []

  get count(): number {
    return this.#count
  }

  /** Adds a row with this number of fields; returns false and adds nothing if the key exists. */
  add(row: RowDigest, fields: number): boolean {
    const slot = this.#slotOf(row.key)
    if (this.#slots[slot] !== 0) return false
    const index = this.#count++
    const chunk = this.#chunkFor(index)
    const at = index % CHUNK
    chunk.keys[at] = typeof row.key === 'number' ? row.key : this.#addText(row.key)
    chunk.highs[at] = row.high
    chunk.lows[at] = row.low
    chunk.days[at] = row.day
    for (let place = 0; place < fields; place++) {
      const part = row.partOf(place)
      if (part === 0) continue
      this.#parts[place] ??= new Uint16Array(CHUNK)
      const parts = this.#parts[place] as Uint16Array
      parts[at] = part
    }
    if (at === CHUNK - 1) this.#pack(chunk, CHUNK)
    this.#slots[slot] = index + 1
    if (this.#count * 3 > this.#slots.length * 2) this.#grow()
    return true
  }

  /** Must be called after the last row, before rows are compared. */
  end(): void {
    const rest = this.#count % CHUNK
    const last = this.#chunks.at(-1)
    if (rest === 0 || last === undefined) return
    last.keys = last.keys.slice(0, rest)
    last.highs = last.highs.slice(0, rest)
    last.lows = last.lows.slice(0, rest)
    last.days = last.days.slice(0, rest)
    last.isFound = last.isFound.slice(0, rest)
    this.#pack(last, rest)
  }

  /** Stores the parts of a chunk with so many rows. */
  #pack(chunk: Chunk, rows: number): void {
    chunk.fields = this.#parts.map((parts) => parts && packed(parts.subarray(0, rows)))
    for (const parts of this.#parts) parts?.fill(0)
  }

  /** The index of the row with this key; -1 if there is none. */
  find(key: RowKey): number {
    return (this.#slots[this.#slotOf(key)] as number) - 1
  }

  keyOf(index: number): RowKey {
    const key = this.#chunkOf(index).keys[index % CHUNK] as number
    return key >= 0 ? key : this.#textAt(key).toString('utf8')
  }

  dayOf(index: number): number {
    return this.#chunkOf(index).days[index % CHUNK] ?? NO_DAY
  }

  markFound(index: number): void {
    this.#chunkOf(index).isFound[index % CHUNK] = 1
  }

  isFound(index: number): boolean {
    return this.#chunkOf(index).isFound[index % CHUNK] === 1
  }

  isSame(index: number, { high, low }: Pick<RowDigest, 'high' | 'low'>): boolean {
    const { highs, lows } = this.#chunkOf(index)
    return highs[index % CHUNK] === high && lows[index % CHUNK] === low
  }

  /** Whether both tables have the same fields for this key, or both have no row for it. */
  hasSame(key: RowKey, other: RowTable): boolean {
    const index = this.find(key)
    const there = other.find(key)
    if (index < 0 || there < 0) return index === there
    const { highs, lows } = other.#chunkOf(there)
    const [high = 0, low = 0] = [highs[there % CHUNK], lows[there % CHUNK]]
    return this.isSame(index, { high, low })
  }

  /** The places of the fields that differ between a row of the table and another one. */
  changedPlaces(index: number, row: RowDigest, fields: number): number[] {
    const chunk = this.#chunkOf(index)
    const places: number[] = []
    for (let place = 0; place < fields; place++)
      if (partAt(chunk.fields[place], index % CHUNK) !== row.partOf(place)) places.push(place)
    return places
  }

  #chunkOf(index: number): Chunk {
    return this.#chunks[Math.floor(index / CHUNK)] as Chunk
  }

  #chunkFor(index: number): Chunk {
    const last = this.#chunks[Math.floor(index / CHUNK)]
    if (last !== undefined) return last
    const chunk = {
      keys: new Float64Array(CHUNK),
      highs: new Int32Array(CHUNK),
      lows: new Int32Array(CHUNK),
      days: new Uint16Array(CHUNK),
      isFound: new Uint8Array(CHUNK),
      fields: [],
    }
    this.#chunks.push(chunk)
    return chunk
  }

  /** The slot of the row with this key, or the free slot for it. */
  #slotOf(key: RowKey): number {
    const text = typeof key === 'string' ? Buffer.from(key) : undefined
    const mask = this.#slots.length - 1
    let slot = (typeof key === 'number' ? hashOfNumber(key) : hashOfText(key)) & mask
    for (;;) {
      const index = (this.#slots[slot] as number) - 1
      if (index < 0) return slot
      const stored = this.#chunkOf(index).keys[index % CHUNK] as number
      const isSame =
        text === undefined ? stored === key : stored < 0 && this.#textAt(stored).equals(text)
      if (isSame) return slot
      slot = (slot + 1) & mask
    }
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (let index = 0; index < this.#count; index++) {
      const key = this.keyOf(index)
      let slot = (typeof key === 'number' ? hashOfNumber(key) : hashOfText(key)) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = index + 1
    }
  }

  /** Stores a text, and returns its place. */
  #addText(text: string): number {
    const size = LENGTH + Buffer.byteLength(text)
    if (this.#textEnd + size > TEXTS) {
      this.#texts.push(Buffer.allocUnsafe(Math.max(TEXTS, size)))
      this.#textEnd = 0
    }
    const at = this.#textEnd
    const buffer = this.#texts.at(-1) as Buffer
    buffer.writeUInt32LE(size - LENGTH, at)
    buffer.write(text, at + LENGTH)
    this.#textEnd += size
    return -1 - ((this.#texts.length - 1) * PLACES + at)
  }

  #textAt(place: number): Buffer {
    const position = -1 - place
    const buffer = this.#texts[Math.floor(position / PLACES)] as Buffer
    const at = position % PLACES
    const start = at + LENGTH
    return buffer.subarray(start, start + buffer.readUInt32LE(at))
  }
}

function hashOfNumber(key: number): number {
  const hash = Math.imul((key | 0) ^ Math.floor(key / 2 ** 32), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

function hashOfText(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** A stream that can be compared. */
export type VerifiedStream = RowShape & StreamSpec

/** The rows of a stream in a warehouse. */
export interface HeldRows {
  readonly table: RowTable
  /** The keys of rows whose key another row has, too. */
  readonly repeated: readonly RowKey[]
  /** Reads the records of the service for a comparison with these rows. */
  readonly reader: RecordReader
  /** The fields of the schema that no row has; they are not compared. */
  readonly lacking: readonly string[]
  /** What the last sync knew; undefined if only rows were given. */
  readonly known?: {
    /** The first and the last day that the rows cover. */
    readonly from: string | null
    readonly until: string | null
    /** The highest version that a sync has read. */
    readonly version: string | null
    /** The rows that it has kept although the service no longer lists them. */
    readonly withheld: { has(key: RowKey): boolean }
  }
}

/** The rows of each stream in a warehouse, or the reason why the stream cannot be compared. */
export type Held = ReadonlyMap<string, HeldRows | { readonly why: string }>
