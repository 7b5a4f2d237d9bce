import type { RowDigest } from './digests.ts'

/** The number of rows in a chunk. */
const CHUNK = 4096

/** The values of some rows: a smallest one, and what the value of each row has in addition; nothing if all are equal. */
interface Numbers {
  readonly least: number
  readonly rest: Uint8Array | Uint16Array | Uint32Array | Float64Array | undefined
}

/** Integers in the fewest bytes per row. */
function packedNumbers(values: Float64Array | Uint16Array): Numbers {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  if (most <= least) return { least, rest: undefined }
  const range = most - least
  const Rest =
    range < 2 ** 8
      ? Uint8Array
      : range < 2 ** 16
        ? Uint16Array
        : range < 2 ** 32
          ? Uint32Array
          : Float64Array
  const rest = new Rest(values.length)
  for (let at = 0; at < rest.length; at++) rest[at] = (values[at] as number) - least
  return { least, rest }
}

function numberAt({ least, rest }: Numbers, at: number): number {
  return rest === undefined ? least : least + (rest[at] as number)
}

/**
 * The parts of one field: for all rows, or for each row an index into a few different parts. A missing field is null
 * in all rows.
 */
type FieldParts = Uint16Array | { readonly which: Numbers; readonly parts: readonly number[] }

/** The number of different parts that a byte can distinguish. */
const FEW = 256
const indexes = new Uint16Array(CHUNK)

/** Copies the parts of a field: most fields have few values, for which one byte per row is enough. */
function packedParts(field: Uint16Array): FieldParts {
  const parts: number[] = []
  const places = new Map<number, number>()
  const which = indexes.subarray(0, field.length)
  for (const [at, part] of field.entries()) {
    let place = places.get(part)
    if (place === undefined) {
      if (parts.length === FEW) return field.slice()
      place = parts.push(part) - 1
      places.set(part, place)
    }
    which[at] = place
  }
  return { which: packedNumbers(which), parts }
}

function partAt(field: FieldParts | undefined, at: number): number {
  if (field === undefined) return 0
  if (field instanceof Uint16Array) return field[at] as number
  return field.parts[numberAt(field.which, at)] as number
}

interface Chunk {
  readonly keys: Numbers
  readonly highs: Int32Array
  readonly lows: Int32Array
  readonly days: Numbers
  /** One bit per row. */
  readonly isFound: Uint8Array
  /** A part of each field's digest for each row, by field. */
  readonly fields: readonly (FieldParts | undefined)[]
}

/**
 * Rows in compact columns, numbered in the order in which they were added. A row takes 8 bytes for its digest, 1 to 8
 * for its key, and at most 2 for its day and for each field.
 */
export class PackedRows {
  #count = 0
  readonly #chunks: Chunk[] = []
  // The last rows, until there are enough for a chunk.
  readonly #keys = new Float64Array(CHUNK)
  readonly #highs = new Int32Array(CHUNK)
  readonly #lows = new Int32Array(CHUNK)
  readonly #days = new Uint16Array(CHUNK)
  readonly #parts: (Uint16Array | undefined)[] = []

  get count(): number {
    return this.#count
  }

  /** Adds a row with this number of fields, and an integer that stands for its key. */
  add(key: number, row: RowDigest, fields: number): void {
    const at = this.#count % CHUNK
    this.#keys[at] = key
    this.#highs[at] = row.high
    this.#lows[at] = row.low
    this.#days[at] = row.day
    for (let place = 0; place < fields; place++) {
      const part = row.partOf(place)
      if (part === 0) continue
      this.#parts[place] ??= new Uint16Array(CHUNK)
      ;(this.#parts[place] as Uint16Array)[at] = part
    }
    this.#count++
    if (at === CHUNK - 1) this.#pack(CHUNK)
  }

  /** Must be called after the last row, before anything but a key is asked. */
  end(): void {
    const rest = this.#count % CHUNK
    if (rest > 0) this.#pack(rest)
  }

  #pack(rows: number): void {
    this.#chunks.push({
      keys: packedNumbers(this.#keys.subarray(0, rows)),
      highs: this.#highs.slice(0, rows),
      lows: this.#lows.slice(0, rows),
      days: packedNumbers(this.#days.subarray(0, rows)),
      isFound: new Uint8Array(Math.ceil(rows / 8)),
      fields: this.#parts.map((parts) => parts && packedParts(parts.subarray(0, rows))),
    })
    for (const parts of this.#parts) parts?.fill(0)
  }

  keyAt(row: number): number {
    const chunk = this.#chunks[Math.floor(row / CHUNK)]
    return chunk === undefined
      ? (this.#keys[row % CHUNK] as number)
      : numberAt(chunk.keys, row % CHUNK)
  }

  dayAt(row: number): number {
    return numberAt(this.#chunkOf(row).days, row % CHUNK)
  }

  highAt(row: number): number {
    return this.#chunkOf(row).highs[row % CHUNK] as number
  }

  lowAt(row: number): number {
    return this.#chunkOf(row).lows[row % CHUNK] as number
  }

  markFound(row: number): void {
    const { isFound } = this.#chunkOf(row)
    const at = row % CHUNK
    isFound[at >> 3] = (isFound[at >> 3] as number) | (1 << (at & 7))
  }

  isFound(row: number): boolean {
    const at = row % CHUNK
    return ((this.#chunkOf(row).isFound[at >> 3] as number) & (1 << (at & 7))) !== 0
  }

  /** 16 bits of the digest of a field; 0 only for null. */
  partAt(row: number, place: number): number {
    return partAt(this.#chunkOf(row).fields[place], row % CHUNK)
  }

  #chunkOf(row: number): Chunk {
    return this.#chunks[Math.floor(row / CHUNK)] as Chunk
  }
}
