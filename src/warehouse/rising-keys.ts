import { type Batch, UPSERT } from '../protocol/record-batch.ts'

/**
 * Whether the keys of a stream rise from record to record. As long as they do, and the table was empty, no
 * row takes the place of another.
 */
export interface RisingKeys {
  /** Looks at the next records, which are all that come; without a batch: at anything else. */
  observe(batch?: Batch): void
  /** The highest key before the last call; undefined once a key did not rise. */
  take(): number | undefined
}

export function createRisingKeys(isEmpty: boolean): RisingKeys {
  let rises = isEmpty
  let highest = -1
  let taken = -1
  return {
    observe(batch) {
      if (batch === undefined) rises = false
      for (let i = 0; rises && i < (batch?.count ?? 0); i++) {
        const key = batch?.keys[i] as number
        // Not a number where the key is no integer.
        rises = batch?.ops[i] === UPSERT && key > highest
        highest = key
      }
    },
    take() {
      const before = taken
      taken = highest
      return rises ? before : undefined
    },
  }
}
