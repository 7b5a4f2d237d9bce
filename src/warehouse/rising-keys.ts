import { type Batch, UPSERT } from '../protocol/record-batch.ts'

/**
 * Whether the keys of a stream rise from record to record, in generations that its table did not have when
 * the sync began. As long as they do, no record takes the place of another one of this sync.
 */
export interface RisingKeys {
  /** Looks at the next records, which are all that come; without a batch: at anything else. */
  observe(batch?: Batch, generation?: number): void
  /** The highest key before the last call; undefined once a key did not rise. */
  take(): number | undefined
}

/** `highestGeneration` is that of the table when the sync began. */
export function createRisingKeys(highestGeneration: number): RisingKeys {
  let rises = true
  let highest = -1
  let taken = -1
  return {
    observe(batch, generation = -1) {
      if (batch === undefined || generation <= highestGeneration) rises = false
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
