import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { RoaringBitmap32 } from 'roaring-wasm'
import type { RecordBatch } from '../records/record-batch.ts'

/**
 * Encodes increasing 32-bit integers as the gaps between them, seven bits per byte, the lowest first. For scattered
 * ids this takes half the space of a bitmap.
 */
function encodeGaps(ids: Uint32Array): Buffer {
  const bytes = Buffer.allocUnsafe(ids.length * 5)
  let at = 0
  let previous = 0
  for (const id of ids) {
    let gap = id - previous
    previous = id
    for (; gap > 127; gap = Math.floor(gap / 128)) bytes[at++] = (gap & 127) | 128
    bytes[at++] = gap
  }
  return bytes.subarray(0, at)
}

/** Adds the integers of `encodeGaps` to a bitmap; throws a RangeError if the last one is cut off. */
function decodeGaps(bytes: Uint8Array, bitmap: RoaringBitmap32): RoaringBitmap32 {
  const ids = new Uint32Array(Math.min(bytes.length, DECODED_AT_ONCE))
  let count = 0
  let id = 0
  let gap = 0
  let factor = 1
  for (const byte of bytes) {
    gap += (byte & 127) * factor
    factor *= 128
    if (byte > 127) continue
    id += gap
    ids[count++] = id
    if (count === ids.length) {
      bitmap.addMany(ids)
      count = 0
    }
    gap = 0
    factor = 1
  }
  if (factor !== 1) throw new RangeError('the set of ids is cut off')
  bitmap.addMany(ids.subarray(0, count))
  return bitmap
}

/** The key of a record: an integer id, or the JSON text of anything else (`"a-b"`, `["people","x"]`), with no needless escape. */
export type Key = number | string

/** The key of a record of a batch. Texts that differ only in their escapes are one key; numbers have one form. */
export function keyAt(batch: Pick<RecordBatch, 'keys' | 'keyText'>, index: number): Key {
  const key = batch.keys[index] as number
  if (!Number.isNaN(key)) return key
  const text = batch.keyText(index)
  return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text
}

/** The keys of all records of a batch. */
export function keysOf(batch: RecordBatch): Key[] {
  return Array.from({ length: batch.count }, (_, i) => keyAt(batch, i))
}

const WORD = 2 ** 32
/** A bitmap with more bytes per id than this is sparse: gaps take about two. */
const SPARSE_BYTES = 2.5
const HEAD_BYTES = 9
const SMALL_BYTES = 1024
/** The limit for a decoded set, so that a damaged state cannot fill the memory. */
const MAX_DECODED = 16 * 1024 * 1024
const DECODED_AT_ONCE = 65_536

/**
 * A compact set of record keys: integers in compressed bitmaps (one for each 2^32), other keys as text.
 * Bookmarks contain its encoding.
 */
export type IdSet = ReturnType<typeof createIdSet>

