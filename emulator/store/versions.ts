import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** This many bytes are kept uncompressed; later ones are compressed to about a tenth of their size. */
export const openBytes = 1024 ** 3
/** This many decompressed blocks are kept, because the next page is probably in one of them. */
const RECENT_BLOCKS = 64
const COMMA = 0x2c
const LINE_END = 0x0a

/** Texts, each followed by a comma, and the position where each begins. */
export interface OpenBlock {
  readonly bytes: Buffer
  readonly starts: Uint32Array
}

/** Compressed texts. */
interface PackedBlock {
  readonly packed: Buffer
  /** How many there are. */
  readonly count: number
  /** Their bytes. */
  readonly size: number
}

/** Texts that are held together. */
export type Block = OpenBlock | PackedBlock

/** Makes and reads the blocks of all collections. */
export class Blocks {
  #room: number
  /** Ordered by when they were read, the latest at the end. */
  readonly #recent = new Map<PackedBlock, OpenBlock>()

  constructor(room = openBytes) {
    this.#room = room
  }

  /** Makes a block of JSON texts, which have no line ends. */
  add(texts: readonly string[]): Block {
    const lines = Buffer.from(`${texts.join('\n')}\n`)
    const { length: count } = texts
    if (lines.length <= this.#room) {
      this.#room -= lines.length
      return opened(lines, count)
    }
    const packed = deflateRawSync(lines, { level: constants.Z_BEST_SPEED })
    // Copied, because the result is part of a larger buffer that would be kept in memory.
    return { packed: Buffer.from(packed), count, size: lines.length }
  }

  read(block: Block): OpenBlock {
    if ('bytes' in block) return block
    const open = this.#recent.get(block) ?? unpacked(block)
    this.#recent.delete(block)
    this.#recent.set(block, open)
    const [oldest] = this.#recent.keys()
    if (oldest && this.#recent.size > RECENT_BLOCKS) this.#recent.delete(oldest)
    return open
  }
}

function unpacked({ packed, count, size }: PackedBlock): OpenBlock {
  // One byte more than needed: if the buffer is exactly full, zlib allocates another one.
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, size + 1)
  return opened(inflateRawSync(packed, { chunkSize }), count)
}

/** Replaces the line end after each text by a comma. */
function opened(lines: Buffer, count: number): OpenBlock {
  const starts = new Uint32Array(count + 1)
  for (let text = 1; text <= count; text += 1) {
    const end = lines.indexOf(LINE_END, starts[text - 1])
    lines[end] = COMMA
    starts[text] = end + 1
  }
  return { bytes: lines, starts }
}

const FIRST_CAPACITY = 64

/** A list of numbers in a typed array that doubles when it is full: 4 or 8 bytes for each. */
export class Numbers {
  #values: Uint32Array | Float64Array
  #length = 0

  /** `Uint32Array` holds whole numbers from 0 on, `Float64Array` any number. */
  constructor(Values: Uint32ArrayConstructor | Float64ArrayConstructor) {
    this.#values = new Values(FIRST_CAPACITY)
  }

  get length(): number {
    return this.#length
  }

