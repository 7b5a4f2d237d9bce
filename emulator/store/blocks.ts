import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** How much is kept as it is. */
export const openBytes = 256 * 1024 * 1024

const COMMA = 0x2c
const LINE_END = 0x0a

/** The texts of a block with commas after them, and where each begins. */
export interface OpenBlock {
  readonly bytes: Buffer
  readonly starts: Uint32Array
}

/** Texts that are compressed together. */
export interface Block {
  readonly count: number
  readonly size: number
  /** What cannot be lost: one of both is there. */
  open: OpenBlock | undefined
  packed: Buffer | undefined
}

/**
 * Keeps the blocks of all collections: those that were used last as they are, the others compressed to
 * a tenth.
 */
export class Blocks {
  /** The least recently used one first. */
  readonly #open = new Set<Block>()
  #size = 0
  readonly #largest: number

  constructor(largest = openBytes) {
    this.#largest = largest
  }

  /** Makes a block of JSON texts, which have no line ends. */
  add(texts: readonly string[]): Block {
    const bytes = Buffer.from(`${texts.join('\n')}\n`)
    const count = texts.length
    const block = { count, size: bytes.length, open: opened(bytes, count), packed: undefined }
    this.#keep(block)
    return block
  }

  read(block: Block): OpenBlock {
    if (block.open) {
      this.#open.delete(block)
      this.#open.add(block)
      return block.open
    }
    const open = unpacked(block)
    block.open = open
    this.#keep(block)
    return open
  }

  #keep(block: Block): void {
    this.#open.add(block)
    this.#size += block.size
    for (const oldest of this.#open) {
      if (this.#size <= this.#largest) return
      if (oldest.open) oldest.packed ??= packed(oldest.open)
      oldest.open = undefined
      this.#open.delete(oldest)
      this.#size -= oldest.size
    }
  }
}

/** Replaces the line end after each text by a comma. */
function opened(bytes: Buffer, count: number): OpenBlock {
  const starts = new Uint32Array(count + 1)
  for (let text = 1; text <= count; text += 1) {
    const end = bytes.indexOf(LINE_END, starts[text - 1])
    bytes[end] = COMMA
    starts[text] = end + 1
  }
  return { bytes, starts }
}

function packed({ bytes, starts }: OpenBlock): Buffer {
  const lines = Buffer.from(bytes)
  for (const start of starts.subarray(1)) lines[start - 1] = LINE_END
  // A copy, because the result is the beginning of a larger buffer.
  return Buffer.from(deflateRawSync(lines, { level: constants.Z_BEST_SPEED }))
}

function unpacked({ packed, size, count }: Block): OpenBlock {
  // One byte more than needed, because a full buffer is followed by another one.
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, size + 1)
  return opened(inflateRawSync(packed as Buffer, { chunkSize }), count)
}
