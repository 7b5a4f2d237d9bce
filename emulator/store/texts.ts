import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** So many texts are compressed together. */
const BLOCK = 512
const COMMA = 0x2c
const LINE_END = 0x0a

/** A block as it is read: its texts with commas between, and where each begins. */
interface Block {
  readonly bytes: Buffer
  readonly starts: Uint32Array
}

/** Reads the compressed blocks of all collections, and keeps those that were read last. */
export class BlockReader {
  readonly #kept = new Map<Buffer, Block>()

  read(packed: Buffer): Block {
    const block = this.#kept.get(packed) ?? unpacked(packed)
    this.#kept.delete(packed)
    this.#kept.set(packed, block)
    const [oldest] = this.#kept.keys()
    if (oldest && this.#kept.size > 64) this.#kept.delete(oldest)
    return block
  }
}

/**
 * JSON texts without line ends, in the order in which they were added. All but the last few are held
 * compressed, in a tenth of their size.
 */
export class Texts {
  readonly #reader: BlockReader
  readonly #blocks: Buffer[] = []
  #last: string[] = []

  constructor(reader: BlockReader) {
    this.#reader = reader
  }

  push(text: string): void {
    if (this.#last.length === BLOCK) {
      this.#blocks.push(packed(this.#last))
      this.#last = []
    }
    this.#last.push(text)
  }

  at(index: number): string {
    const block = this.#block(index)
    if (!block) return this.#last[index % BLOCK] as string
    const { bytes, starts } = block
    const within = index % BLOCK
    return bytes.toString('utf8', starts[within], (starts[within + 1] ?? 0) - 1)
  }

  /** The bytes of the texts at these indexes, with commas between. */
  join(indexes: readonly number[]): Buffer {
    const parts: Buffer[] = []
    for (let at = 0; at < indexes.length; ) {
      if (at > 0) parts.push(comma)
      const first = indexes[at] as number
      let count = 1
      while (indexes[at + count] === first + count && (first + count) % BLOCK !== 0) count += 1
      parts.push(this.#run(first, count))
      at += count
    }
    return Buffer.concat(parts)
  }

  /** Texts that follow each other in one block. */
  #run(first: number, count: number): Buffer {
    const within = first % BLOCK
    const block = this.#block(first)
    if (!block) return Buffer.from(this.#last.slice(within, within + count).join(','))
    const { bytes, starts } = block
    return bytes.subarray(starts[within], (starts[within + count] ?? 0) - 1)
  }

  #block(index: number): Block | undefined {
    const packed = this.#blocks[Math.floor(index / BLOCK)]
    return packed && this.#reader.read(packed)
  }
}

const comma = Buffer.from(',')

function packed(texts: readonly string[]): Buffer {
  const bytes = Buffer.from(`${texts.join('\n')}\n`)
  // A copy, because the result is the beginning of a larger buffer.
  return Buffer.from(deflateRawSync(bytes, { level: constants.Z_BEST_SPEED }))
}

function unpacked(packed: Buffer): Block {
  const bytes = inflateRawSync(packed, { chunkSize: 256 * 1024 })
  const starts = new Uint32Array(BLOCK + 1)
  for (let text = 1; text <= BLOCK; text += 1) {
    const end = bytes.indexOf(LINE_END, starts[text - 1])
    bytes[end] = COMMA
    starts[text] = end + 1
  }
  return { bytes, starts }
}
