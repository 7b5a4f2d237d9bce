import { append, type ByteSink, copy, isEqual, viewOf } from './buffers.ts'

/** Appends what replaces the value that stands in `from` between two positions. */
export type ValueWriter = (from: DataView, start: number, end: number, sink: ByteSink) => void

/** Longer values are not remembered, nor what is replaced by a longer one. */
const LONGEST = 255

/**
 * Asks a replacement once per value, because those of a few thousand people come again and again. A
 * value is looked up by its bytes, so that no text is made of it.
 */
export function createValueWriter(replace: (json: string) => string): ValueWriter {
  let memory: Memory | undefined
  return (from, start, end, sink) => {
    const isShort = end - start <= LONGEST
    if (isShort && memory?.copyReplacement(from, start, end, sink)) return
    const value = Buffer.from(from.buffer, from.byteOffset + start, end - start)
    const replacement = Buffer.from(replace(value.toString('utf8')))
    append(replacement, sink)
    if (!isShort || replacement.length > LONGEST) return
    memory ??= new Memory()
    memory.add(value, replacement)
  }
}

/** Values that are remembered at most, and room for them. When either is used up, all are forgotten. */
const MOST = 65_536
const ROOM = 8 * 1024 * 1024
/** A power of two. Half of the places stay free, so that a search ends soon. */
const PLACES = 2 * MOST

class Memory {
  /** Where an entry begins; 0 in a place that is free. */
  readonly #places = new Uint32Array(PLACES)
  /** Entries, one behind the other: length of a value, length of its replacement, and both. */
  readonly #entries = Buffer.allocUnsafeSlow(ROOM)
  readonly #view = viewOf(this.#entries)
  #used = 1
  #count = 0

  /** Appends what replaces a value; false if that is not known. */
  copyReplacement(from: DataView, start: number, end: number, sink: ByteSink): boolean {
    const at = this.#places[this.#find(from, start, end)] as number
    if (at === 0) return false
    const replacement = at + 2 + this.#view.getUint8(at)
    copy(this.#view, replacement, replacement + this.#view.getUint8(at + 1), sink)
    return true
  }

  /** Remembers a value that is not known yet. */
  add(value: Buffer, replacement: Buffer): void {
    const size = 2 + value.length + replacement.length
    if (this.#count === MOST || this.#used + size > ROOM) {
      this.#places.fill(0)
      this.#used = 1
      this.#count = 0
    }
    this.#places[this.#find(viewOf(value), 0, value.length)] = this.#used
    this.#entries.set([value.length, replacement.length], this.#used)
    this.#entries.set(value, this.#used + 2)
    this.#entries.set(replacement, this.#used + 2 + value.length)
    this.#used += size
    this.#count++
  }

  /** The place of a value, or the one that it would have. */
  #find(from: DataView, start: number, end: number): number {
    const length = end - start
    let place = hash(from, start, end)
    while (true) {
      place &= PLACES - 1
      const at = this.#places[place] as number
      if (at === 0) return place
      if (this.#view.getUint8(at) === length && isEqual(this.#view, at + 2, from, start, length))
        return place
      place++
    }
  }
}

/** Four bytes at a time are multiplied and folded. */
function hash(from: DataView, start: number, end: number): number {
  let code = end - start
  let at = start
  for (; at + 4 <= end; at += 4) code = folded(code ^ from.getInt32(at, true))
  for (; at < end; at++) code = folded(code ^ from.getUint8(at))
  return code
}

function folded(hash: number): number {
  const product = Math.imul(hash, 0x9e3779b1)
  return product ^ (product >>> 15)
}