  /** A copy that can be changed independently. */
  copy(): Numbers {
    const copy = new Numbers(this.#values.constructor as Uint32ArrayConstructor)
    copy.#values = this.#values.slice()
    copy.#length = this.#length
    return copy
  }

  /** The number at an index below `length`. */
  at(index: number): number {
    return this.#values[index] as number
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }

  /** Adds a number before the one at `index`, by default at the end. */
  insert(value: number, index = this.#length): void {
    if (this.#length === this.#values.length) this.#grow()
    if (index < this.#length) this.#values.copyWithin(index + 1, index, this.#length)
    this.#values[index] = value
    this.#length += 1
  }

  remove(index: number): void {
    this.#values.copyWithin(index, index + 1, this.#length)
    this.#length -= 1
  }

  #grow(): void {
    const Values = this.#values.constructor as Uint32ArrayConstructor
    const larger = new Values(2 * this.#length)
    larger.set(this.#values)
    this.#values = larger
  }
}

/** A list with few different values, such as dates: each value is stored once, and 4 bytes for each element. */
class RepeatedValues<T> {
  readonly #codes = new Numbers(Uint32Array)
  readonly #values: T[] = []
  readonly #codeOf = new Map<T, number>()

  push(value: T): void {
    const known = this.#codeOf.get(value)
    this.#codes.insert(known ?? this.#values.length)
    if (known !== undefined) return
    this.#codeOf.set(value, this.#values.length)
    this.#values.push(value)
  }

  at(index: number): T {
    return this.#values[this.#codes.at(index)] as T
  }

  /** Tests whether the value at an index is this one, without reading it. */
  tester(value: unknown): (index: number) => boolean {
    const code = this.#codeOf.get(value as T)
    if (code === undefined) return () => false
    return (index) => this.#codes.at(index) === code
  }
}

/** An internal id: an integer, or the GUID text of an activity definition. */
export type Id = number | string

/** The properties of a record as plain JSON values. */
export type Fields = Record<string, unknown>

/** One version of a record. It is immutable: a change of the record replaces it. */
export interface StoredRecord {
  readonly id: Id
  readonly version: string
  /** The date that filters test (`from` on assignments). */
  readonly date: string | undefined
  /** The person that filters test. */
  readonly person: number | undefined
  /** The record as JSON, served as it is. */
  readonly text: string
}

const TEXTS_PER_BLOCK = 256

/** JSON texts in the order in which they were added. */
export class Texts {
  readonly #keeper: Blocks
  readonly #blocks: Block[] = []
  /** Texts that are not in a block yet. */
  #last: string[] = []

  constructor(keeper: Blocks) {
    this.#keeper = keeper
  }

  push(text: string): void {
    if (this.#last.length === TEXTS_PER_BLOCK) {
      this.#blocks.push(this.#keeper.add(this.#last))
      this.#last = []
    }
    this.#last.push(text)
  }

  at(index: number): string {
    const within = index % TEXTS_PER_BLOCK
    const block = this.#blockOf(index)
    if (!block) return this.#last[within] as string
    const { bytes, starts } = block
    return bytes.toString('utf8', starts[within], endOf(starts, within))
  }

  /** The bytes of the texts at these indexes, with commas between, in as few parts as possible. */
  parts(indexes: readonly number[]): Buffer[] {
    const parts: Buffer[] = []
    for (let at = 0; at < indexes.length; ) {
      const first = indexes[at] as number
      let count = 1
      while (indexes[at + count] === first + count && (first + count) % TEXTS_PER_BLOCK !== 0) {
        count += 1
      }
      if (at > 0) parts.push(comma)
      parts.push(this.#run(first, count))
      at += count
    }
    return parts
  }

  /** Texts that follow each other and are in one block. */
  #run(first: number, count: number): Buffer {
    const within = first % TEXTS_PER_BLOCK
    const block = this.#blockOf(first)
    if (!block) return Buffer.from(this.#last.slice(within, within + count).join(','))
    const { bytes, starts } = block
    return bytes.subarray(starts[within], endOf(starts, within + count - 1))
  }

  #blockOf(index: number): OpenBlock | undefined {
    const block = this.#blocks[Math.floor(index / TEXTS_PER_BLOCK)]
    return block && this.#keeper.read(block)
  }
}

const comma = Buffer.from(',')

/** Where a text ends: before the comma in front of the next one. */
function endOf(starts: Uint32Array, within: number): number {
  return (starts[within + 1] as number) - 1
}

/** A version of a record, as it is added. */
export interface NewVersion extends Omit<StoredRecord, 'version'> {
  /** The number of the change that made it. */
  readonly sequence: number
}

/**
 * Every version of every record of a collection, in the order in which they were made. Versions that were replaced or
 * deleted are included, because the history refers to them.
 */
export class Versions {
  readonly #ids = new Numbers(Float64Array)
  /** The ids that are not numbers. */
  readonly #guids = new Map<number, string>()
  readonly #sequences = new Numbers(Uint32Array)
  readonly #dates = new RepeatedValues<string | undefined>()
  readonly #people = new RepeatedValues<number | undefined>()
  readonly #texts: Texts

  constructor(blocks: Blocks) {
    this.#texts = new Texts(blocks)
  }

  /** Adds a version; returns its index. */
  add({ id, sequence, date, person, text }: NewVersion): number {
    const index = this.#ids.length
    if (typeof id === 'string') this.#guids.set(index, id)
    this.#ids.insert(typeof id === 'string' ? Number.NaN : id)
    this.#sequences.insert(sequence)
    this.#dates.push(date)
    this.#people.push(person)
    this.#texts.push(text)
    return index
  }

  at(index: number): StoredRecord {
    return new Version(this, index)
  }

  /** The index of a version of this collection. */
  indexOf({ version }: StoredRecord): number {
    return firstWith(this.#sequences.length, (index) => this.version(index) >= version)
  }

  id(index: number): Id {
    const id = this.#ids.at(index)
    return Number.isNaN(id) ? (this.#guids.get(index) as string) : id
  }

  version(index: number): string {
    return versionOf(this.#sequences.at(index))
  }

  date(index: number): string | undefined {
    return this.#dates.at(index)
  }

  person(index: number): number | undefined {
    return this.#people.at(index)
  }

  text(index: number): string {
    return this.#texts.at(index)
  }

  /** Tests whether a version is about this person. */
  isAbout(person: unknown): (index: number) => boolean {
    return this.#people.tester(person)
  }

  /** The bytes of the texts of these versions, with commas between. */
  parts(indexes: readonly number[]): Buffer[] {
    return this.#texts.parts(indexes)
  }
}

/** A record that looks up its properties when they are read. */
class Version implements StoredRecord {
  readonly #versions: Versions
  readonly #index: number

  constructor(versions: Versions, index: number) {
    this.#versions = versions
    this.#index = index
  }

  get id(): Id {
    return this.#versions.id(this.#index)
  }

  get version(): string {
    return this.#versions.version(this.#index)
  }

  get date(): string | undefined {
    return this.#versions.date(this.#index)
  }

  get person(): number | undefined {
    return this.#versions.person(this.#index)
  }

  get text(): string {
    return this.#versions.text(this.#index)
  }
}

/** The first index below `length` for which this is true, if it is true for all that follow. */
export function firstWith(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** 20 upper-case hexadecimal characters that rise with every change of any collection. */
export function versionOf(sequence: number): string {
  return `00000A1000${sequence.toString(16).toUpperCase().padStart(10, '0')}`
}
