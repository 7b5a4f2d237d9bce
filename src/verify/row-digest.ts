import type { JsonDigest } from './json-digest.ts'

/** What tells a row apart: an integer that a double holds, or the JSON text of anything else. */
export type RowKey = number | string

/** An integer of so many digits is always one that a double holds. */
const SAFE_DIGITS = 15
const INTEGER = /^(0|[1-9]\d*)$/

/** The key whose columns have these JSON texts. */
export function keyOf(texts: readonly string[]): RowKey {
  const [first = 'null'] = texts
  if (texts.length > 1) return `[${texts.map(written).join(',')}]`
  return first.length <= SAFE_DIGITS && INTEGER.test(first) ? Number(first) : written(first)
}

/** A JSON text in one form; a number keeps its digits. */
function written(text: string): string {
  return text.startsWith('"') ? JSON.stringify(JSON.parse(text)) : text
}

/** Days that the bounds of a listing can be compared with. */
export const NO_DAY = 0xffff

/** A day as a number of days since 1970; NO_DAY for what is none, or too far away. */
export function dayNumber(text: string | undefined): number {
  const day = Date.parse(`${text?.slice(0, 10)}T00:00:00Z`) / 86_400_000
  return Number.isInteger(day) ? Math.min(Math.max(day, 0), NO_DAY - 1) : NO_DAY
}

/** The fields that the rows of a stream are compared by. */
export interface FieldList {
  /** As they are told of. */
  readonly names: readonly string[]
  /** The place of a field; -1 where it is none of them. */
  placeOf(name: string): number
  /** The same; adds the field where it is none of them. */
  addedPlaceOf(name: string): number
  /** The digest of the name at a place. */
  readonly highs: readonly number[]
  readonly lows: readonly number[]
}

/** `foldName` says under which name a field is found: fields of one name are the same. */
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

/** A row, as it is compared: its key, and a digest of each of its fields. It is used again for the next one. */
export class RowDigest {
  key: RowKey = 0
  version: string | undefined
  day = NO_DAY
  /** Of all fields together. */
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
    this.version = undefined
    this.day = NO_DAY
  }

  /** Sets a field; both are 0 for null. */
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

  /** 16 bits of a field: 0 for null alone. */
  partOf(place: number): number {
    if (place >= this.#lows.length || !this.isSet(place)) return 0
    return (this.#lows[place] as number) & 0xffff || 1
  }

  /** Sums the fields up, in whatever order they came. */
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
