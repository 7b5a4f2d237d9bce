import { append, type ByteSink, copy, isEqual, viewOf } from './buffers.ts'

/** Appends what replaces the value that stands in `from` between two positions. */
export type ValueWriter = (from: DataView, start: number, end: number, sink: ByteSink) => void

/** Longer values are not remembered, nor what is replaced by a longer one. */
const LONGEST = 255

/** Writes what a replacement answers, which is asked for each value. */
export function writerOf(replace: (json: string) => string): ValueWriter {
  return (from, start, end, sink) => {
    append(Buffer.from(replace(valueIn(from, start, end).toString('utf8'))), sink)
  }
}

/**
 * Makes writers whose replacements are asked once per value, because those of a few thousand people come again and
 * again. They share one memory, in which each has entries of its own. A value is looked up by its bytes, so that
 * no text is made of it.
 */
export function createRememberingWriters(): typeof writerOf {
  let memory: Memory | undefined
  let writers = 0
  return (replace) => {
    const writer = ++writers
    return (from, start, end, sink) => {
      const isShort = end - start <= LONGEST
      if (isShort && memory?.copyReplacement(writer, from, start, end, sink)) return
      const value = valueIn(from, start, end)
      const replacement = Buffer.from(replace(value.toString('utf8')))
      append(replacement, sink)
      if (!isShort || replacement.length > LONGEST) return
      memory ??= new Memory()
      memory.add(writer, value, replacement)
    }
  }
}

function valueIn(from: DataView, start: number, end: number): Buffer {
  return Buffer.from(from.buffer, from.byteOffset + start, end - start)
}

/** Values that are remembered at most, and room for them. When either is used up, all are forgotten. */
const MOST = 65_536
const ROOM = 8 * 1024 * 1024
/** A power of two. Half of the places stay free, so that a search ends soon. */
const PLACES = 2 * MOST
/** What stands before the value in an entry: its writer in four bytes, and two lengths. */
const HEAD = 6

class Memory {
  /** Where an entry begins; 0 in a place that is free. */
  readonly #places = new Uint32Array(PLACES)
  /** Entries, one behind the other: the writer, length of a value, length of its replacement, and both. */
  readonly #entries = Buffer.allocUnsafeSlow(ROOM)
  readonly #view = viewOf(this.#entries)
  #used = 1
  #count = 0

  /** Appends what replaces a value; false if that is not known. */
  copyReplacement(
    writer: number,
    from: DataView,
    start: number,
    end: number,
    sink: ByteSink,
  ): boolean {
    const at = this.#places[this.#find(writer, from, start, end)] as number
    if (at === 0) return false
    const replacement = at + HEAD + this.#view.getUint8(at + 4)
    copy(this.#view, replacement, replacement + this.#view.getUint8(at + 5), sink)
    return true
  }

  /** Remembers a value that is not known yet. */
  add(writer: number, value: Buffer, replacement: Buffer): void {
    const size = HEAD + value.length + replacement.length
    if (this.#count === MOST || this.#used + size > ROOM) {
      this.#places.fill(0)
      this.#used = 1
      this.#count = 0
    }
    this.#places[this.#find(writer, viewOf(value), 0, value.length)] = this.#used
    this.#view.setUint32(this.#used, writer)
    this.#entries.set([value.length, replacement.length], this.#used + 4)
    this.#entries.set(value, this.#used + HEAD)
    this.#entries.set(replacement, this.#used + HEAD + value.length)
    this.#used += size
    this.#count++
  }

  /** The place of a value, or the one that it would have. */
  #find(writer: number, from: DataView, start: number, end: number): number {
    const length = end - start
    let place = hash(writer, from, start, end)
    while (true) {
      place &= PLACES - 1
      const at = this.#places[place] as number
      if (at === 0) return place
      const isSame =
        this.#view.getUint32(at) === writer &&
        this.#view.getUint8(at + 4) === length &&
        isEqual(this.#view, at + HEAD, from, start, length)
      if (isSame) return place
      place++
    }
  }
}

/** Four bytes at a time are multiplied and folded. */
function hash(writer: number, from: DataView, start: number, end: number): number {
  let code = folded(writer) ^ (end - start)
  let at = start
  for (; at + 4 <= end; at += 4) code = folded(code ^ from.getInt32(at, true))
  for (; at < end; at++) code = folded(code ^ from.getUint8(at))
  return code
}

function folded(hash: number): number {
  const product = Math.imul(hash, 0x9e3779b1)
  return product ^ (product >>> 15)
}
