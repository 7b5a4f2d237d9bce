import { createHash } from 'node:crypto'
import type { Key } from './id-set.ts'

/** Between the parts of a text that is summed. */
const SEPARATOR = '\u001f'
/** Squares of remainders by this prime tell apart sets of ids that have one sum. */
const PRIME = 1_000_003
/** So many squares of remainders add up to less than 2^53. */
const MOST_EXACT = 4096

/**
 * Two sums that do not depend on the order of what is summed, as a text `a:b`. SQL computes the same: see the vectors
 * in checksum-vectors.json.
 */
export interface Sum {
  add(value: Key): void
  readonly text: string
}

/** Of integers: `sum(id)` and `sum((id % 1000003) * (id % 1000003))`. */
export function createIntegerSum(): Sum {
  let [ids, squares] = [0n, 0n]
  let [someIds, someSquares, count] = [0, 0, 0]
  const settle = () => {
    ids += BigInt(someIds)
    squares += BigInt(someSquares)
    someIds = someSquares = count = 0
  }
  return {
    add(value) {
      const id = Number(value)
      const rest = id % PRIME
      if (someIds + id > Number.MAX_SAFE_INTEGER || ++count > MOST_EXACT) settle()
      someIds += id
      someSquares += rest * rest
    },
    get text() {
      settle()
      return `${ids}:${squares}`
    },
  }
}

/** Of texts: the sums of the first and of the second 32 bits of their MD5. */
export function createTextSum(): Sum {
  let [first, second] = [0n, 0n]
  return {
    add(value) {
      const digest = createHash('md5').update(String(value)).digest()
      first += BigInt(digest.readUInt32BE(0))
      second += BigInt(digest.readUInt32BE(4))
    },
    get text() {
      return `${first}:${second}`
    },
  }
}

/** The text of a key: that of several columns has their values in their order. */
export function keyText(key: Key): string {
  if (typeof key === 'number') return String(key)
  const value: unknown = JSON.parse(key)
  return Array.isArray(value) ? value.map(String).join(SEPARATOR) : String(value)
}