/** Creates an empty set, or decodes one; throws if the text is damaged or contains more than `most` ids. */
export function createIdSet(encoded: string | null = null, most = Number.POSITIVE_INFINITY) {
  const bitmaps = new Map<number, RoaringBitmap32>()
  const texts = new Set<string>()
  if (encoded !== null) decode(encoded)
  const set = {
    get size(): number {
      let size = texts.size
      for (const bitmap of bitmaps.values()) size += bitmap.size
      return size
    },
    has(key: Key): boolean {
      if (typeof key === 'string') return texts.has(key)
      return bitmaps.get(high(key))?.has(low(key)) ?? false
    },
    add(key: Key) {
      if (typeof key === 'string') texts.add(key)
      else bitmapOf(high(key)).add(low(key))
    },
    /** Returns whether the set had the key. */
    delete(key: Key): boolean {
      if (typeof key === 'string') return texts.delete(key)
      return bitmaps.get(high(key))?.delete(low(key)) ?? false
    },
    /** Adds the integers among `keys`; NaN, which means a key that is not an integer, is skipped. */
    addIntegers(keys: Float64Array, isRising = rises(keys)) {
      const [first = 0] = keys
      const end = first + keys.length
      // A list of which no record was ever deleted.
      if (isRising && keys.at(-1) === end - 1 && end <= WORD) {
        bitmapOf(0).addRange(first, end)
        return
      }
      const short = shortIntegers(keys)
      if (short !== undefined) bitmapOf(0).addMany(short)
      else for (const key of keys) if (!Number.isNaN(key)) set.add(key)
    },
    deleteIntegers(keys: Float64Array) {
      if (bitmaps.size === 0) return
      const short = shortIntegers(keys)
      if (short !== undefined) bitmaps.get(0)?.removeMany(short)
      else for (const key of keys) if (!Number.isNaN(key)) set.delete(key)
    },
    addAll(other: { keys(): Iterable<Key> }) {
      for (const key of other.keys()) set.add(key)
    },
    *keys(): Generator<Key> {
      for (const [word, bitmap] of bitmaps) for (const rest of bitmap) yield word * WORD + rest
      yield* texts
    },
    /** The same keys in chunks: 32-bit integers as a Uint32Array, all others as an array. */
    *chunks(): Generator<Uint32Array | readonly Key[]> {
      for (const [word, bitmap] of bitmaps)
        yield word === 0 ? bitmap.toUint32Array() : [...bitmap].map((rest) => word * WORD + rest)
      yield [...texts]
    },
    /** Base64 of the compressed set, or null for an empty one. */
    encode,
  }
  return set

  function bitmapOf(word: number): RoaringBitmap32 {
    let bitmap = bitmaps.get(word)
    if (bitmap === undefined) {
      bitmap = new RoaringBitmap32()
      bitmaps.set(word, bitmap)
    }
    return bitmap
  }

  /** A set consists of parts; a header contains the form, the high word and the length of each. */
  function encode(): string | null {
    const parts: Uint8Array[] = []
    for (const [word, bitmap] of bitmaps) {
      if (bitmap.isEmpty) continue
      bitmap.runOptimize()
      const isSparse = bitmap.getSerializationSizeInBytes('portable') > bitmap.size * SPARSE_BYTES
      if (isSparse) parts.push(...part('g', word, encodeGaps(bitmap.toUint32Array())))
      else parts.push(...part('b', word, bitmap.serialize('portable')))
    }
    if (texts.size > 0) parts.push(...part('t', 0, Buffer.from(JSON.stringify([...texts].sort()))))
    if (parts.length === 0) return null
    return packed(Buffer.concat(parts))
  }

  function decode(text: string): void {
    const bytes = unpacked(text)
    let count = 0
    for (let at = 0; at < bytes.length; ) {
      const form = bytes.toString('latin1', at, at + 1)
      const word = bytes.readUInt32LE(at + 1)
      const end = at + HEAD_BYTES + bytes.readUInt32LE(at + 5)
      const body = bytes.subarray(at + HEAD_BYTES, end)
      if (end > bytes.length) throw new RangeError('the set of ids is cut off')
      if (form === 'b') bitmaps.set(word, RoaringBitmap32.deserialize(body, 'portable'))
      else if (form === 'g') bitmaps.set(word, decodeGaps(body, new RoaringBitmap32()))
      else for (const key of JSON.parse(body.toString()) as string[]) texts.add(key)
      count += form === 't' ? 0 : (bitmaps.get(word)?.size ?? 0)
      if (count + texts.size > most) throw new RangeError('the set contains more ids than it may')
      at = end
    }
  }
}

/** Base64. Small sets are not compressed, because that would take longer than it saves. */
function packed(bytes: Buffer): string {
  if (bytes.length < SMALL_BYTES) return `r${bytes.toString('base64')}`
  return `z${deflateRawSync(bytes, { level: 4 }).toString('base64')}`
}

function unpacked(text: string): Buffer {
  const bytes = Buffer.from(text.slice(1), 'base64')
  return text.startsWith('r') ? bytes : inflateRawSync(bytes, { maxOutputLength: MAX_DECODED })
}

/** A part with its header; `form` is b for a bitmap, g for gaps, t for texts. */
function part(form: 'b' | 'g' | 't', word: number, bytes: Uint8Array): [Buffer, Uint8Array] {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head[0] = form.charCodeAt(0)
  head.writeUInt32LE(word, 1)
  head.writeUInt32LE(bytes.length, 5)
  return [head, bytes]
}

function high(key: number): number {
  return Math.floor(key / WORD)
}

function low(key: number): number {
  return key % WORD
}

// The next functions look at each record, and `for (const key of keys)` would take three times as long.

/** Whether the keys of a batch are integers above `bound`, each higher than the one before. */
export function isRising(
  { keys, isRising }: Pick<RecordBatch, 'keys' | 'isRising'>,
  bound = -1,
): boolean {
  const [first] = keys
  return first === undefined || (first > bound && (isRising ?? rises(keys)))
}

function rises(keys: Float64Array): boolean {
  let last = -1
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number
    // A key that is not an integer is NaN, which no comparison accepts.
    if (!(key > last)) return false
    last = key
  }
  return true
}

/** The keys as 32-bit integers if all of them are, which is the common and fast case; otherwise undefined. */
function shortIntegers(keys: Float64Array): Uint32Array | undefined {
  const short = new Uint32Array(keys.length)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number
    if (!(key < WORD)) return undefined
    short[i] = key
  }
  return short
}
