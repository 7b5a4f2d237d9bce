import type { StreamSpec } from '../records/stream-spec.ts'
import type { RowDigest, RowKey } from './digests.ts'
import { PackedRows } from './packed-rows.ts'
import type { RecordReader, RowShape } from './record-reader.ts'

/** The size of the buffers for the texts of keys, in bytes. */
const TEXTS = 1024 * 1024
/** The number of positions for each of these buffers in the number that stands for a text. */
const PLACES = 2 ** 31
const LENGTH = 4

/**
 * The rows of a table by their keys, with digests instead of values, so that a million rows need little memory, and no
 * values are in memory. Rows whose integer keys rise, as most tables have them, need no index.
 */
export class RowTable {
  /** Each row has a higher key than the one before. They are the first rows of the table. */
  readonly #rising = new PackedRows()
  #highest = -1
  /** The other rows. Their keys are integers, or below 0 the places of their texts. */
  readonly #others = new PackedRows()
  /** A hash table of the other rows: the number of a row plus 1, at the slot of its key; 0 for a free slot. */
  #slots = new Int32Array(1024)
  readonly #texts: Buffer[] = []
  #textEnd = TEXTS
  /** The row after the last one that was found, which is often the next to be looked for. */
  #next = 0

  get count(): number {
    return this.#rising.count + this.#others.count
  }

  /** Adds a row with this number of fields; returns false and adds nothing if the key exists. */
  add(row: RowDigest, fields: number): boolean {
    const { key } = row
    if (typeof key === 'number' && key > this.#highest) {
      this.#rising.add(key, row, fields)
      this.#highest = key
      return true
    }
    if (typeof key === 'number' && this.#findRising(key) >= 0) return false
    const slot = this.#slotOf(key)
    if (this.#slots[slot] !== 0) return false
    this.#others.add(typeof key === 'number' ? key : this.#addText(key), row, fields)
    this.#slots[slot] = this.#others.count
    if (this.#others.count * 3 > this.#slots.length * 2) this.#grow()
    return true
  }

  /** Must be called after the last row, before rows are compared. */
  end(): void {
    this.#rising.end()
    this.#others.end()
  }

  /** The index of the row with this key; -1 if there is none. */
  find(key: RowKey): number {
    const rising = typeof key === 'number' ? this.#findRising(key) : -1
    if (rising >= 0) return rising
    const other = (this.#slots[this.#slotOf(key)] as number) - 1
    return other < 0 ? -1 : this.#rising.count + other
  }

  keyOf(index: number): RowKey {
    const key = this.#rowsAt(index).keyAt(this.#placeOf(index))
    return key >= 0 ? key : this.#textAt(key).toString('utf8')
  }

  dayOf(index: number): number {
    return this.#rowsAt(index).dayAt(this.#placeOf(index))
  }

  markFound(index: number): void {
    this.#rowsAt(index).markFound(this.#placeOf(index))
  }

  isFound(index: number): boolean {
    return this.#rowsAt(index).isFound(this.#placeOf(index))
  }

  isSame(index: number, { high, low }: Pick<RowDigest, 'high' | 'low'>): boolean {
    const rows = this.#rowsAt(index)
    const at = this.#placeOf(index)
    return rows.highAt(at) === high && rows.lowAt(at) === low
  }

  /** Whether both tables have the same fields for this key, or both have no row for it. */
  hasSame(key: RowKey, other: RowTable): boolean {
    const index = this.find(key)
    const there = other.find(key)
    if (index < 0 || there < 0) return index === there
    const rows = other.#rowsAt(there)
    const at = other.#placeOf(there)
    return this.isSame(index, { high: rows.highAt(at), low: rows.lowAt(at) })
  }

  /** The places of the fields that differ between a row of the table and another one. */
  changedPlaces(index: number, row: RowDigest, fields: number): number[] {
    const rows = this.#rowsAt(index)
    const at = this.#placeOf(index)
    const places: number[] = []
    for (let place = 0; place < fields; place++)
      if (rows.partAt(at, place) !== row.partOf(place)) places.push(place)
    return places
  }

  #rowsAt(index: number): PackedRows {
    return index < this.#rising.count ? this.#rising : this.#others
  }

  #placeOf(index: number): number {
    return index < this.#rising.count ? index : index - this.#rising.count
  }

  /** The row with this key among those that rise; -1 if there is none. */
  #findRising(key: number): number {
    let [from, to] = [0, this.#rising.count]
    if (key > this.#highest) return -1
    if (this.#next < to && this.#rising.keyAt(this.#next) === key) return this.#next++
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#rising.keyAt(middle) < key) from = middle + 1
      else to = middle
    }
    if (this.#rising.keyAt(from) !== key) return -1
    this.#next = from + 1
    return from
  }

  /** The slot of another row with this key, or the free slot for it. */
  #slotOf(key: RowKey): number {
    const text = typeof key === 'string' ? Buffer.from(key) : undefined
    const mask = this.#slots.length - 1
    let slot = hashOf(key) & mask
    for (;;) {
      const row = (this.#slots[slot] as number) - 1
      if (row < 0) return slot
      const stored = this.#others.keyAt(row)
      const isSame =
        text === undefined ? stored === key : stored < 0 && this.#textAt(stored).equals(text)
      if (isSame) return slot
      slot = (slot + 1) & mask
    }
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (let row = 0; row < this.#others.count; row++) {
      const key = this.#others.keyAt(row)
      let slot = hashOf(key >= 0 ? key : this.#textAt(key).toString('utf8')) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = row + 1
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

function hashOf(key: RowKey): number {
  return typeof key === 'number' ? hashOfNumber(key) : hashOfText(key)
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
