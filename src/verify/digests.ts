import type { JsonDigest } from '../records/json-digest.ts'

/** The key of a row: an integer that a double can represent, or the JSON text of any other key. */
export type RowKey = number | string

/** A double can represent every integer with this many digits. */
const SAFE_DIGITS = 15
const ZERO = 0x30
const INTEGER = /^(0|[1-9]\d*)$/

/** The key for the JSON texts of its columns. */
export function keyOf(texts: readonly string[]): RowKey {
  const [first = 'null'] = texts
  if (texts.length > 1) return `[${texts.map(written).join(',')}]`
  return first.length <= SAFE_DIGITS && INTEGER.test(first) ? Number(first) : written(first)
}

/** The key of an integer in bytes, as `keyOf` would return it; -1 if it has to be asked. */
export function wholeKeyAt(bytes: Buffer, start: number, end: number): number {
  if (end - start > SAFE_DIGITS || (bytes[start] === ZERO && end - start > 1)) return -1
  return digitsAt(bytes, start, end)
}

/** The number with these digits; -1 if something else is among them. */
export function digitsAt(bytes: Buffer, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/** A JSON text in a normalized form; a number keeps its digits. */
function written(text: string): string {
  return text.startsWith('"') ? JSON.stringify(JSON.parse(text)) : text
}

/** The number for values that are no date; dates are smaller. */
export const NO_DAY = 0xffff

/** A date as the number of days since 1970, at least 0 and below NO_DAY; NO_DAY for anything that is not a date. */
export function dayNumber(text: string | undefined): number {
  const day = Date.parse(`${text?.slice(0, 10)}T00:00:00Z`) / 86_400_000
  return Number.isInteger(day) ? Math.min(Math.max(day, 0), NO_DAY - 1) : NO_DAY
}

/** The fields by which the rows of a stream are compared. */
export interface FieldList {
  /** The names, as reports show them. */
  readonly names: readonly string[]
  /** The place of a field; -1 if it is not in the list. */
  placeOf(name: string): number
  /** The place of a field, which is added if it is not in the list. */
  addedPlaceOf(name: string): number
  /** The digests of the names, by place. */
  readonly highs: readonly number[]
  readonly lows: readonly number[]
}

/** Creates a list of fields. Names with the same result of `foldName` are the same field. */
export function createFieldList(digest: JsonDigest, foldName = (name: string) => name): FieldList {
  const names: string[] = []
  const highs: number[] = []
  const lows: number[] = []
  const places = new Map<string, number>()
  return {
    names,
    highs,
    lows,
    placeOf: (name) => places.get(foldName(name)) ?? -1,
    addedPlaceOf(name) {
      const folded = foldName(name)
      const known = places.get(folded)
      if (known !== undefined) return known
      digest.text(folded)
      highs.push(digest.high)
      lows.push(digest.low)
      places.set(folded, names.length)
      return names.push(name) - 1
    },
  }
}

/** The digests of one row: its key, and a digest of each field. The object is reused for the next row. */
export class RowDigest {
  key: RowKey = 0
  day = NO_DAY
  /** The digest of all fields together. */
  high = 0
  low = 0
  #highs: Int32Array<ArrayBuffer>
  #lows: Int32Array<ArrayBuffer>

  constructor(fields: number) {
    this.#highs = new Int32Array(fields)
    this.#lows = new Int32Array(fields)
  }

  clear(): void {
    this.#highs.fill(0)
    this.#lows.fill(0)
    this.day = NO_DAY
  }

  /** Sets the digest of a field; both halves are 0 for null. */
  set(place: number, high: number, low: number): void {
    if (place >= this.#highs.length) {
      this.#highs = longer(this.#highs, place)
      this.#lows = longer(this.#lows, place)
    }
    this.#highs[place] = high
    this.#lows[place] = low
  }

  isSet(place: number): boolean {
    return this.#highs[place] !== 0 || this.#lows[place] !== 0
  }

  /** 16 bits of a field's digest; 0 only for null. */
  partOf(place: number): number {
    if (place >= this.#lows.length || !this.isSet(place)) return 0
    return (this.#lows[place] as number) & 0xffff || 1
  }

  /** Computes the digest of all fields, independent of their order. */
  sum({ names, highs, lows }: FieldList, digest: JsonDigest): void {
    let high = 0
    let low = 0
    for (let place = 0; place < names.length; place++) {
      if (place >= this.#highs.length || !this.isSet(place)) continue
      digest.high = this.#highs[place] as number
      digest.low = this.#lows[place] as number
      digest.named(highs[place] as number, lows[place] as number)
      high = (high + digest.high) | 0
      low = (low + digest.low) | 0
    }
    this.high = high
    this.low = low
  }
}

function longer(array: Int32Array<ArrayBuffer>, place: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(place + 8)
  larger.set(array)
  return larger
}
