/** A checkpoint may be this part of the records since the one before it. */
const RECORD_BYTES_PER_STATE_BYTE = 60
/** After this long a checkpoint is worth any size. */
const PATIENCE_MS = 60_000
/** Checkpoints that are wanted but not due may take this much, */
const FREE_BYTES = 768 * 1024
/** and of a long run this part of its records. */
const PART_OF_RECORDS = 0.02

/** Decides how often checkpoints are written: each page while they are small, less often as they grow. */
export interface Cadence {
  /** Records of so many bytes have been written. */
  wrote(bytes: number): void
  /** A checkpoint of so many bytes, its whole line counted, has been written. */
  stated(bytes: number): void
  /** Whether the records since the last checkpoint are worth another one of its size. */
  isDue(): boolean
  /** Whether one that is not due may be written all the same, because all of them stay small. */
  isAffordable(): boolean
}

/** `now` gives milliseconds of a monotonic clock. */
export function createCadence(now: () => number = () => performance.now()): Cadence {
  let records = 0
  let states = 0
  let since = 0
  let last = 0
  let at = now()
  return {
    wrote(bytes) {
      records += bytes
      since += bytes
    },
    stated(bytes) {
      states += bytes
      since = 0
      last = bytes
      at = now()
    },
    isDue: () => since >= last * RECORD_BYTES_PER_STATE_BYTE || now() - at >= PATIENCE_MS,
    isAffordable: () => states + last <= FREE_BYTES + records * PART_OF_RECORDS,
  }
}
