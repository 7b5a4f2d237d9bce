import type { Block, Blocks, OpenBlock } from './blocks.ts'

const TEXTS_PER_BLOCK = 256

/** JSON texts in the order in which they were added. */
export class Texts {
  readonly #keeper: Blocks
  readonly #blocks: Block[] = []
  /** Those that are no block yet. */
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

/** Where a text ends: before the comma that the next one follows. */
function endOf(starts: Uint32Array, within: number): number {
  return (starts[within + 1] as number) - 1
}
