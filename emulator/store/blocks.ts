import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** So many bytes are held as they are; what comes later is compressed to a tenth. */
export const openBytes = 1024 ** 3
/** So many compressed blocks are kept for the next page after they were read. */
const RECENT_BLOCKS = 64
const COMMA = 0x2c
const LINE_END = 0x0a

/** Texts with a comma after each, and where each begins. */
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
  /** The least recently read one first. */
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
    // A copy, because the result is the beginning of a larger buffer.
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
  // One byte more than needed, because a full buffer is followed by another one.
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
